// The command history: lists Transactions, or those that have changed an object.
import { GROUP, transactions } from "@janus/api";
import { listAll } from "@janus/kube";
import { Option } from "commander";
import { separate } from "fp-ts/lib/ReadonlyArray.js";
import * as E from "fp-ts/lib/Either.js";
import { stringify } from "yaml";
import { KUBERNETES_YAML } from "../manifests/kubernetes-yaml.ts";
import { cannotUse, type Cluster, type ClusterFlags, found, onCluster } from "../cluster/cluster.ts";
import { namedObject } from "../cluster/named-object.ts";
import { understood } from "../cluster/transactions.ts";
import { Failure } from "../failure.ts";
import { printable } from "../output/printable.ts";
import { outputTo } from "../output/style.ts";
import { table } from "../output/table.ts";
import { type Chapter, history, historyOf, unread } from "../story/history.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";

interface HistoryFlags extends ClusterFlags {
  readonly allNamespaces?: true;
  readonly output?: "json" | "yaml" | "name" | "wide";
}

const chapters = async (
  cluster: Cluster,
  target: string | undefined,
  name: string | undefined,
  { allNamespaces }: HistoryFlags,
): Promise<readonly Chapter[]> => {
  const { api, namespace } = cluster;
  const where = allNamespaces === true ? {} : { namespace };
  const place = target === undefined ? undefined : await namedObject(cluster, target, name);
  const listed = await listAll(api, { resource: transactions, ...where });
  if (E.isLeft(listed)) throw new Failure(`cannot list Transactions: ${cannotUse(listed.left)}`);
  const read = listed.right.items.map((object) => E.mapLeft((why: string) => unread(object, why))(understood(object)));
  const { left: unreadable, right: all } = separate(read);
  for (const { namespace: of, name: its, why } of unreadable)
    process.stderr.write(`${printable(`Transaction ${of}/${its} ${why}`)}.\n`);
  const txns = all.map(({ txn }) => txn);
  if (place === undefined) return history(txns, unreadable);
  const what = `cannot read ${place.resource.kind} ${place.name}`;
  return historyOf(place, await found(api, { verb: "get", ...place }, what), txns, unreadable);
};

/** Shown where there is no phase, or state, since a later version of Janus has written it. */
const UNREADABLE = "unreadable";

type Column = readonly [heading: string, cell: (chapter: Chapter) => string | undefined];

/** Columns that fit 80 characters; of an object, the phase follows from the state of the change. */
const columnsOf = (isOfObject: boolean, { output, allNamespaces }: HistoryFlags): readonly Column[] => {
  const isWide = output === "wide";
  const phase: Column = ["PHASE", ({ phase, unreadable }) => (unreadable === undefined ? phase : UNREADABLE)];
  const requestedBy: Column = ["REQUESTED-BY", ({ requestedBy }) => requestedBy];
  const approvedBy: Column = ["APPROVED-BY", ({ approvedBy }) => approvedBy];
  const uid: Column = ["UID", ({ uid }) => uid];
  const change: Column = ["CHANGE", ({ change }) => change];
  const state: Column = ["STATE", ({ state, unreadable }) => (unreadable === undefined ? state : UNREADABLE)];
  const where: readonly Column[] = allNamespaces === true ? [["NAMESPACE", ({ namespace }) => namespace]] : [];
  const all: readonly Column[] = [["WHEN", ({ time }) => time], ...where, ["NAME", ({ name }) => name]];
  if (!isOfObject) return [...all, phase, requestedBy, approvedBy, ...(isWide ? [uid] : [])];
  return isWide
    ? [...all, change, state, phase, requestedBy, approvedBy, uid, ["FIELDS", ({ fields }) => fields.join(",")]]
    : [...all, change, state, ["FIELDS", ({ fields }) => String(fields.length)], requestedBy];
};

/** A row for each chapter: of an object, or of all Transactions. */
export const listing = (all: readonly Chapter[], isOfObject: boolean, flags: HistoryFlags, width: number): string => {
  const columns = columnsOf(isOfObject, flags);
  const rows = all.map((chapter) => columns.map(([, cell]) => printable(cell(chapter)) || "-"));
  const headings = columns.map(([heading]) => heading);
  return table(headings, rows, flags.output === "wide" ? Number.POSITIVE_INFINITY : width);
};

const show = (target: string | undefined, name: string | undefined, flags: HistoryFlags): Promise<number> =>
  onCluster(flags, async (cluster) => {
    const all = await chapters(cluster, target, name, flags);
    const { write, width, isTerminal } = outputTo(process.stdout);
    const { output, allNamespaces } = flags;
    if (output === "json") write(`${JSON.stringify(all, undefined, 2)}\n`);
    else if (output === "yaml") write(stringify(all, KUBERNETES_YAML));
    else if (output === "name") write(all.map((one) => `transaction.${GROUP}/${one.name}\n`).join(""));
    else if (all.length > 0)
      write(listing(all, target !== undefined, flags, isTerminal ? width : Number.POSITIVE_INFINITY));
    else {
      const here = allNamespaces === true ? "" : ` in namespace ${cluster.namespace}`;
      const what = target === undefined ? "" : ` that changed ${[target, name].filter(Boolean).join(" ")}`;
      process.stderr.write(`No Transactions found${here}${what}.\n`);
    }
    return 0;
  });

export const historyCommand = command("history")
  .argument("[target]", "only those that changed this object, such as deployment/web")
  .argument("[target-name]", "its name, if it is not part of the target: deployment.apps web")
  .option("-A, --all-namespaces", "Transactions of all namespaces")
  .addOption(new Option("-o, --output <format>", "format").choices(["json", "yaml", "name", "wide"]))
  .addHelpText(
    "after",
    `
Transactions that were executed, or are being executed, the newest last. Of an
object, also those that no longer exist, as long as the object has fields that
they set; FIELDS says how many, and -o wide which, and who approved them.

Examples:
  kubectl janus history -n shop
  kubectl janus history deployment/web -n shop -o wide`,
  )
  .action((target: string | undefined, name: string | undefined, flags: HistoryFlags) =>
    exitWith(show(target, name, flags)),
  );
