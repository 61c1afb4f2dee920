import type { Transaction } from "@janus/api";
import { recordedBefore } from "./before.ts";
import type { Journal } from "./journal.ts";
import type { KubeObject, OwnerReference } from "./object.ts";

export const isOwnedBy = (object: KubeObject, uid: string | undefined): boolean =>
  (object.metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);

/**
 * The uid under which an owner exists now: the same, unless this Transaction has deleted it; then the new one, if rollback
 * has created it again, else none.
 */
const uidNow = (txn: Transaction, journal: Journal, uid: string): string | undefined => {
  const deleted = txn.spec.changes.findIndex(({ type }, index) => {
    const before = recordedBefore(txn, journal, index);
    return type === "Delete" && before.existed && before.uid === uid;
  });
  return deleted === -1 ? uid : journal.created.get(deleted);
};

/**
 * Owners of the object of before that exist now. A reference to any other would have the garbage collector take the object
 * within milliseconds; an owner that is restored later adopts it again.
 */
export const livingOwners = (txn: Transaction, journal: Journal, before: KubeObject): readonly OwnerReference[] =>
  (before.metadata.ownerReferences ?? []).flatMap((owner) => {
    const uid = uidNow(txn, journal, owner.uid);
    return uid === undefined ? [] : [{ ...owner, uid }];
  });

type Entries = NonNullable<KubeObject["metadata"]["managedFields"]>;

/** managedFields name owner references by uid: by the new uids of the owners of `before`. */
export const withNewUids = (txn: Transaction, journal: Journal, before: KubeObject, entries: Entries): Entries => {
  const renamed = (before.metadata.ownerReferences ?? []).reduce((text, { uid }) => {
    const now = uidNow(txn, journal, uid);
    return now === undefined ? text : text.replaceAll(uid, now);
  }, JSON.stringify(entries));
  return JSON.parse(renamed) as Entries;
};

/** The object of before with the new uids of its owners. */
export const withNewOwners = (txn: Transaction, journal: Journal, before: KubeObject): KubeObject => {
  const ownerReferences = livingOwners(txn, journal, before);
  if (ownerReferences.length === 0) return before;
  const managedFields = withNewUids(txn, journal, before, before.metadata.managedFields ?? []);
  return { ...before, metadata: { ...before.metadata, ownerReferences, managedFields } };
};
