import { fieldManager, marks } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { accepted, differences } from "./accepted.ts";
import { isAllocated, isService, reallocated, takenOf, withoutAllocations } from "./allocations.ts";
import { recordedBefore, snapshotOf } from "./before.ts";
import { recreateBody, writable } from "./body.ts";
import { isMuch } from "./budget.ts";
import type { Ask, Effect } from "./effect.ts";
import { withoutEphemeral } from "./ephemeral.ts";
import { type Path, valueAt } from "./fields.ts";
import { withoutGenerated } from "./generated.ts";
import { stateOf } from "./journal.ts";
import { checkpoint } from "./journaling.ts";
import { rebuffed, set } from "./known.ts";
import { isSafe } from "./locks.ts";
import { isEmpty } from "./merge.ts";
import { type KubeObject, type ManagedFieldsEntry, type Place, show } from "./object.ts";
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
import { showPaths } from "./settle.ts";
import { LOOK_AGAIN } from "./situation.ts";
import { type Item, itemsOf, readTarget } from "./targets.ts";
import { isHomeless, withoutOldToken } from "./token.ts";
import { conflict, folded, going, kept, pause, refusedFor, restoring, type Undoing, type Undone } from "./undoing.ts";
import { lostHome } from "./went-with.ts";

/**
 * Creates again what was deleted: first the object, then its new uid goes into the journal, then who owned what. Values of
 * a Service that are taken meanwhile are let go, with a warning, and so are ephemeral containers of a Pod.
 */
export const undoDelete = (undone: Undone, before: KubeObject): Undoing => {
  const { seen, place, journal, index, situation } = undone;
  const { txn, known, now } = situation;
  const { object } = seen;
  const created = journal.created.get(index);
  const former = withoutOldToken(txn, journal, withoutEphemeral(before));
  const home = object === undefined && rebuffed(known, index, object) !== undefined ? lostHome(undone) : undefined;
  if (home !== undefined) return kept(`${show(place)} cannot be there without ${home}`);
  if (object === undefined && created === undefined && isHomeless(txn, journal, before))
    return kept(`${show(place)} goes with its ServiceAccount, which is not restored`);
  if (object === undefined)
    return created === undefined
      ? going(recreate(undone, withoutAllocations(former, known.taken.get(index) ?? [])))
      : conflict(`${show(place)} was created again, and deleted again by somebody else`);
  const { uid = "" } = object.metadata;
  if (uid === before.metadata.uid) {
    const until = seen.at + LOOK_AGAIN;
    if (object.metadata.deletionTimestamp === undefined) return { at: "restored", stillThere: uid };
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
  if (!isMarked(object, txn.metadata.uid)) return adopt(undone, before) ?? { at: "restored", ...mind(undone, before) };
  const live = withNewUids(txn, journal, former, object);
  const managedFields = recreatedOwnership(withNewOwners(txn, journal, former), live, txn.metadata.uid);
  const body = { ...object, metadata: { ...object.metadata, managedFields } };
  const goal = known.goals.get(index) ?? accepted(former, bodyOf(undone, former), object, place);
  return going(folded(restoring(undone, putCall(undone, body), "is-live"), undone, goal, body));
};

/** The object without what is handed out to it, or made of its uid: that is told apart, or of no interest. */
const own = (object: KubeObject, { resource }: Place): KubeObject =>
  withoutAllocations(withoutGenerated(object), isService(resource) ? ["addresses", "ports"] : []);

/** Fields to which the API server, or what it calls on admission, has given other values than they had. */
const changedFields = (before: KubeObject, goal: KubeObject, place: Place): readonly Path[] => {
  const [was, is] = [before, goal].map((object) => own(object, place));
  return differences(was, is).filter((path) => valueAt(is, path) !== undefined);
};

/** What is not as it was: values that the API server did not give again, and what the garbage collector took. */
const mind = ({ situation, journal, index, place, seen }: Undone, was: KubeObject): { readonly warning?: string } => {
  const { txn } = situation;
  const before = recordedBefore(txn, journal, index);
  const standing = withoutEphemeral(was);
  const former = withoutOldToken(txn, journal, standing);
  const live = seen.object ?? former;
  const changed = changedFields(former, situation.known.goals.get(index) ?? former, place);
  const lost = lostFields(withoutGenerated(former), live, place);
  const warnings = [
    ...(standing === was ? [] : ["its ephemeral containers are gone"]),
    ...(former === standing ? [] : ["it has another token, of its new ServiceAccount"]),
    ...(isService(place.resource) ? reallocated(former, live) : []),
    ...(changed.length === 0 ? [] : [`admission has given other values to ${showPaths(changed)}`]),
    ...(lost.length === 0 ? [] : [`the API server has not kept ${showPaths(lost)}`]),
    ...(before.existed && before.dependents !== undefined ? [`went with it: ${before.dependents}`] : []),
  ];
  return warnings.length === 0 ? {} : { warning: `${show(place)}: ${warnings.join("; ")}` };
};

/** Fields that had a value and have none, but for what is handed out anew, and for owners, which come later. */
const lostFields = (before: KubeObject, live: KubeObject, place: Place): readonly Path[] => {
  const { ownerReferences: _, ...metadata } = before.metadata;
  const [was, is] = [{ ...before, metadata }, live].map((object) => writable(object, place));
  return differences(was, is).filter(
    (path) => valueAt(is, path) === undefined && !isEmpty(valueAt(was, path)) && !isAllocated(place.resource, path),
  );
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
    if (item.change.type === "Create" || item.index === undone.index || isYetToCome(undone, item.index)) continue;
    const owner = before.metadata.uid ?? "";
    if (known.ownersBefore.get(item.index)?.includes(owner) === false) continue;
    const snapshot = snapshotOf(txn, known, journal, item.index);
    if (snapshot.at === "unread") return going(...snapshot.effects.map((ask) => looking(ask, item.index, owner)));
    if (snapshot.at !== "object" || !isOwnedBy(snapshot.object, before.metadata.uid)) continue;
    const seen = known.live.get(item.index);
    if (seen === undefined) return going(readTarget(item, refusedFor(undone)));
    const { object } = seen;
    if (!isSafe(known.locks.get(item.index), situation)) return { at: "lock", index: item.index };
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

/** What does not name the owner is let go of at once, where much was read: there may be many stores to look at. */
const looking = (ask: Ask, index: number, owner: string): Ask => ({
  ...ask,
  learn: (known, ...answer) => {
    const after = ask.learn(known, ...answer);
    const isOwned = after.ownersBefore.get(index)?.includes(owner) ?? true;
    return isOwned || !isMuch(after.storeData) ? after : { ...after, storeData: known.storeData };
  },
});

/** Whether the rollback of an earlier change comes after this one: it sees the new owner by itself. */
const isYetToCome = ({ index, situation: { txn }, journal }: Undone, other: number): boolean => {
  const { at } = stateOf(txn.status.items[other]?.state ?? { at: "untouched" }, other, journal);
  return other < index && at === "committed" && !journal.created.has(other);
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

const bodyOf = ({ place, situation: { txn }, journal }: Undone, before: KubeObject): object =>
  recreateBody(before, place, txn.metadata, livingOwners(txn, journal, before));

const recreate = (undone: Undone, before: KubeObject): Ask => {
  const { place, index, situation } = undone;
  const body = bodyOf(undone, before);
  const call = { verb: "create", place, manager: fieldManager(situation.txn.metadata), body } as const;
  const ask = folded(restoring(undone, call, "is-live"), undone, before, body);
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
