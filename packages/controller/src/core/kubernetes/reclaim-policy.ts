import type { KubeObject } from "@janus/types";
import { reclaimOf } from "./outline.ts";

const DESTROYING: readonly unknown[] = ["Delete", "Recycle"];
const WITHOUT_CLAIM: readonly unknown[] = ["Released", "Failed"];

/**
 * What the cluster does at once with a PersistentVolume whose claim is gone when it gets this reclaim policy, as the predicate of a
 * sentence; undefined if it keeps its data.
 * https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming
 */
export const reclaimedAtOnce = (content: unknown, live: KubeObject): string | undefined => {
  const { policy } = reclaimOf(content);
  const { policy: former, phase } = reclaimOf(live);
  return DESTROYING.includes(policy) && policy !== former && WITHOUT_CLAIM.includes(phase)
    ? `makes the cluster ${policy === "Delete" ? "delete it" : "erase its data"}, since its phase is ${String(phase)}`
    : undefined;
};
