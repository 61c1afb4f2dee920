import { cut, type Item, type ItemState } from "@janus/api";
import { releaseAll, showStores } from "./before.ts";
import { run, type Step, type Telling } from "./effect.ts";
import { type Journal, stateOf } from "./journal.ts";
import type { Refusal } from "./known.ts";
import { record } from "./record.ts";
import type { Situation } from "./situation.ts";

/** The items as the journal has them, and of the change at its cursor what has become of it. */
const settled = ({ txn }: Situation, journal: Journal, { fate, message }: Refusal): readonly Item[] =>
  txn.status.items.map((item, index) => {
    const state = stateOf(item.state, index, journal);
    if (index !== journal.position.cursor || fate === "unsent" || !("before" in state)) return { ...item, state };
    if (fate === "in") return { ...item, state: { at: "committed", before: state.before } };
    const ended: ItemState = { at: fate, before: state.before, error: cut(message, 256) };
    return { ...item, state: ended };
  });

/**
 * Stops going forward. Nothing is in doubt any more: the recorded items say what has become of the change at the cursor.
 * A Transaction that was deleted leaves what is in, and its snapshots outlive it; any other is rolled back.
 */
export const turnBack = (situation: Situation, journal: Journal, refusal: Refusal): Step => {
  const { txn, now } = situation;
  const items = settled(situation, journal, refusal);
  const message = cut(refusal.message, 1024);
  if (refusal.reason === "Deleted") {
    const held = releaseAll(situation, journal, "orphaned");
    if (held.length > 0) return run(...held);
    const left = `${message} while it was active: what is committed stays, what was there before is kept in ${showStores(txn, journal)}`;
    return run(record(txn, { phase: "Failed", items, because: { reason: "Deleted", message: left } }, now));
  }
  const isOfItem = refusal.reason === "CommitFailed" || refusal.reason === "ConflictDetected";
  const item = isOfItem ? { item: journal.position.cursor } : {};
  const because = { reason: refusal.reason, message, told: "putting back what was changed" };
  const told: Telling = { type: "Warning", reason: refusal.reason, message, ...item };
  return run(record(txn, { phase: "RollingBack", items, because }, now, told));
};
