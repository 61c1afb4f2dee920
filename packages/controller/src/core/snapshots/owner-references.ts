// Computes the owner references of restored objects, as owners created again have new uids.
import { memoized } from "@janus/types";
import { deletes, type Transaction } from "@janus/api";
import { recordedBefore } from "./prior-state.ts";
import { isWhole, none } from "../merge/field-set.ts";
import type { Journal } from "../state/journal.ts";
import {
  ofOwners,
  withEntriesOf,
  withoutEntriesOf,
  withoutOwners as withoutAnyOwners,
  withUids,
} from "../merge/owner-reference-fields.ts";
import type { KubeObject, ManagedFieldsEntry, OwnerReference } from "@janus/types";

type Owners = readonly OwnerReference[];
type Entries = readonly ManagedFieldsEntry[];

const ownersOf = (object: KubeObject): Owners => object.metadata.ownerReferences ?? [];

const entriesOf = (object: KubeObject): Entries => object.metadata.managedFields ?? [];

const withOwners = (object: KubeObject, owners: Owners): KubeObject => {
  const { ownerReferences: _, ...metadata } = object.metadata;
  return { ...object, metadata: owners.length === 0 ? metadata : { ...metadata, ownerReferences: owners } };
};

const withEntries = (object: KubeObject, managedFields: Entries): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, managedFields },
});

/** The object, and who has set what of it, without these owners. */
export const withoutOwners = (object: KubeObject, gone: Owners): KubeObject => {
  const uids = uidsOf(gone);
  const left = withOwners(
    object,
    ownersOf(object).filter(({ uid }) => !uids.has(uid)),
  );
  const entries = entriesOf(object);
  return entries.length === 0 ? left : withEntries(left, withoutEntriesOf(entries, [...uids]));
};

export const isOwnedBy = (object: KubeObject, uid: string | undefined): boolean =>
  ownersOf(object).some((owner) => owner.uid === uid);

const uidsOf = (owners: Owners): ReadonlySet<string> => new Set(owners.map(({ uid }) => uid));

/** Whether this change was applied, or has at least deleted its target. */
export const isApplied = ({ position, replaced }: Journal, index: number): boolean =>
  index < (position.direction === "back" ? position.reached : position.cursor) || replaced.has(index);

const deletions = memoized((txn: Transaction) =>
  memoized((journal: Journal): ReadonlyMap<string, number> => {
    const found = new Map<string, number>();
    txn.spec.changes.forEach((change, index) => {
      const before = recordedBefore(txn, journal, index);
      const isGone = deletes(change) && (isApplied(journal, index) || journal.created.has(index));
      if (isGone && before.existed && !found.has(before.uid)) found.set(before.uid, index);
    });
    return found;
  }),
);

/**
 * The change that has deleted the object of this uid; -1 if there is none. An object that was created again had
 * been deleted, even if its own Delete was never applied: it was deleted with its owners.
 */
const deletionOf = (txn: Transaction, journal: Journal, uid: string): number => deletions(txn)(journal).get(uid) ?? -1;

/** The changes that have deleted its owners. */
export const deletedOwners = (txn: Transaction, journal: Journal, before: KubeObject): readonly number[] =>
  ownersOf(before)
    .map(({ uid }) => deletionOf(txn, journal, uid))
    .filter((index) => index !== -1);

/** Whether the Transaction has deleted all owners of an object, so that the garbage collector deletes it, too. */
export const isGarbageCollected = (txn: Transaction, journal: Journal, before: KubeObject): boolean =>
  ownersOf(before).length > 0 && ownersOf(before).every(({ uid }) => deletionOf(txn, journal, uid) !== -1);

/**
 * The current uid of an owner: the same, unless this Transaction has deleted it; then the new one if rollback
 * has created it again, else undefined.
 */
export const uidNow = (txn: Transaction, journal: Journal, uid: string): string | undefined => {
  const deleted = deletionOf(txn, journal, uid);
  return deleted === -1 ? uid : journal.created.get(deleted);
};

/**
 * The owners of the former object that exist now. With a reference to any other, the garbage collector would
 * delete the object within milliseconds; an owner that is restored later adopts it again.
 */
export const livingOwners = (txn: Transaction, journal: Journal, before: KubeObject): Owners =>
  ownersOf(before).flatMap((owner) => {
    const uid = uidNow(txn, journal, owner.uid);
    return uid === undefined ? [] : [{ ...owner, uid }];
  });

/** managedFields name owner references by uid: replaces them by the new uids of the owners of `before`. */
const renaming = (
  txn: Transaction,
  journal: Journal,
  before: KubeObject,
): ((entry: ManagedFieldsEntry) => ManagedFieldsEntry) => {
  const uids = new Map(
    ownersOf(before).flatMap(({ uid }) => {
      const now = uidNow(txn, journal, uid);
      return now === undefined || now === uid ? [] : [[uid, now] as const];
    }),
  );
  return (entry) => (uids.size === 0 ? entry : withUids(entry, uids));
};

/** The object with the new uids of the owners of `before` in its managedFields. */
export const withNewUids = (txn: Transaction, journal: Journal, before: KubeObject, object: KubeObject): KubeObject =>
  withEntries(object, entriesOf(object).map(renaming(txn, journal, before)));

/** The former object with those of its owners that exist now, under their new uids. */
export const withNewOwners = (txn: Transaction, journal: Journal, before: KubeObject): KubeObject => {
  if (ownersOf(before).length === 0) return before;
  return withNewUids(txn, journal, before, withOwners(before, livingOwners(txn, journal, before)));
};

/**
 * References to owners that this Transaction has deleted, and that the object has lost: if another owner exists,
 * the garbage collector removes them. So the Transaction has removed them, although it did not write the object.
 * https://kubernetes.io/docs/concepts/architecture/garbage-collection/
 */
const lostOwners = (txn: Transaction, journal: Journal, before: KubeObject, live: KubeObject): Owners => {
  const owners = uidsOf(ownersOf(live));
  return ownersOf(before).filter(({ uid }) => deletionOf(txn, journal, uid) !== -1 && !owners.has(uid));
};

/** The former object as the garbage collector has left it: without the lost owners. */
export const withoutLostOwners = (
  txn: Transaction,
  journal: Journal,
  before: KubeObject | undefined,
  live: KubeObject | undefined,
): KubeObject | undefined => {
  if (before === undefined || live === undefined) return before;
  const lost = new Set(lostOwners(txn, journal, before, live));
  return lost.size === 0
    ? before
    : withOwners(
        before,
        ownersOf(before).filter((owner) => !lost.has(owner)),
      );
};

/** The live object with its lost owners: what rollback restores. */
export const withLostOwners = (
  txn: Transaction,
  journal: Journal,
  before: KubeObject,
  live: KubeObject,
): KubeObject => {
  const lost = lostOwners(txn, journal, before, live);
  if (lost.length === 0) return live;
  const owners = inOrderOf(ownersOf(before), [...ownersOf(live), ...lost]);
  const uids = lost.map(({ uid }) => uid);
  return withEntries(withOwners(live, owners), withEntriesOf(entriesOf(live), entriesOf(before), uids));
};

/** The owners in the former order; owners that other clients added come last. */
const inOrderOf = (former: Owners, owners: Owners): Owners => {
  const places = new Map(former.map(({ uid }, at) => [uid, at] as const).toReversed());
  const place = ({ uid }: OwnerReference): number => places.get(uid) ?? former.length;
  return owners.toSorted((a, b) => place(a) - place(b));
};

/**
 * The live object with its former owners that this Transaction has deleted: under their new uids, or removed.
 * The same object if there is nothing to change.
 */
export const withRelinkedOwners = (
  txn: Transaction,
  journal: Journal,
  before: KubeObject,
  live: KubeObject,
): KubeObject => {
  const deleted = ownersOf(before).filter(({ uid }) => deletionOf(txn, journal, uid) !== -1);
  const [deletedUids, liveUids] = [uidsOf(deleted), uidsOf(ownersOf(live))];
  const kept = ownersOf(live).filter(({ uid }) => !deletedUids.has(uid));
  const living = livingOwners(txn, journal, withOwners(before, deleted));
  const back = living.filter(({ uid }) => !liveUids.has(uid));
  if (back.length === 0 && kept.length === ownersOf(live).length) return live;
  return withOwners(live, inOrderOf(livingOwners(txn, journal, before), [...kept, ...back]));
};

/**
 * The live object with its new owner references owned by the managers of the former ones, not by us. `undefined`
 * if we own none of them.
 */
export const withOriginalManagers = (
  txn: Transaction,
  journal: Journal,
  before: KubeObject,
  live: KubeObject,
  isOurs: (entry: ManagedFieldsEntry) => boolean,
): KubeObject | undefined => {
  const uids = livingOwners(txn, journal, before).map(({ uid }) => uid);
  const isBooked = (entry: ManagedFieldsEntry): boolean => !isWhole(ofOwners(entry.fieldsV1 ?? none, uids));
  const entries = entriesOf(live);
  if (!entries.some((entry) => isOurs(entry) && isBooked(entry))) return undefined;
  const renamed = renaming(txn, journal, before);
  const others = entries.flatMap((entry) => {
    if (!isOurs(entry)) return [renamed(entry)];
    const fieldsV1 = withoutAnyOwners(entry.fieldsV1 ?? none);
    return isWhole(fieldsV1) ? [] : [{ ...entry, fieldsV1 }];
  });
  const former = entriesOf(withNewOwners(txn, journal, before));
  const all = withEntriesOf(others, former, uids);
  // Clears managedFields: an empty list is documented not to.
  return withEntries(live, all.length === 0 ? [{}] : all);
};
