import { fieldManager, marks } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { takenOf, withoutAllocations } from "./allocations.ts";
import { recordedBefore, snapshotOf } from "./before.ts";
import { recreateBody } from "./body.ts";
import type { Ask, Effect } from "./effect.ts";
import { withoutEphemeral } from "./ephemeral.ts";
import { checkpoint } from "./journaling.ts";
import { set } from "./known.ts";
import { type KubeObject, type ManagedFieldsEntry, show } from "./object.ts";
import {
  isMade,
  isOrphaned,
  isOwnedBy,
  livingOwners,
  readopted,
  rebooked,
  withNewOwners,
  withNewUids,
} from "./owners.ts";
import { isMarked, recreatedOwnership } from "./restore.ts";
import { LOOK_AGAIN } from "./situation.ts";
import { type Item, itemsOf, readTarget } from "./targets.ts";
import { conflict, going, pause, refusedFor, restoring, type Undoing, type Undone } from "./undoing.ts";

/**
 * Creates again what was deleted: first the object, then its new uid goes into the journal, then who owned what. Values of
 * a Service that are taken meanwhile are let go, with a warning, and so are ephemeral containers of a Pod.
 */
export const undoDelete = (undone: Undone, before: KubeObject): Undoing => {
  const { seen, place, journal, index, situation } = undone;
  const { txn, known, now } = situation;
  const { object } = seen;
  const created = journal.created.get(index);
  const former = withoutEphemeral(before);
  if (object === undefined)
    return created === undefined
      ? going(recreate(undone, withoutAllocations(former, known.taken.get(index) ?? [])))
      : conflict(`${show(place)} was created again, and deleted again by somebody else`);
  const { uid = "" } = object.metadata;
  if (uid === before.metadata.uid) {
    const until = seen.at + LOOK_AGAIN;
    if (object.metadata.deletionTimestamp === undefined) return { at: "restored" };
    if (now >= until) return going(readTarget(undone, refusedFor(undone)));
    const finalizers = (object.metadata.finalizers ?? []).join(", ");
    return {
      at: "wait",
      until,
      because: `waiting for the finalizers of ${show(place)}, which is still being deleted: ${finalizers}`,
    };
  }
  if (created === undefined && !isMarked(object, txn.metadata.uid))
    return conflict(`${show(place)} was created by somebody else meanwhile: it is left alone`);
  if (created === undefined) return going(checkpoint(txn, journal, { created: [index, uid] }));
  if (uid !== created) return conflict(`${show(place)} was created again by somebody else meanwhile: it is left alone`);
  if (!isMarked(object, txn.metadata.uid))
    return adopt(undone, before) ?? { at: "restored", ...mind(undone, former !== before) };
  const live = withNewUids(txn, journal, former, object);
  const managedFields = recreatedOwnership(withNewOwners(txn, journal, former), live, txn.metadata.uid);
  return going(
    restoring(undone, putCall(undone, { ...object, metadata: { ...object.metadata, managedFields } }), "is-live"),
  );
};

/** What is not as it was: new addresses, ephemeral containers that are gone, and what the garbage collector took. */
const mind = (
  { situation: { txn, known }, journal, index }: Undone,
  wasDebugged: boolean,
): { readonly warning?: string } => {
  const before = recordedBefore(txn, journal, index);
  const lost = before.existed && before.dependents !== undefined ? [`went with it: ${before.dependents}`] : [];
  const taken = known.taken.get(index) ?? [];
  const ephemeral = wasDebugged ? ["its ephemeral containers are gone"] : [];
  const warnings = [
    ...lost,
    ...ephemeral,
    ...taken.map((allocation) => `its ${allocation} were taken meanwhile, and are new`),
  ];
  return warnings.length === 0 ? {} : { warning: warnings.join("; ") };
};

const putCall = ({ place, situation }: Undone, body: KubeObject): Ask["call"] => ({
  verb: "update",
  place,
  manager: fieldManager(situation.txn.metadata),
  body,
});

/**
 * Makes the object, which exists again under a new uid, the owner of its dependents again: of all targets that named it,
 * whether rollback has restored them before it, or the changes never came to them. In two PUTs each, as in {@link undoEdit}.
 * A target that the garbage collector took before its Delete came is created again first.
 */
const adopt = (undone: Undone, before: KubeObject): Undoing | undefined => {
  const { situation, journal } = undone;
  const { txn, known } = situation;
  for (const item of itemsOf(txn, known)) {
    if (item.change.type === "Create" || item.index <= undone.index) continue;
    const snapshot = snapshotOf(txn, known, journal, item.index);
    if (snapshot.at === "unread") return going(...snapshot.effects);
    if (snapshot.at !== "object" || !isOwnedBy(snapshot.object, before.metadata.uid)) continue;
    const seen = known.live.get(item.index);
    if (seen === undefined) return going(readTarget(item, refusedFor(undone)));
    const { object } = seen;
    const dependent: Undone = { ...undone, ...item, seen };
    const pausing = pause(dependent);
    if (pausing !== undefined) return pausing;
    const recreating = isCollected(dependent, snapshot.object) ? undoDelete(dependent, snapshot.object) : undefined;
    if (recreating?.at === "run") return going(...recreating.effects.map((effect) => onBehalf(undone, item, effect)));
    if (recreating !== undefined && recreating.at !== "restored") return recreating;
    const uid = journal.created.get(item.index) ?? snapshot.object.metadata.uid ?? "";
    if (object?.metadata.uid !== uid || object.metadata.deletionTimestamp !== undefined) continue;
    const adopted = readopted(txn, journal, snapshot.object, object);
    const body =
      adopted === object ? rebooked(txn, journal, snapshot.object, object, isOurs(txn.metadata.uid)) : adopted;
    if (body !== undefined)
      return going(onBehalf(undone, item, restoring(dependent, putCall(dependent, body), "is-live")));
  }
  return undefined;
};

const isOurs =
  (uid: string) =>
  ({ manager = "" }: ManagedFieldsEntry): boolean =>
    marks(manager, uid);

/** Whether it went with its owners, all of which the Transaction has deleted, before its own Delete came to it. */
const isCollected = ({ change, index, seen, journal, situation }: Undone, before: KubeObject): boolean =>
  change.type === "Delete" &&
  !isMade(journal, index) &&
  seen.object?.metadata.uid !== before.metadata.uid &&
  isOrphaned(situation.txn, journal, before);

/** What is done to a dependent for the sake of its owner: that it is refused is noted there. */
const onBehalf = (owner: Item, dependent: Item, effect: Effect): Effect => {
  if (!("call" in effect)) return effect;
  const learn: Ask["learn"] = (known, ...answer) => {
    const after = effect.learn(known, ...answer);
    const refusal = after.refusals.get(dependent.index);
    return refusal === undefined || refusal === known.refusals.get(dependent.index)
      ? after
      : { ...after, refusals: set(known.refusals, owner.index, refusal) };
  };
  return { ...effect, learn };
};

const recreate = (undone: Undone, before: KubeObject): Ask => {
  const { place, index, situation } = undone;
  const ask = restoring(
    undone,
    {
      verb: "create",
      place,
      manager: fieldManager(situation.txn.metadata),
      body: recreateBody(before, place, situation.txn.metadata, livingOwners(situation.txn, undone.journal, before)),
    },
    "is-live",
  );
  return {
    ...ask,
    learn: (known, answer, now, sent) => {
      const before = known.taken.get(index) ?? [];
      const taken = E.isLeft(answer) ? takenOf(place.resource, answer.left) : undefined;
      return taken === undefined || before.includes(taken)
        ? ask.learn(known, answer, now, sent)
        : { ...known, taken: set(known.taken, index, [...before, taken]) };
    },
  };
};
