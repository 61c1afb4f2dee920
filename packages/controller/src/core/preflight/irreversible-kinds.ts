import type { Change, Transaction } from "@janus/api";
import { isIrreplaceable } from "../kubernetes/irreplaceable-kinds.ts";

/** Whether it is a deletion that cannot be undone. */
export const isIrreversible = (change: Change | undefined): boolean =>
  change?.type === "Delete" && isIrreplaceable(change.target);

/** The first irreversible deletion among this many changes; all of them are at the end of the list. */
export const firstIrreversible = ({ spec }: Transaction, count: number): Change | undefined =>
  spec.changes.slice(0, count).find(isIrreversible);

/** How messages say so. */
export const cannotBeUndone = ({ kind, name }: Change["target"]): string =>
  `the deletion of ${kind} ${name} cannot be undone`;
