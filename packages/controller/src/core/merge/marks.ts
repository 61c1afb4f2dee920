import { child, type Fields, fieldsOf, filterAlong, isWhole } from "./field-set.ts";
import type { KubeObject, ManagedFieldsEntry } from "@janus/types";
import { ANCIENT_CHANGES } from "./ancient-changes.ts";
import { equal } from "../kubernetes/json.ts";
import { marks } from "@janus/api";
import { under } from "./field-value.ts";

type Entries = readonly ManagedFieldsEntry[];

/** What managedFields says of an object. */
export const entriesOf = ({ metadata }: KubeObject): Entries => metadata.managedFields ?? [];

export const isOurs = ({ manager = "" }: ManagedFieldsEntry, uid: string): boolean => marks(manager, uid);

/** Whether the object carries this Transaction's mark: an entry of its field manager, whatever the operation. */
export const isMarked = (object: KubeObject, uid: string): boolean =>
  entriesOf(object).some((entry) => isOurs(entry, uid));

/** Its own entry tells which fields a Patch has set. It is gone where managedFields was cleared, or once they are rolled back. */
export const hasEntryOfPatch = (object: KubeObject, uid: string): boolean =>
  entriesOf(object).some((entry) => entry.operation === "Apply" && isOurs(entry, uid));

/** Under this name the API server books what it finds when the first apply comes to an object that nothing was booked of. */
const FIRST_APPLY = "before-first-apply";

/** What others own in the live object; where our apply was the first, what was booked for its sake goes with it. */
export const entriesOfOthers = (before: KubeObject, live: KubeObject, uid: string): Entries => {
  const unbooked = entriesOf(before).length === 0;
  return entriesOf(live).filter((entry) => !isOurs(entry, uid) && !(unbooked && entry.manager === FIRST_APPLY));
};

/** A field that somebody owned before: who owns it now, and what it is. */
interface FormerlyOwned {
  readonly owned: Fields | undefined;
  readonly value: unknown;
}

/**
 * Whether managedFields has lost more than later writes take out of it, so that our mark may have gone, too: it was cleared,
 * by a client or an admission webhook; it was cleared, and booked anew by the first apply since; what somebody owned is
 * there, and nobody's; or so many have written that the oldest are booked together.
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
