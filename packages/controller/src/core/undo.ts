import { fieldManager } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { snapshotOf } from "./before.ts";
import { recreateBody } from "./body.ts";
import type { Ask, Effect } from "./effect.ts";
import { type Fault, sentence } from "./fault.ts";
import type { Instant } from "./instant.ts";
import type { Journal } from "./journal.ts";
import { checkpoint } from "./journaling.ts";
import { asObject } from "./json.ts";
import { type Known, set, type Sighting, unset } from "./known.ts";
import { type KubeObject, show } from "./object.ts";
import { isOwnedBy, livingOwners, withNewOwners, withNewUids } from "./owners.ts";
import { isMarked, recreatedOwnership, restoration } from "./restore.ts";
import { showPaths } from "./settle.ts";
import type { Situation } from "./situation.ts";
import { type Item, itemsOf, readTarget } from "./targets.ts";

/** The next thing to do to put one item back, or how that ended. */
export type Undoing =
  | { readonly at: "run"; readonly effects: readonly Effect[] }
  | { readonly at: "wait"; readonly until: Instant; readonly because: string }
  | { readonly at: "restored"; readonly warning?: string }
  | { readonly at: "kept"; readonly error: string };

/** How often an object is looked at that only others can let go, in ms. */
const LOOK_AGAIN = 1000;
/** After so many PUTs something undoes ours as often as we write it. */
const MOST_PUTS = 10;

interface Undone extends Item {
  readonly situation: Situation;
  readonly journal: Journal;
  readonly seen: Sighting;
}

const going = (...effects: readonly Effect[]): Undoing => ({ at: "run", effects });
const kept = (error: string): Undoing => ({ at: "kept", error });

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
  if (item.change.type === "Create") return undoCreate(undone);
  if (before === undefined) return kept(`${show(item.place)}: what was there before is not known`);
  return item.change.type === "Delete" ? undoDelete(undone, before) : undoEdit(undone, before);
};

/** A refusal ends the attempt on this item; a conflict or absence means to look again. */
const refusedFor =
  (item: Item): Ask["learn"] =>
  (known, answer) =>
    E.isRight(answer) ? known : noted(known, item, answer.left);

const noted = (known: Known, { index, place }: Item, fault: Fault): Known => ({
  ...known,
  refusals: set(known.refusals, index, {
    reason: "CommitFailed",
    message: `${show(place)}: the API server refuses to put it back: ${sentence(fault)}`,
    fate: "undecided",
  }),
});

const lookAgain = (known: Known, { index }: Item): Known => ({ ...known, live: unset(known.live, index) });

const movedOn = (fault: Fault): boolean => fault.kind === "refused" && (fault.code === 404 || fault.code === 409);

/** After any write the target is read again, or its answer taken for the read. */
const restoring = (undone: Undone, call: Ask["call"], answered: "is-live" | "look"): Ask => ({
  purpose: "restore",
  as: "serviceAccount",
  call,
  learn: (known, answer, _, sent) => {
    if (E.isRight(answer))
      return answered === "look"
        ? lookAgain(known, undone)
        : { ...known, live: set(known.live, undone.index, { object: answer.right, at: sent }) };
    return movedOn(answer.left) ? lookAgain(known, undone) : noted(known, undone, answer.left);
  },
  lost: (known) => lookAgain(known, undone),
});

/** Deletes the very object that the change created, and waits until it is gone. */
const undoCreate = (undone: Undone): Undoing => {
  const { seen, place, journal, index, situation } = undone;
  const recorded = situation.txn.status.items[index]?.state;
  const created = journal.created.get(index) ?? (recorded?.at === "committed" ? recorded.created : undefined);
  const { object } = seen;
  if (object === undefined) return { at: "restored" };
  const ours = created === undefined ? isMarked(object, situation.txn.metadata.uid) : object.metadata.uid === created;
  if (!ours) return kept(`${show(place)} was deleted and created again by somebody else: it is left alone`);
  if (object.metadata.deletionTimestamp !== undefined) {
    const until = seen.at + LOOK_AGAIN;
    if (situation.now >= until) return going(readTarget(undone, refusedFor(undone)));
    const finalizers = (object.metadata.finalizers ?? []).join(", ");
    return { at: "wait", until, because: `waiting for the finalizers of ${show(place)}: ${finalizers}` };
  }
  const { uid = "", resourceVersion = "" } = object.metadata;
  return going(restoring(undone, { verb: "delete", place, preconditions: { uid, resourceVersion } }, "look"));
};

/** PUTs until nothing of ours is left in the object. */
const undoEdit = (undone: Undone, before: KubeObject): Undoing => {
  const { seen, place, change, situation, index } = undone;
  const { txn, known } = situation;
  const { object } = seen;
  if (object === undefined) return kept(`${show(place)} was deleted by somebody else`);
  if (object.metadata.uid !== before.metadata.uid)
    return kept(`${show(place)} was deleted and created again by somebody else: it is left alone`);
  const { put, conflicts } = restoration(change, place, before, object, txn.metadata);
  if (put === undefined)
    return conflicts.length === 0
      ? { at: "restored" }
      : kept(`${show(place)}: somebody else has changed ${showPaths(conflicts)} since: left as it is`);
  const puts = known.puts.get(index) ?? 0;
  if (puts >= MOST_PUTS) return kept(`${show(place)}: somebody changes it as often as it is put back`);
  return going(
    counted(restoring(undone, { verb: "update", place, body: put, manager: fieldManager(txn.metadata) }, "is-live")),
  );

  function counted(ask: Ask): Ask {
    return {
      ...ask,
      learn: (known, answer, now, sent) => {
        const after = ask.learn(known, answer, now, sent);
        return { ...after, puts: set(after.puts, index, puts + 1) };
      },
    };
  }
};

/** Values that the API server hands out, and may not be able to hand out again. */
const withoutAllocations = (before: KubeObject): KubeObject => {
  const { clusterIP: _, clusterIPs: __, healthCheckNodePort: ___, ...spec } = asObject(before["spec"]);
  const ports = Array.isArray(spec["ports"])
    ? {
        ports: spec["ports"].map((port: unknown) =>
          Object.fromEntries(Object.entries(asObject(port)).filter(([name]) => name !== "nodePort")),
        ),
      }
    : {};
  return { ...before, spec: { ...spec, ...ports } };
};

const isAllocation = (fault: Fault): boolean =>
  fault.kind === "refused" &&
  fault.code === 422 &&
  /provided (IP|port) is|already allocated|clusterIP|nodePort/i.test(fault.message);

/**
 * Creates again what was deleted: first the object, then its new uid goes into the journal, then who owned what. Values of
 * a Service that are taken meanwhile are let go, with a warning.
 */
const undoDelete = (undone: Undone, before: KubeObject): Undoing => {
  const { seen, place, journal, index, situation } = undone;
  const { txn, known, now } = situation;
  const { object } = seen;
  const created = journal.created.get(index);
  const warning = known.warnings.get(index);
  if (object === undefined)
    return created === undefined
      ? going(recreate(undone, warning === undefined ? before : withoutAllocations(before)))
      : kept(`${show(place)} was created again, and deleted again by somebody else`);
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
    return kept(`${show(place)} was created by somebody else meanwhile: it is left alone`);
  if (created === undefined) return going(checkpoint(txn, journal, { created: [index, uid] }));
  if (uid !== created) return kept(`${show(place)} was created again by somebody else meanwhile: it is left alone`);
  if (!isMarked(object, txn.metadata.uid))
    return adopt(undone, before, uid) ?? { at: "restored", ...(warning === undefined ? {} : { warning }) };
  const managedFields = recreatedOwnership(withNewOwners(txn, journal, before), object, txn.metadata.uid);
  return going(
    restoring(undone, putCall(undone, { ...object, metadata: { ...object.metadata, managedFields } }), "is-live"),
  );
};

const putCall = ({ place, situation }: Undone, body: KubeObject): Ask["call"] => ({
  verb: "update",
  place,
  manager: fieldManager(situation.txn.metadata),
  body,
});

/**
 * Makes the object, which exists again under a new uid, the owner of its dependents again: those that the Transaction has
 * deleted too, and that were restored before it. In two PUTs each, as in {@link undoEdit}.
 */
const adopt = (undone: Undone, before: KubeObject, uid: string): Undoing | undefined => {
  const { situation, journal } = undone;
  const { txn, known } = situation;
  for (const item of itemsOf(txn, known)) {
    const reborn = journal.created.get(item.index);
    if (item.change.type !== "Delete" || item.index <= undone.index || reborn === undefined) continue;
    const snapshot = snapshotOf(txn, known, journal, item.index);
    if (snapshot.at === "unread") return going(...snapshot.effects);
    if (snapshot.at !== "object" || !isOwnedBy(snapshot.object, before.metadata.uid)) continue;
    const seen = known.live.get(item.index);
    if (seen === undefined) return going(readTarget(item, refusedFor(undone)));
    const { object } = seen;
    if (object?.metadata.uid !== reborn || object.metadata.deletionTimestamp !== undefined) continue;
    const dependent: Undone = { ...undone, ...item, seen };
    const former = withNewOwners(txn, journal, snapshot.object);
    if (!isOwnedBy(object, uid)) {
      const owner = (former.metadata.ownerReferences ?? []).filter((reference) => reference.uid === uid);
      const ownerReferences = [...(object.metadata.ownerReferences ?? []), ...owner];
      const body = { ...object, metadata: { ...object.metadata, ownerReferences } };
      return going(restoring(dependent, putCall(dependent, body), "is-live"));
    }
    if (isMarked(object, txn.metadata.uid)) {
      const renamed = withNewUids(txn, journal, snapshot.object, object.metadata.managedFields ?? []);
      const live = { ...object, metadata: { ...object.metadata, managedFields: renamed } };
      const managedFields = recreatedOwnership(former, live, txn.metadata.uid);
      const body = { ...object, metadata: { ...object.metadata, managedFields } };
      return going(restoring(dependent, putCall(dependent, body), "is-live"));
    }
  }
  return undefined;
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
    learn: (known, answer, now, sent) =>
      E.isLeft(answer) && isAllocation(answer.left) && !known.warnings.has(index)
        ? {
            ...known,
            warnings: set(
              known.warnings,
              index,
              `addresses or ports were taken meanwhile, and are new: ${sentence(answer.left)}`,
            ),
          }
        : ask.learn(known, answer, now, sent),
  };
};
