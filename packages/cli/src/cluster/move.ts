// Patches the lifecycle of the very Transaction that was read.
import { APPROVED_BY, LIFECYCLE_CHANGED_BY, type LIFECYCLES, type Transaction, transactions } from "@janus/api";
import type { ApiError, KubeObject } from "@janus/kube";
import type { Either } from "fp-ts/lib/Either.js";
import type { Cluster } from "./cluster.ts";
import { readUserName } from "./user-name.ts";

export interface Move {
  readonly to: (typeof LIFECYCLES)[number];
  /** The digest of the render that is approved. */
  readonly approvedDigest?: string;
  /** Annotations beside those that say who moves it; null removes one. */
  readonly annotations?: Readonly<Record<string, string | null>>;
  /** Moves it only if it is still the one that was read, to the last field. */
  readonly isUnchanged?: true;
}

/** Moves the very Transaction that was read through its lifecycle, and records who does so. */
export const move = async (
  cluster: Cluster,
  { metadata }: Transaction,
  { to, approvedDigest, annotations = {}, isUnchanged }: Move,
): Promise<Either<ApiError, KubeObject>> => {
  const { namespace, name, uid, resourceVersion } = metadata;
  const user = await readUserName(cluster);
  const by = { [LIFECYCLE_CHANGED_BY]: user, ...(to === "Published" ? { [APPROVED_BY]: user } : {}) };
  const body = {
    metadata: { uid, ...(isUnchanged ? { resourceVersion } : {}), annotations: { ...annotations, ...by } },
    spec: { lifecycle: to, ...(approvedDigest === undefined ? {} : { approvedDigest }) },
  };
  return cluster.api.send({
    verb: "mergePatch",
    resource: transactions,
    namespace,
    name,
    body,
    fieldManager: "kubectl-janus",
  });
};
