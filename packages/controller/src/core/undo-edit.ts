import { fieldManager } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { differences } from "./accepted.ts";
import { wanted, writable } from "./body.ts";
import type { Ask } from "./effect.ts";
import { type Path, valueAt } from "./fields.ts";
import { equal } from "./json.ts";
import { set } from "./known.ts";
import { type KubeObject, show } from "./object.ts";
import { readopted, withNewOwners } from "./owners.ts";
import { isMarked, restoration } from "./restore.ts";
import { showPaths } from "./settle.ts";
import { conflict, folded, going, kept, restoring, type Undoing, type Undone } from "./undoing.ts";
import { wentWith } from "./went-with.ts";

/** After so many PUTs something undoes ours as often as we write it. */
const MOST_PUTS = 10;

/** PUTs until nothing of ours is left in the object. */
export const undoEdit = (undone: Undone, before: KubeObject): Undoing => {
  const { seen, place, change, situation, journal, index } = undone;
  const { txn, known } = situation;
  const { object } = seen;
  if (object === undefined) {
    const owner = wentWith(undone, before);
    return owner === undefined
      ? conflict(`${show(place)} was deleted by somebody else`)
      : kept(`${show(place)} went with ${owner}`);
  }
  if (object.metadata.uid !== before.metadata.uid)
    return conflict(`${show(place)} was deleted and created again by somebody else: it is left alone`);
  // Nothing tells that it is ours: what another client has made of it stays.
  if (journal.doubted.has(index) && !isMarked(object, txn.metadata.uid))
    return equal(writable(object, place), writable(before, place))
      ? { at: "restored" }
      : conflict(`${show(place)} has changed, and it cannot be told whether by the Transaction: it is left as it is`);
  const goal = known.goals.get(index) ?? before;
  // Owners that were deleted and are there again have another uid; the garbage collector may have taken them out meanwhile.
  const live = readopted(txn, journal, before, object);
  const former = withNewOwners(txn, journal, goal);
  const { put, conflicts } = restoration(change, place, former, live, txn.metadata);
  if (put === undefined && live === object && object.metadata.deletionTimestamp !== undefined)
    return conflict(`${show(place)} is being deleted by another client: what the change set is taken back`);
  if (put === undefined && live === object)
    return conflicts.length === 0
      ? settled(undone, before, goal)
      : conflict(`${show(place)}: somebody else has changed ${showPaths(conflicts)} since: left as it is`);
  const puts = known.puts.get(index) ?? 0;
  if (puts >= MOST_PUTS) return conflict(`${show(place)}: somebody changes it as often as it is put back`);
  const body = put ?? live;
  const call = { verb: "update", place, body, manager: fieldManager(txn.metadata) } as const;
  const ask = folded(restoring(undone, call, "is-live"), undone, goal, body);
  const learn: Ask["learn"] = (known, answer, ...when) => {
    const after = ask.learn(known, answer, ...when);
    // A lost race says nothing of the fields that are restored: another client may write the status all the time.
    return E.isLeft(answer) ? after : { ...after, puts: set(after.puts, index, puts + 1) };
  };
  return going({ ...ask, learn });
};

/** Put back, but for what the API server sets itself: that is all right unless it keeps what the change has set or taken away. */
const settled = ({ change, place }: Undone, before: KubeObject, goal: KubeObject): Undoing => {
  const paths = differences(before, goal);
  if (paths.length === 0) return { at: "restored" };
  const content = wanted(change, place, before);
  const isOfChange = (path: Path): boolean => {
    const value = valueAt(content, path);
    return valueAt(goal, path) === undefined || (value !== undefined && !equal(value, valueAt(before, path)));
  };
  return paths.some(isOfChange)
    ? kept(`${show(place)}: the API server does not let ${showPaths(paths.filter(isOfChange))} be as before`)
    : { at: "restored", warning: `the API server has set ${showPaths(paths)} itself: left as it is` };
};
