import { contents } from "./contents.ts";
import { show } from "./object.ts";
import { isMarked } from "./restore.ts";
import { LOOK_AGAIN } from "./situation.ts";
import { readTarget } from "./targets.ts";
import { conflict, going, refusedFor, restoring, type Undoing, type Undone } from "./undoing.ts";

/** Deletes the very object that the change created, and waits until it is gone. */
export const undoCreate = (undone: Undone): Undoing => {
  const { seen, place, journal, index, situation } = undone;
  const recorded = situation.txn.status.items[index]?.state;
  const created = journal.created.get(index) ?? (recorded?.at === "committed" ? recorded.created : undefined);
  const { object } = seen;
  if (object === undefined) return { at: "restored" };
  const ours = created === undefined ? isMarked(object, situation.txn.metadata.uid) : object.metadata.uid === created;
  if (!ours) return conflict(`${show(place)} was deleted and created again by somebody else: it is left alone`);
  if (object.metadata.deletionTimestamp !== undefined) {
    const until = seen.at + LOOK_AGAIN;
    if (situation.now >= until) return going(readTarget(undone, refusedFor(undone)));
    const finalizers = (object.metadata.finalizers ?? []).join(", ");
    return { at: "wait", until, because: `waiting for the finalizers of ${show(place)}: ${finalizers}` };
  }
  const held = contents(undone);
  if (held !== undefined) return held;
  const { uid = "", resourceVersion = "" } = object.metadata;
  return going(restoring(undone, { verb: "delete", place, preconditions: { uid, resourceVersion } }, "look"));
};
