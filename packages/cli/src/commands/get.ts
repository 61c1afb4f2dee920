import { GROUP, LIFECYCLES, PHASES } from "@janus/api";
import { isTooDeep, TOO_DEEP, transactions } from "@janus/controller";
import { type KubeObject, listAll } from "@janus/kube";
import { Option } from "commander";
import * as E from "fp-ts/lib/Either.js";
import { stringify } from "yaml";
import { KUBERNETES_YAML } from "../manifests/kubernetes-yaml.ts";
import { cannotUse, type ClusterFlags, onCluster } from "../cluster/cluster.ts";
import { readTransaction, stored } from "../cluster/transactions.ts";
import { usersOf } from "../cluster/users.ts";
import { Failure } from "../failure.ts";
import { age } from "../output/age.ts";
import { printable } from "../output/printable.ts";
import { outputTo } from "../output/style.ts";
import { table } from "../output/table.ts";
import { shortened } from "../output/wrap.ts";
import { messageOfTransaction } from "../progress/progress-text.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";

interface GetFlags extends ClusterFlags {
  readonly allNamespaces?: true;
  readonly selector?: string;
  readonly phase?: string;
  readonly lifecycle?: string;
  readonly output?: "json" | "yaml" | "name" | "wide";
}

const nameOf = ({ metadata }: KubeObject): string => `transaction.${GROUP}/${metadata.name}`;

/** As `kubectl get` prints them; messages are shortened to the width, except for `wide`. */
const listing = (objects: readonly KubeObject[], { allNamespaces, output }: GetFlags, width: number): string => {
  const rows = objects.map((object) => {
    const { txn } = printable(stored(object));
    const { metadata, spec, status } = txn;
    const { progress = `0/${spec.changes.length}` } = status;
    const start = allNamespaces === true ? [metadata.namespace, metadata.name] : [metadata.name];
    const { requestedBy = "", approvedBy = "" } = usersOf(txn);
    const end =
      output === "wide"
        ? [spec.serviceAccountName, spec.lifecycle, requestedBy, approvedBy, status.reversibleUntil ?? ""]
        : [];
    const then = [age(metadata.creationTimestamp, Date.now()), ...end, messageOfTransaction(txn)];
    return [...start, status.phase, progress, ...then];
  });
  const start = allNamespaces === true ? ["NAMESPACE", "NAME"] : ["NAME"];
  const wide =
    output === "wide" ? ["SERVICEACCOUNT", "LIFECYCLE", "REQUESTED-BY", "APPROVED-BY", "REVERSIBLE-UNTIL"] : [];
  const headings = [...start, "PHASE", "PROGRESS", "AGE", ...wide, "MESSAGE"];
  const text = table(headings, rows);
  if (output === "wide") return text;
  return text
    .split("\n")
    .map((line) => shortened(line, width))
    .join("\n");
};

const isWanted = ({ phase, lifecycle }: GetFlags, object: KubeObject): boolean => {
  if (phase === undefined && lifecycle === undefined) return true;
  const { spec, status } = stored(object).txn;
  return (phase ?? status.phase) === status.phase && (lifecycle ?? spec.lifecycle) === spec.lifecycle;
};

/** The newest last, as the shell shows them. */
const byAge = (one: KubeObject, other: KubeObject): number =>
  (one.metadata.creationTimestamp ?? "") < (other.metadata.creationTimestamp ?? "") ? -1 : 1;

/** Without what is nested too deep for JSON and YAML to be made of it. */
const writable = (object: KubeObject): KubeObject => {
  if (!isTooDeep(object)) return object;
  const { spec: _, metadata, ...rest } = object;
  const { managedFields: __, ...named } = metadata;
  const what = `Transaction ${metadata.namespace}/${metadata.name}`;
  process.stderr.write(`${what} ${TOO_DEEP}: its spec and managedFields are left out.\n`);
  return { ...rest, metadata: named };
};

const get = async (name: string | undefined, flags: GetFlags): Promise<number> => {
  if (name !== undefined && flags.allNamespaces === true)
    throw new Failure("a Transaction is named within one namespace: leave out --all-namespaces, or the name");
  const { write, width, isTerminal } = outputTo(process.stdout);
  const { allNamespaces, selector, output } = flags;
  return onCluster(flags, async (cluster) => {
    const one = name === undefined ? undefined : await readTransaction(cluster, name);
    const where = allNamespaces === true ? {} : { namespace: cluster.namespace };
    const what = selector === undefined ? {} : { labelSelector: selector };
    const listed =
      one === undefined ? await listAll(cluster.api, { resource: transactions, ...where, ...what }) : undefined;
    if (listed !== undefined && E.isLeft(listed))
      throw new Failure(`cannot list Transactions: ${cannotUse(listed.left)}`);
    const all = one === undefined ? (listed?.right.items ?? []) : [one.object];
    const objects = all.filter((object) => isWanted(flags, object)).toSorted(byAge);
    const [only] = objects;
    const whole = () =>
      one !== undefined && only !== undefined
        ? writable(only)
        : { apiVersion: "v1", kind: "List", items: objects.map(writable) };
    if (output === "json") write(`${JSON.stringify(whole(), undefined, 2)}\n`);
    else if (output === "yaml") write(stringify(whole(), KUBERNETES_YAML));
    else if (output === "name") write(objects.map((object) => `${nameOf(object)}\n`).join(""));
    else if (objects.length > 0) write(listing(objects, flags, isTerminal ? width : Number.POSITIVE_INFINITY));
    else {
      const here = allNamespaces === true ? "" : ` in namespace ${cluster.namespace}`;
      process.stderr.write(`No Transactions found${here}.\n`);
    }
    return 0;
  });
};

export const getCommand = command("get")
  .argument("[name]", "only this one")
  .option("-A, --all-namespaces", "of all namespaces")
  .option("-l, --selector <labels>", "label selector")
  .addOption(new Option("--phase <phase>", "only those in this phase").choices(PHASES))
  .addOption(new Option("--lifecycle <lifecycle>", "only those that are this").choices(LIFECYCLES))
  .addOption(new Option("-o, --output <format>", "format").choices(["json", "yaml", "name", "wide"]))
  .action((name: string | undefined, flags: GetFlags) => exitWith(get(name, flags)));
