// The command get: lists Transactions as kubectl get does.
import { GROUP, LIFECYCLES, PHASES, PLURAL, transactions } from "@janus/api";
import { isTooDeep, TOO_DEEP } from "@janus/controller";
import { type KubeObject, listAll } from "@janus/kube";
import { asObject } from "@janus/types";
import { Option } from "commander";
import * as E from "fp-ts/lib/Either.js";
import { stringify } from "yaml";
import { KUBERNETES_YAML } from "../manifests/kubernetes-yaml.ts";
import { cannotUse, type Cluster, type ClusterFlags, onCluster } from "../cluster/cluster.ts";
import { kubectl } from "../cluster/kubectl.ts";
import { readObject, understood } from "../cluster/transactions.ts";
import { usersOf } from "../cluster/users.ts";
import { Failure } from "../failure.ts";
import { age } from "../output/age.ts";
import { printable } from "../output/printable.ts";
import { outputTo } from "../output/style.ts";
import { withoutManagedFields } from "../output/managed-fields.ts";
import { table } from "../output/table.ts";
import { messageOfTransaction } from "../progress/progress-text.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";

interface GetFlags extends ClusterFlags {
  readonly allNamespaces?: true;
  readonly selector?: string;
  readonly phase?: string;
  readonly lifecycle?: string;
  readonly watch?: true;
  readonly showManagedFields?: true;
  readonly output?: string;
}

/** The formats that are printed here. */
const FORMATS: readonly (string | undefined)[] = ["json", "yaml", "name", "wide", undefined];

const nameOf = ({ metadata }: KubeObject): string => `transaction.${GROUP}/${metadata.name}`;

/** The row of a Transaction in the list. */
interface Row {
  readonly phase: string;
  readonly progress: string;
  readonly lifecycle: string;
  /** ServiceAccount, who has requested and who has approved it, until when it is reversible. */
  readonly wide: readonly [string, string, string, string];
  readonly message: string;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "-");

/** A row of the fields that every version of Janus names alike. */
const unreadRow = (object: KubeObject, message: string): Row => {
  const { lifecycle, serviceAccountName } = asObject(object["spec"]);
  const { phase, progress } = asObject(object["status"]);
  return {
    phase: textOf(phase),
    progress: textOf(progress),
    lifecycle: textOf(lifecycle),
    wide: [textOf(serviceAccountName), "", "", ""],
    message,
  };
};

const rowOf = (object: KubeObject): Row => {
  const read = understood(object);
  if (E.isLeft(read)) return unreadRow(object, read.left);
  const { txn } = read.right;
  const { spec, status } = txn;
  const { progress = `0/${spec.changes.length}`, phase, reversibleUntil = "" } = status;
  const { requestedBy = "", approvedBy = "" } = usersOf(txn);
  return {
    phase,
    progress,
    lifecycle: spec.lifecycle,
    wide: [spec.serviceAccountName, requestedBy, approvedBy, reversibleUntil],
    message: messageOfTransaction(txn),
  };
};

/** Lists them as `kubectl get` does; messages are shortened to the width, except for `wide`. */
const listing = (objects: readonly KubeObject[], { allNamespaces, output }: GetFlags, width: number): string => {
  const rows = objects.map((object) => {
    const { metadata } = object;
    const { phase, progress, lifecycle, wide, message } = printable(rowOf(object));
    const { namespace = "", name = "" } = printable(metadata);
    const start = allNamespaces === true ? [namespace, name] : [name];
    const then = [age(metadata.creationTimestamp, Date.now()), ...(output === "wide" ? wide : []), message];
    return [...start, phase, progress, lifecycle, ...then];
  });
  const start = allNamespaces === true ? ["NAMESPACE", "NAME"] : ["NAME"];
  const wide = output === "wide" ? ["SERVICEACCOUNT", "REQUESTED-BY", "APPROVED-BY", "REVERSIBLE-UNTIL"] : [];
  const headings = [...start, "PHASE", "PROGRESS", "LIFECYCLE", "AGE", ...wide, "MESSAGE"];
  return table(headings, rows, output === "wide" ? Number.POSITIVE_INFINITY : width);
};

const isWanted = ({ phase, lifecycle }: GetFlags, object: KubeObject): boolean => {
  if (phase === undefined && lifecycle === undefined) return true;
  const row = rowOf(object);
  return (phase ?? row.phase) === row.phase && (lifecycle ?? row.lifecycle) === row.lifecycle;
};

/** The newest last, as the shell shows them. */
const byAge = (one: KubeObject, other: KubeObject): number =>
  (one.metadata.creationTimestamp ?? "") < (other.metadata.creationTimestamp ?? "") ? -1 : 1;

/** The object without managedFields, unless they are asked for, and without what is nested too deep for JSON and YAML. */
const writable = (object: KubeObject, { showManagedFields }: GetFlags): KubeObject => {
  if (!isTooDeep(object)) return showManagedFields === true ? object : withoutManagedFields(object);
  const { spec: _, ...others } = withoutManagedFields(object);
  const what = `Transaction ${others.metadata.namespace}/${others.metadata.name}`;
  process.stderr.write(`${what} ${TOO_DEEP}: its spec and managedFields are left out.\n`);
  return others;
};

/** Errors: of those that are missing, once the others are printed. */
const named = async (cluster: Cluster, names: readonly string[]) => {
  const read = await Promise.all(
    names.map((name) =>
      readObject(cluster, name).catch((error: unknown) => {
        if (error instanceof Failure) return error;
        throw error;
      }),
    ),
  );
  const missing = read.filter((one) => one instanceof Failure);
  return {
    objects: read.flatMap((one) => (one instanceof Failure ? [] : [one])),
    missing: missing.length === 0 ? undefined : new Failure(missing.map(({ message }) => message).join("\nerror: ")),
  };
};

const listed = async (cluster: Cluster, { allNamespaces, selector }: GetFlags): Promise<readonly KubeObject[]> => {
  const where = allNamespaces === true ? {} : { namespace: cluster.namespace };
  const what = selector === undefined ? {} : { labelSelector: selector };
  const list = await listAll(cluster.api, { resource: transactions, ...where, ...what });
  if (E.isLeft(list)) throw new Failure(`cannot list Transactions: ${cannotUse(list.left)}`);
  return list.right.items;
};

/** Runs kubectl, which knows more formats, and watches. */
const getByKubectl = (names: readonly string[], flags: GetFlags): number => {
  const { allNamespaces, selector, phase, lifecycle, watch, showManagedFields, output } = flags;
  const fields = [
    ...(phase === undefined ? [] : [`status.phase=${phase}`]),
    ...(lifecycle === undefined ? [] : [`spec.lifecycle=${lifecycle}`]),
  ];
  return kubectl(
    [
      "get",
      `${PLURAL}.${GROUP}`,
      ...names,
      ...(allNamespaces === true ? ["--all-namespaces"] : []),
      ...(selector === undefined ? [] : ["--selector", selector]),
      ...(fields.length === 0 ? [] : ["--field-selector", fields.join(",")]),
      ...(watch === true ? ["--watch"] : ["--sort-by", ".metadata.creationTimestamp"]),
      ...(showManagedFields === true ? ["--show-managed-fields"] : []),
      ...(output === undefined ? [] : ["--output", output]),
    ],
    flags,
  );
};

const get = async (names: readonly string[], flags: GetFlags): Promise<number> => {
  if (names.length > 0 && flags.allNamespaces === true)
    throw new Failure("a Transaction is named within one namespace: leave out --all-namespaces, or the name");
  if (names.length > 0 && flags.selector !== undefined)
    throw new Failure("it is either named or selected: leave out --selector, or the name");
  const { allNamespaces, output, watch } = flags;
  if (watch === true || !FORMATS.includes(output)) return getByKubectl(names, flags);
  const { write, width, isTerminal } = outputTo(process.stdout);
  return onCluster(flags, async (cluster) => {
    const { objects: all, missing } =
      names.length > 0 ? await named(cluster, names) : { objects: await listed(cluster, flags), missing: undefined };
    const objects = all.filter((object) => isWanted(flags, object)).toSorted(byAge);
    const [only] = objects;
    const whole = () =>
      names.length === 1 && only !== undefined
        ? writable(only, flags)
        : { apiVersion: "v1", kind: "List", items: objects.map((object) => writable(object, flags)) };
    if (missing !== undefined && objects.length === 0) throw missing;
    if (output === "json") write(`${JSON.stringify(whole(), undefined, 2)}\n`);
    else if (output === "yaml") write(stringify(whole(), KUBERNETES_YAML));
    else if (output === "name") write(objects.map((object) => `${nameOf(object)}\n`).join(""));
    else if (objects.length > 0) write(listing(objects, flags, isTerminal ? width : Number.POSITIVE_INFINITY));
    else {
      const here = allNamespaces === true ? "" : ` in namespace ${cluster.namespace}`;
      process.stderr.write(`No Transactions found${here}.\n`);
    }
    if (missing !== undefined) throw missing;
    return 0;
  });
};

export const getCommand = command("get")
  .argument("[names...]", "only these")
  .option("-A, --all-namespaces", "of all namespaces")
  .option("-l, --selector <labels>", "label selector")
  .addOption(new Option("--phase <phase>", "only those in this phase").choices(PHASES))
  .addOption(new Option("--lifecycle <lifecycle>", "only those that are this").choices(LIFECYCLES))
  .option("-w, --watch", "go on, and print each that changes")
  .option("--show-managed-fields", "with metadata.managedFields, in json and yaml")
  .option("-o, --output <format>", "json, yaml, name, wide, or one of kubectl get, such as jsonpath=...")
  .addHelpText(
    "after",
    `
With --watch, or in another format than json, yaml, name and wide, kubectl
prints them: it has to be on the PATH. To follow one until it has finished:
kubectl janus watch.

Examples:
  kubectl janus get -n shop --phase Failed
  kubectl janus get v2 v3 -n shop -o yaml
  kubectl janus get v2 -n shop -o jsonpath='{.status.phase}'`,
  )
  .action((names: readonly string[], flags: GetFlags) => exitWith(get(names, flags)));
