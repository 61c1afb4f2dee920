// Finds irreversible deletions among the applied changes.
import { type Change, isIrreplaceable, type Item, type Transaction } from "@janus/api";

/** Whether it is a deletion that cannot be undone. */
export const isIrreversible = (change: Change | undefined): boolean =>
  change?.type === "Delete" && isIrreplaceable(change.target);

/** Whether that was recorded of what existed before: objects that cannot be restored are deleted together with it. */
const isRecorded = (item: Item | undefined): boolean =>
  item !== undefined &&
  "before" in item.state &&
  item.state.before.existed &&
  item.state.before.isIrreversible === true;

/**
 * The first irreversible deletion among this many changes; all of them are at the end of the list. By its kind, or by what was
 * found to be deleted together with it.
 */
export const firstIrreversible = ({ spec, status }: Transaction, count: number): Change | undefined =>
  spec.changes.slice(0, count).find((change, index) => isIrreversible(change) || isRecorded(status.items[index]));

/** How messages say so. */
export const cannotBeUndone = ({ kind, name }: Change["target"]): string =>
  `the deletion of ${kind} ${name} cannot be undone`;
