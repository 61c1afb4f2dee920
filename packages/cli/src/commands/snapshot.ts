// The commands snapshot show, diff and restore, about the targets as they were before a Transaction.
import { API_VERSION, KIND, type Transaction } from "@janus/api";
import { parse } from "@janus/authoring";
import { isFromSecret } from "@janus/controller";
import type { KubeObject } from "@janus/kube";
import { Command } from "commander";
import * as E from "fp-ts/lib/Either.js";
import { stringify } from "yaml";
import { KUBERNETES_YAML } from "../manifests/kubernetes-yaml.ts";
import { type Cluster, type ClusterFlags, found, onCluster } from "../cluster/cluster.ts";
import { namedKind } from "../cluster/named-object.ts";
import { findTransaction } from "../cluster/transactions.ts";
import { Failure } from "../failure.ts";
import { withoutManagedFields } from "../output/managed-fields.ts";
import { outputTo, painter } from "../output/style.ts";
import { maskedPair } from "../plan/masked.ts";
import { colouredDiff, objectDiff } from "../plan/object-diff.ts";
import { nameOfTarget } from "../progress/change-state.ts";
import { type Compared, restoring } from "../story/restoring.ts";
import { readOrphans } from "../story/orphans.ts";
import { type Former, readSnapshots } from "../story/snapshots.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";
import { type RunFlags, runTransaction } from "./run-transaction.ts";

/** Finds the changes that `deployment/web` or `deploy/web` means, as kubectl names objects, or a number, from 1. */
const meaning = async (
  cluster: Cluster,
  { spec }: Transaction,
  wanted: string,
): Promise<(index: number) => boolean> => {
  const [kind = "", name = ""] = wanted.split("/");
  const isNamed = (index: number, kind: string): boolean => {
    const target = spec.changes[index]?.target;
    return target?.name === name && target.kind.toLowerCase() === kind.toLowerCase();
  };
  const isMeant = (index: number): boolean => wanted === String(index + 1) || isNamed(index, kind);
  if (name === "" || spec.changes.some((_, index) => isMeant(index))) return isMeant;
  const served = await namedKind(cluster, kind);
  return (index) => served !== undefined && isNamed(index, served.kind);
};

/** The snapshots of a Transaction, of one target or of all. Errors: if there are none, or no such target. */
const formers = async (cluster: Cluster, txn: Transaction, wanted: string | undefined): Promise<readonly Former[]> => {
  const all = await readSnapshots(cluster, txn);
  const isMeant = wanted === undefined ? () => true : await meaning(cluster, txn, wanted);
  const meant = all.filter(({ index }) => isMeant(index));
  const { name, namespace } = txn.metadata;
  if (all.length === 0)
    throw new Failure(`Transaction ${namespace}/${name} took no snapshots: it is ${txn.status.phase}`);
  if (meant.length === 0)
    throw new Failure(
      `Transaction ${namespace}/${name} has no target ${wanted}: name it like deployment/web, or by its number. It has:` +
        all.map(({ index }) => `\n  ${index + 1}  ${nameOfTarget(txn, index)}`).join(""),
    );
  const lost = meant.find((one) => one.type === "lost");
  if (lost !== undefined && meant.every(({ type }) => type === "lost"))
    throw new Failure(`the snapshot of ${nameOfTarget(txn, lost.index)} is not available: ${lost.why}`);
  return meant;
};

const live = async (cluster: Cluster, txn: Transaction, former: Former): Promise<Compared> => {
  const name = nameOfTarget(txn, former.index);
  const target = txn.spec.changes[former.index]?.target ?? { apiVersion: "", kind: "", name: "" };
  const resource = await cluster.discovery.resource(target.apiVersion, target.kind);
  if (E.isLeft(resource)) throw new Failure(`${name}: ${resource.left.message}`);
  const namespace = resource.right.namespaced ? { namespace: target.namespace ?? txn.metadata.namespace } : {};
  const place = { resource: resource.right, ...namespace, name: target.name };
  return {
    former,
    name,
    resource: resource.right,
    live: await found(cluster.api, { verb: "get", ...place }, `cannot read ${name}`),
  };
};

interface ShowFlags extends ClusterFlags {
  readonly showSecrets?: true;
}

type Work<Flags> = (cluster: Cluster, txn: Transaction, wanted: string | undefined, flags: Flags) => Promise<number>;

/** A comment, and the object as a manifest that can be applied, with the values of a Secret if these are asked for. */
const manifest = (name: string, object: KubeObject, { showSecrets }: ShowFlags): string => {
  const [masked = object] = maskedPair(object, undefined);
  const printed = withoutManagedFields(showSecrets === true ? object : masked);
  // With these, the API server would accept it only as a write to the very version that there was.
  const { uid: _, resourceVersion: __, ...metadata } = printed.metadata;
  const shown = { ...printed, metadata };
  return `# ${name}\n${stringify(shown, { ...KUBERNETES_YAML, aliasDuplicateObjects: false })}---\n`;
};

const show: Work<ShowFlags> = async (cluster, txn, wanted, flags) => {
  const { write } = outputTo(process.stdout);
  for (const former of await formers(cluster, txn, wanted)) {
    const name = nameOfTarget(txn, former.index);
    if (former.type === "none") write(`# ${name} did not exist\n---\n`);
    else if (former.type === "lost") write(`# ${name}: ${former.why}\n---\n`);
    else write(manifest(name, former.object, flags));
  }
  return 0;
};

/** Shows what is kept of a Transaction that is gone: {@link readOrphans}. Errors: if nothing is. */
const showOrphans = async (cluster: Cluster, name: string, wanted: string | undefined, flags: ShowFlags) => {
  const { namespace } = cluster;
  const all = await readOrphans(cluster, name);
  if (all.length === 0)
    throw new Failure(`Transaction ${namespace}/${name} does not exist, and no snapshots of one of its name are kept`);
  const named = all.map((object) => ({ object, name: nameOf(object) }));
  const [kind = "", target] = wanted?.split("/") ?? [];
  const served = wanted === undefined ? undefined : ((await namedKind(cluster, kind))?.kind ?? kind);
  const meant = named.filter(
    ({ object }) =>
      object.kind === (served ?? object.kind) && (target ?? object.metadata.name) === object.metadata.name,
  );
  if (meant.length === 0)
    throw new Failure(
      `no snapshot of ${wanted} is kept of Transaction ${namespace}/${name}, which does not exist. There is:` +
        named.map(({ name }) => `\n  ${name}`).join(""),
    );
  process.stderr.write(
    `Transaction ${namespace}/${name} does not exist. This is what its snapshots have; what it created is not in them.\n`,
  );
  for (const { object, name } of meant) outputTo(process.stdout).write(manifest(name, object, flags));
  return 0;
};

/** `Deployment shop/web` */
const nameOf = ({ kind, metadata: { namespace, name } }: KubeObject): string =>
  `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;

const diff: Work<ClusterFlags> = async (cluster, txn, wanted) => {
  const output = outputTo(process.stdout);
  const compared = await Promise.all((await formers(cluster, txn, wanted)).map((former) => live(cluster, txn, former)));
  const diffs = compared.flatMap(({ former, name, live, resource }) => {
    if (former.type === "lost") return [`# ${name}: ${former.why}\n`];
    const before = former.type === "none" ? undefined : former.object;
    const text = objectDiff(name, before, live, resource, isFromSecret(txn.spec.changes[former.index]));
    return text === "" ? [] : [text.replace("--- live ", "--- before ").replace("+++ after ", "+++ now ")];
  });
  for (const text of diffs) output.write(colouredDiff(text, painter(output)));
  return diffs.length === 0 ? 0 : 1;
};

interface RestoreFlags extends ClusterFlags, RunFlags {
  readonly name?: string;
  readonly serviceAccount?: string;
}

const restore: Work<RestoreFlags> = async (cluster, txn, wanted, flags) => {
  const compared = await Promise.all((await formers(cluster, txn, wanted)).map((former) => live(cluster, txn, former)));
  const lost = compared.flatMap(({ former, name }) => (former.type === "lost" ? [`\n  ${name}: ${former.why}`] : []));
  if (lost.length > 0)
    throw new Failure(
      `nothing was restored, since the snapshots are not complete (name a target to restore it alone):${lost.join("")}`,
    );
  const { changes, left } = restoring(txn, compared);
  for (const what of left) process.stderr.write(`Not restored: ${what}.\n`);
  if (changes.length === 0) {
    process.stderr.write(
      left.length === 0
        ? "Everything is as it was before: there is nothing to restore.\n"
        : "There is nothing else to restore.\n",
    );
    return left.length === 0 ? 0 : 1;
  }
  const { name = `restore-${Date.now().toString(36)}`, serviceAccount = txn.spec.serviceAccountName } = flags;
  const parsed = parse({
    apiVersion: API_VERSION,
    kind: KIND,
    metadata: { name, namespace: cluster.namespace },
    spec: { serviceAccountName: serviceAccount, changes },
  });
  if (!parsed.ok) throw new Failure(parsed.errors.map(({ path, message }) => `${path}: ${message}`).join("\n"));
  return (await runTransaction(cluster, { manifest: parsed.value }, flags)) || (left.length === 0 ? 0 : 1);
};

/** Runs instead where there is no Transaction of this name. */
type WithoutIt<Flags> = (cluster: Cluster, name: string, wanted: string | undefined, flags: Flags) => Promise<number>;

/** Refuses one that is gone: it is not known which objects it created, nor as whom. */
const refuseOrphans: WithoutIt<ClusterFlags> = async (cluster, name) => {
  const { namespace } = cluster;
  const isKept = (await readOrphans(cluster, name)).length > 0;
  throw new Failure(
    `Transaction ${namespace}/${name} does not exist` +
      (isKept ? `. Its snapshots are kept: kubectl janus snapshot show ${name} -n ${namespace}` : ""),
  );
};

const working =
  <Flags extends ClusterFlags>(work: Work<Flags>, withoutIt: WithoutIt<Flags>, failure?: number) =>
  (name: string, wanted: string | undefined, flags: Flags): Promise<void> => {
    const done = onCluster(flags, async (cluster) => {
      const found = await findTransaction(cluster, name);
      return found === undefined ? withoutIt(cluster, name, wanted, flags) : work(cluster, found.txn, wanted, flags);
    });
    return exitWith(done, failure);
  };

const subcommand = (name: string, summary: string): Command =>
  command(name)
    .description(summary)
    .argument("<name>", "name of the Transaction")
    .argument("[target]", "only this target, such as deployment/web, or the number of its change");

export const snapshotCommand = new Command("snapshot")
  .helpCommand(false)
  .addCommand(
    subcommand("show", "print what was there before, as manifests")
      .option("--show-secrets", "with the values of Secrets")
      .addHelpText("after", "\nAlso of one that was deleted while it was active, whose snapshots are kept.")
      .action(working(show, showOrphans)),
  )
  .addCommand(
    subcommand("diff", "compare the former state with the live objects")
      .addHelpText("after", "\nExit codes: 0 nothing differs, 1 something differs, 3 error.")
      .action(working(diff, refuseOrphans, 3)),
  )
  .addCommand(
    subcommand("restore", "restore the former state, in a new Transaction")
      .option("--name <name>", "name of the new Transaction; default: restore- and a suffix")
      .option("--service-account <name>", "ServiceAccount of the new Transaction; default: that of the old one")
      .option("--no-wait", "do not wait until it has finished")
      .action(working(restore, refuseOrphans)),
  );
