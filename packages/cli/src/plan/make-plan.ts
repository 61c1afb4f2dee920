// Previews a composed Transaction, and orders its changes so that it can be executed.
import type { ChangeManifest, TransactionManifest } from "@janus/authoring";
import type { Cluster } from "../cluster/cluster.ts";
import { creationProblems } from "../cluster/creation-problems.ts";
import { Failure } from "../failure.ts";
import type { Composed } from "../manifests/composed.ts";
import { irreversibleLast, type Needed } from "./irreversible-last.ts";
import { asStored } from "../manifests/as-stored.ts";
import { type Previewed, runPreview } from "./run-preview.ts";

/** A Transaction as it would be created, and what it would do. */
export interface Plan {
  readonly manifest: TransactionManifest;
  readonly previewed: Previewed;
  /** Why the API server would not even create it; among the problems of the preview, too. */
  readonly refusals: readonly string[];
}

/** The file or object that the manifest of a change comes from, for messages. */
const sourceOf = ({ sources = [] }: Composed, { target }: ChangeManifest): string => {
  const isIts = ({ manifest: { apiVersion, kind, metadata } }: (typeof sources)[number]): boolean =>
    apiVersion === target.apiVersion &&
    kind === target.kind &&
    metadata.namespace === target.namespace &&
    metadata.name === target.name;
  return sources.find(isIts)?.where ?? `${target.kind} ${target.name}`;
};

/** Says how to do with two Transactions what cannot be done in one. */
const withTwoCommands = (
  previewed: Previewed,
  composed: Composed,
  needed: readonly Needed[],
  namespace: string,
): Previewed => {
  const { manifest } = composed;
  const users = new Map(needed.map(({ index, by }) => [index, by]));
  const sources = needed.flatMap(({ index }) => {
    const change = manifest.spec.changes[index];
    return change === undefined ? [] : [sourceOf(composed, change)];
  });
  const what = needed.length === 1 ? "this manifest" : "these manifests";
  return {
    ...previewed,
    changes: previewed.changes.map(({ tooEarly, ...change }) => {
      const by = users.get(change.index);
      // What nothing needs would be put last.
      if (tooEarly === undefined || by === undefined) return change;
      return { ...change, problems: [...change.problems, `${tooEarly}, and change ${by + 1} may need it before`] };
    }),
    advice: [
      `It takes two commands. First, put ${what} (${sources.join("; ")}) into a file of its own, and apply that:`,
      `  kubectl janus apply -f FILE -n ${namespace} --service-account ${manifest.spec.serviceAccountName}`,
      "Then, run this command again, with all manifests.",
    ],
  };
};

/**
 * Previews a Transaction. One that was composed gets an order in which it can be executed, if there is one: what cannot be undone
 * comes last.
 *
 * Errors: as those of {@link runPreview}.
 */
export const previewInOrder = async (cluster: Cluster, composed: Composed): Promise<Omit<Plan, "refusals">> => {
  const { manifest, sources } = composed;
  const previewed = await runPreview(cluster, manifest, cluster.namespace);
  const reordered = sources === undefined ? undefined : irreversibleLast(previewed);
  if (reordered === undefined) return { manifest, previewed };
  if (reordered.type === "needed")
    return { manifest, previewed: withTwoCommands(previewed, composed, reordered.needed, cluster.namespace) };
  const changes = reordered.order.flatMap((index) => manifest.spec.changes[index] ?? []);
  const moved = { ...manifest, spec: { ...manifest.spec, changes } };
  return { manifest: moved, previewed: await runPreview(cluster, moved, cluster.namespace) };
};

/**
 * The Transaction in the order of {@link previewInOrder}; in the one that it has, without a preview, if nobody can tell: a user need
 * not be able to preview what they write down, or propose.
 */
export const inOrder = async (
  cluster: Cluster,
  composed: Composed,
): Promise<Pick<Plan, "manifest"> & Partial<Plan>> => {
  if (composed.sources === undefined) return composed;
  const plan = await previewInOrder(cluster, composed).catch(failureOf);
  return plan instanceof Failure ? composed : plan;
};

/**
 * Plans a Transaction: what it would do, and everything for which it could not be created, or would fail before its first change.
 *
 * Errors: as those of {@link runPreview}, and of {@link creationProblems}.
 */
export const makePlan = async (cluster: Cluster, composed: Composed): Promise<Plan> => {
  const [refusals, plan] = await Promise.all([
    creationProblems(cluster, composed.manifest),
    previewInOrder(cluster, composed).catch(failureOf),
  ]);
  if (plan instanceof Failure) {
    if (refusals.length === 0) throw plan;
    return {
      refusals,
      manifest: composed.manifest,
      previewed: untried(composed.manifest, cluster.namespace, refusals),
    };
  }
  const general = [...new Set([...refusals, ...plan.previewed.general])];
  return { ...plan, refusals, previewed: { ...plan.previewed, general } };
};

const failureOf = (error: unknown): Failure => {
  if (error instanceof Failure) return error;
  throw error;
};

const untried = (manifest: TransactionManifest, namespace: string, general: readonly string[]): Previewed => ({
  type: "previewed",
  txn: asStored(manifest, namespace),
  concealed: new Set(),
  changes: [],
  unplaced: [],
  isTried: false,
  general,
});
