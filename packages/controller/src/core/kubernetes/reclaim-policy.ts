// Decides whether a change makes the cluster destroy the data of a PersistentVolume.
import { asObject, type KubeObject } from "@janus/types";
import { reclaimOf } from "./outline.ts";

const DESTROYING: readonly unknown[] = ["Delete", "Recycle"];
const WITHOUT_CLAIM: readonly unknown[] = ["Released", "Failed"];

const reclaimed = (policy: unknown): string => (policy === "Delete" ? "delete it" : "erase its data");

/** Whether the reference that results names another claim, with a uid: if that does not exist, the volume counts as Released. */
const namesAnother = (content: unknown, live: unknown): boolean => {
  if (content === undefined || content === null) return false;
  const [was, is] = [asObject(live), { ...asObject(live), ...asObject(content) }];
  return Boolean(is["uid"]) && ["uid", "namespace", "name"].some((field) => is[field] !== was[field]);
};

/** A field by which the cluster destroys the data of a volume, and how, as the predicate of a sentence. */
export interface Reclaimed {
  readonly field: "reclaim policy" | "claimRef";
  readonly what: string;
}

/**
 * Tells what the cluster does with a PersistentVolume whose claim is gone, when it gets this reclaim policy, or this claim;
 * undefined if it keeps its data.
 * https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming
 * https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/controller/volume/persistentvolume/pv_controller.go (`syncVolume`)
 */
export const reclaimedAtOnce = (content: unknown, live: KubeObject): Reclaimed | undefined => {
  const { policy, claimRef } = reclaimOf(content);
  const { policy: former, phase, claimRef: formerClaim } = reclaimOf(live);
  if (DESTROYING.includes(policy) && policy !== former && WITHOUT_CLAIM.includes(phase))
    return {
      field: "reclaim policy",
      what: `makes the cluster ${reclaimed(policy)}, since its phase is ${String(phase)}`,
    };
  const resulting = policy ?? former;
  return DESTROYING.includes(resulting) && namesAnother(claimRef, formerClaim)
    ? { field: "claimRef", what: `makes the cluster ${reclaimed(resulting)} if there is no such claim` }
    : undefined;
};
