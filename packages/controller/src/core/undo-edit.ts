import { fieldManager } from "@janus/api";
import type { Ask } from "./effect.ts";
import { set } from "./known.ts";
import { type KubeObject, show } from "./object.ts";
import { readopted, withNewOwners } from "./owners.ts";
import { restoration } from "./restore.ts";
import { showPaths } from "./settle.ts";
import { conflict, going, restoring, type Undoing, type Undone } from "./undoing.ts";

/** After so many PUTs something undoes ours as often as we write it. */
const MOST_PUTS = 10;

/** PUTs until nothing of ours is left in the object. */
export const undoEdit = (undone: Undone, before: KubeObject): Undoing => {
  const { seen, place, change, situation, journal, index } = undone;
  const { txn, known } = situation;
  const { object } = seen;
  if (object === undefined) return conflict(`${show(place)} was deleted by somebody else`);
  if (object.metadata.uid !== before.metadata.uid)
    return conflict(`${show(place)} was deleted and created again by somebody else: it is left alone`);
  // Owners that were deleted and are there again have another uid; the garbage collector may have taken them out meanwhile.
  const live = readopted(txn, journal, before, object);
  const former = withNewOwners(txn, journal, before);
  const { put, conflicts } = restoration(change, place, former, live, txn.metadata);
  if (put === undefined && live === object)
    return conflicts.length === 0
      ? { at: "restored" }
      : conflict(`${show(place)}: somebody else has changed ${showPaths(conflicts)} since: left as it is`);
  const puts = known.puts.get(index) ?? 0;
  if (puts >= MOST_PUTS) return conflict(`${show(place)}: somebody changes it as often as it is put back`);
  const ask = restoring(
    undone,
    { verb: "update", place, body: put ?? live, manager: fieldManager(txn.metadata) },
    "is-live",
  );
  const learn: Ask["learn"] = (...answer) => {
    const after = ask.learn(...answer);
    return { ...after, puts: set(after.puts, index, puts + 1) };
  };
  return going({ ...ask, learn });
};
