import type { Change, Transaction } from "@janus/api";
import { asObject } from "./json.ts";
import type { Known } from "./known.ts";
import { show } from "./object.ts";
import type { Item } from "./targets.ts";

const uidsIn = (references: unknown): readonly unknown[] =>
  Array.isArray(references) ? references.map((reference) => asObject(reference)["uid"]) : [];

/** The owners of a target once its change is made. A Patch takes none away. */
const ownersAfter = (change: Change, now: readonly unknown[]): readonly unknown[] => {
  if (change.type === "Delete") return [];
  const { ownerReferences } = asObject(change.content["metadata"]);
  if (change.type === "Update" && ownerReferences !== undefined) return uidsIn(ownerReferences);
  return [...now, ...uidsIn(ownerReferences)];
};

const allIn = (owners: readonly unknown[], deleted: readonly unknown[]): boolean =>
  owners.length > 0 && owners.every((owner) => deleted.includes(owner));

/**
 * Why a change cannot last, or cannot be made: the garbage collector takes its target with the owners that other changes
 * delete. That would be in neither way as it should: not committed, and not to be put back.
 *
 * Assumes: all targets have been read.
 */
export const doomed = (txn: Transaction, known: Known, { index, change, place }: Item): readonly string[] => {
  const deletions = txn.spec.changes.map(({ type }, at) =>
    type === "Delete" ? known.live.get(at)?.object?.metadata.uid : undefined,
  );
  const now = uidsIn(known.live.get(index)?.object?.metadata.ownerReferences);
  const after = ownersAfter(change, now);
  const isTaken = change.type !== "Delete" && (allIn(now, deletions.slice(0, index)) || allIn(after, deletions));
  const by = deletions.findIndex((uid) => uid !== undefined && [...now, ...after].includes(uid));
  return isTaken ? [`${show(place)} goes with its owner, which changes[${by}] deletes: take out one of the two`] : [];
};
