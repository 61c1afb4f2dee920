import type { Change, Transaction } from "@janus/api";
import { collected } from "./dependents.ts";
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

/**
 * Why a change cannot last, or cannot be made: the garbage collector takes its target with the owners that other changes
 * delete, also through objects that are no targets. That would be in neither way as it should: not committed, and not to be
 * put back. A Delete of what goes with an owner that an earlier change deletes is in; but not of what goes with an object in
 * between, which no rollback brings back.
 *
 * Assumes: all targets have been read, and what owns them, as far as the ServiceAccount may see it.
 */
export const doomed = (txn: Transaction, known: Known, { index, change, place }: Item): readonly string[] => {
  const now = uidsIn(known.live.get(index)?.object?.metadata.ownerReferences);
  const after = ownersAfter(change, now);
  if (now.length === 0 && after.length === 0) return [];
  const deletions = txn.spec.changes.map(({ type }, at) =>
    type === "Delete" ? known.live.get(at)?.object?.metadata.uid : undefined,
  );
  const owned = [...known.owned.values()].flat();
  /** Whether all of these owners go with what the changes up to this one delete. */
  const go = (owners: readonly unknown[], until: number): boolean => {
    const deleted = new Set(deletions.slice(0, until).filter((uid) => uid !== undefined));
    const gone: ReadonlySet<unknown> = new Set([...deleted, ...collected(owned, deleted).map(({ uid }) => uid)]);
    return owners.length > 0 && owners.every((owner) => gone.has(owner));
  };
  const isMadeBefore = now.every((owner) => deletions.slice(0, index).includes(owner as string));
  const isTaken = change.type === "Delete" ? !isMadeBefore && go(now, index) : go(now, index) || go(after, Infinity);
  const by = deletions.findIndex((_, at) => go(now, at + 1) || go(after, at + 1));
  return isTaken ? [`${show(place)} goes with its owner, which changes[${by}] deletes: take out one of the two`] : [];
};
