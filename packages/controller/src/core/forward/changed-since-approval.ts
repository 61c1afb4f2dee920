// Decides whether a target differs from the state that was approved.
import { equal, type KubeObject } from "@janus/types";
import { settableOf } from "../preflight/differences.ts";
import { mustConceal } from "../state/sensitive-kinds.ts";
import type { ChangeContext } from "./change-context.ts";

/**
 * Whether a target that another client has changed since the checks is no longer what was approved by its digest. A Delete was
 * approved with all that its target contains, a change of a sensitive kind with its version. Of any other change, the fields
 * that it sets were approved: if these are changed, that is a conflict, approved or not.
 */
export const isChangedSinceApproval = (
  { change, place, before, context: { txn, settings } }: ChangeContext,
  live: KubeObject,
): boolean => {
  if (txn.spec.approvedDigest === undefined || before === undefined) return false;
  if (change.type !== "Delete" && !mustConceal(place.resource, change, settings)) return false;
  return !equal(settableOf(before, place.resource), settableOf(live, place.resource));
};
