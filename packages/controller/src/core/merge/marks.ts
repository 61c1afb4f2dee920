// Recognises writes of a Transaction by their entry in managedFields.
import { child, type Fields, fieldsOf, filterAlong, holds, isWhole, none, without } from "./field-set.ts";
import { equal, type KubeObject, type ManagedFieldsEntry } from "@janus/types";
import { ANCIENT_CHANGES } from "./ancient-changes.ts";
import { marks } from "@janus/api";
import { ALL_MARKS, MARK, RECREATED_MARK, RESTORED_MARK } from "./write-body.ts";
import { under } from "./field-value.ts";

type Entries = readonly ManagedFieldsEntry[];

/** The managedFields of an object. */
export const entriesOf = ({ metadata }: KubeObject): Entries => metadata.managedFields ?? [];

export const isOurs = ({ manager = "" }: ManagedFieldsEntry, uid: string): boolean => marks(manager, uid);

/** Whether the object carries this Transaction's mark: an entry of its field manager, whatever the operation. */
export const isMarked = (object: KubeObject, uid: string): boolean =>
  entriesOf(object).some((entry) => isOurs(entry, uid));

/** Whether the rollback of this Transaction has created it again, as far as its mark is still there. */
export const isRecreated = (object: KubeObject, uid: string): boolean =>
  entriesOf(object).some((entry) => isOurs(entry, uid) && holds(entry.fieldsV1 ?? none, RECREATED_MARK));

/**
 * Whether it shows which fields a Patch has set: by its entry, or by the mark of the PUT that has rolled them back. Both are
 * missing if managedFields was cleared.
 */
export const showsPatch = (object: KubeObject, uid: string): boolean =>
  entriesOf(object).some(
    ({ fieldsV1 = none, ...entry }) => isOurs(entry, uid) && (!holds(fieldsV1, MARK) || holds(fieldsV1, RESTORED_MARK)),
  );

/** The manager of all fields of an object without managedFields, which the API server adds at the first apply. */
const FIRST_APPLY = "before-first-apply";

/** The live entries of other managers, without the entry that the API server added only because ours was the first apply. */
export const entriesOfOthers = (before: KubeObject, live: KubeObject, uid: string): Entries => {
  const hadNoManagedFields = entriesOf(before).length === 0;
  return entriesOf(live).filter(
    (entry) => !isOurs(entry, uid) && !(hadNoManagedFields && entry.manager === FIRST_APPLY),
  );
};

/** Fields without what only marks a write of a Transaction: no object has these annotations. */
export const withoutMarks = (fields: Fields): Fields => without(fields, ALL_MARKS);

/** A field that had a manager before: its entry now, and its value. */
interface FormerlyOwned {
  readonly owned: Fields | undefined;
  readonly value: unknown;
}

/**
 * Whether managedFields has lost more than later writes remove, so that our mark may be lost, too: a client or an admission webhook
 * has cleared it; it was cleared, and added again at the first apply since; a field that had a manager exists without one; or so
 * many managers have written that the oldest entries are merged.
 */
export const hasLostMarks = (before: KubeObject, live: KubeObject): boolean => {
  const [former, entries] = [entriesOf(before), entriesOf(live)];
  const isNew = (manager: string): boolean =>
    entries.some((entry) => entry.manager === manager && !former.some((other) => equal(other, entry)));
  const unowned = filterAlong<FormerlyOwned>(
    fieldsOf(former),
    { owned: fieldsOf(entries), value: live },
    {
      into: ({ owned, value }, element) => ({ owned: child(owned, element), value: under(element)(value) }),
      keeps: ({ owned, value }) => owned === undefined && value !== undefined,
    },
  );
  return entries.length === 0 || isNew(FIRST_APPLY) || isNew(ANCIENT_CHANGES) || !isWhole(unowned);
};
