import { recordedBefore } from "./before.ts";
import { isIrreversible } from "./irreversible.ts";
import type { Journal } from "./journal.ts";
import { type KubeObject, show } from "./object.ts";
import type { Situation } from "./situation.ts";
import { type Item, readTarget } from "./targets.ts";
import { undoCreate } from "./undo-create.ts";
import { undoDelete } from "./undo-delete.ts";
import { undoEdit } from "./undo-edit.ts";
import { going, kept, pause, refusedFor, type Undoing, type Undone } from "./undoing.ts";

/**
 * Decides on a live read of the target alone, so that it does not matter whether an earlier attempt has landed: what is
 * put back already needs nothing more.
 */
export const undo = (situation: Situation, journal: Journal, item: Item, before: KubeObject | undefined): Undoing => {
  const { known } = situation;
  const refusal = known.refusals.get(item.index);
  if (refusal !== undefined) return kept(refusal.message);
  const seen = known.live.get(item.index);
  if (seen === undefined) return going(readTarget(item, refusedFor(item)));
  const undone: Undone = { ...item, situation, journal, seen };
  const pausing = pause(undone);
  if (pausing !== undefined) return pausing;
  if (item.change.type === "Create") return undoCreate(undone);
  if (before === undefined) return kept(`${show(item.place)}: what was there before is not known`);
  if (isIrreversible(item.change)) return undoIrreversible(undone, before);
  return item.change.type === "Delete" ? undoDelete(undone, before) : undoEdit(undone, before);
};

/** It is still there as it was, if its deletion was not carried out. Created again it would be empty: nobody is to take that for it. */
const undoIrreversible = (
  { place, seen: { object }, situation, journal, index }: Undone,
  before: KubeObject,
): Undoing => {
  const isUntouched = object?.metadata.uid === before.metadata.uid && object?.metadata.deletionTimestamp === undefined;
  if (isUntouched) return { at: "restored" };
  const recorded = recordedBefore(situation.txn, journal, index);
  const contents = recorded.existed && recorded.dependents !== undefined ? `, and with it ${recorded.dependents}` : "";
  return kept(`${show(place)} was deleted, which cannot be undone${contents}: restore it from a backup`);
};
