// Rolls back one item: reads the target, undoes the change, and records how that ended.
import { cut, deletes } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { snapshotOf } from "../snapshots/prior-state.ts";
import { trimming } from "../state/memory-budget.ts";
import { type ApiCall, type Awaited, type Effect, type EventSpec, run, type Step } from "../state/effect.ts";
import { type Instant, type KubeObject } from "@janus/types";
import { type Deferral, type Journal, type Note, itemState } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import { changeIn, rollbackIn } from "../state/observations.ts";
import type { FailedAttempt } from "../state/rollback-observations.ts";
import { reacquire } from "../locks/lock-acquisition.ts";
import { lockPlace, releaseLock } from "../locks/lock-requests.ts";
import { awaitedDeletion, formatRef, type ObjectRef } from "../kubernetes/kube-object.ts";
import { deletedOwners } from "../snapshots/owner-references.ts";
import { resolvedChange } from "../state/resolve-apply.ts";
import { discoveries, resolveTarget, resolvedTargets } from "../state/target-resolution.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { itemsOf, type ResolvedItem } from "../state/resolved-changes.ts";
import { lastToRecede } from "../state/window.ts";
import { undo } from "./undo.ts";
import type { UndoStep } from "./undo-context.ts";
import { POLL_INTERVAL } from "../state/waits.ts";

/** The journal of an active rollback. */
export type Back = Journal & { readonly position: { readonly direction: "back" } };

/** The next step of the rollback of one item. `restored`: it needs nothing more, and is recorded together with others. */
export type ItemStep =
  | { readonly type: "restored" }
  | { readonly type: "run"; readonly step: Step }
  | {
      readonly type: "wait";
      readonly until: Instant;
      readonly because: string;
      readonly event?: EventSpec;
      readonly awaited?: Awaited;
    };

/**
 * Why an item is not rolled back: another client has modified it, its snapshot is missing or modified, or
 * anything else.
 */
type Why = "ConflictDetected" | "RollbackConfigMapMissing" | "RollbackFailed";

/** The event about an item that has ended. */
const ended = (
  { index: item, change, place }: ResolvedItem,
  note: Note | undefined,
  reason: Why = "RollbackFailed",
): EventSpec => {
  const label = `${change.type} ${formatRef(place)}`;
  if (note === undefined || note.error === "")
    return { type: "Normal", reason: "ItemRolledBack", item, message: `${label} was rolled back` };
  return note.type === "restored"
    ? {
        type: "Warning",
        reason: "ItemRolledBack",
        item,
        message: `${label} was rolled back, with a warning: ${note.error}`,
      }
    : { type: "Warning", reason, item, message: `${label} was not rolled back: ${note.error}` };
};

/** The position once this item needs no more work: the one before it is next, unless it was deferred. */
const passed = ({ position }: Back, index: number, now: Instant): Back["position"] => ({
  ...position,
  cursor: position.cursor === index ? index - 1 : position.cursor,
  since: now,
});

/** The events of the items that are restored, and not recorded yet. */
const unrecorded = ({ txn, known }: ReconcileContext, { position, ahead }: Back): readonly EventSpec[] =>
  itemsOf(txn, known)
    .filter(({ index }) => index > position.cursor && index <= (ahead?.from ?? position.cursor))
    .map((item) => ended(item, undefined))
    .toReversed();

/** Records how one item ended, with those that were restored before it. */
export const settleItem = (
  context: ReconcileContext,
  journal: Back,
  index: number,
  note?: Note,
  ...event: readonly EventSpec[]
): ApiCall =>
  trimming(
    checkpoint(
      context.txn,
      journal,
      {
        position: passed(journal, index, context.now),
        ...(journal.deferred.has(index) ? { resumed: index } : {}),
        ...(note === undefined ? {} : { notes: new Map([[index, { ...note, error: cut(note.error, 256) }]]) }),
      },
      ...unrecorded(context, journal),
      ...event,
    ),
  );

/** Records what is restored: before anything is waited for, and what others rely on. */
export const recordRestored = (context: ReconcileContext, journal: Back): ApiCall =>
  checkpoint(context.txn, journal, { position: journal.position }, ...unrecorded(context, journal));

/** The journal once this item is restored, which it does not record yet. */
export const withRestored = (journal: Back, index: number, now: Instant): Back => ({
  ...journal,
  position: passed(journal, index, now),
  ahead: journal.ahead ?? { from: index, created: new Map() },
});

/** Defers an item that has to wait: the one before it is next. */
export const defer = (
  context: ReconcileContext,
  journal: Back,
  index: number,
  error: string,
  behind: Pick<Deferral, "isBehind"> = {},
): ApiCall => {
  const { txn, now } = context;
  const { since } = journal.deferred.get(index) ?? journal.position;
  const deferral: Deferral = { error: cut(error, 256), since, ...behind };
  const position = passed(journal, index, now);
  const asked = trimming(
    checkpoint(txn, journal, { position, deferred: [index, deferral] }, ...unrecorded(context, journal)),
  );
  // It may be rejected because of what earlier items wait for, as with a quota: it is retried after them.
  return { ...asked, folds: [...asked.folds, { type: "refusal-cleared", index }] };
};

/**
 * The rollback of one item may take as long as applying all changes, at least ten minutes. For one that waits
 * for others, the time begins when the last one of them has ended.
 */
const deadlineOf = ({ txn }: ReconcileContext, { position, deferred }: Back, index: number): Instant => {
  const deferral = deferred.get(index);
  const since = deferral === undefined || deferral.isBehind ? position.since : deferral.since;
  return since + Math.max(txn.spec.timeout, 600_000);
};

/** The backoff after failed requests. */
const pauseAfter = ({ at, count }: FailedAttempt): Instant => at + Math.min(POLL_INTERVAL * 2 ** (count - 1), 10_000);

/** Failed requests concern this item only: the others proceed. */
export const withAttemptCounted = (index: number, effect: Effect): Effect => ({
  ...effect,
  unanswered: [...(effect.unanswered ?? []), { type: "rollback-unanswered", index }],
});

/** The rollback of one item. */
interface ItemRollback {
  readonly context: ReconcileContext;
  readonly journal: Back;
  readonly index: number;
}

const settleFailed = (
  { context, journal, index }: ItemRollback,
  note: Note,
  item?: ResolvedItem,
  why?: Why,
): ItemStep => {
  const event = item === undefined ? [] : [ended(item, note, why)];
  return { type: "run", step: run(settleItem(context, journal, index, note, ...event)) };
};

/** It ends here, and is retried with the whole rollback. */
const fail = (rollback: ItemRollback, error: string, item?: ResolvedItem, why?: Why): ItemStep =>
  settleFailed(rollback, { type: "rollback-failed", error }, item, why);

const send = ({ index }: ItemRollback, ...effects: readonly Effect[]): ItemStep => ({
  type: "run",
  step: run(...effects.map((effect) => withAttemptCounted(index, effect))),
});

const isOver = ({ context, journal, index }: ItemRollback): boolean =>
  context.now >= deadlineOf(context, journal, index);

/** Backs off after a failed request; but not when its time is over, nor if the API server has rejected it: then it ends. */
const backOff = (rollback: ItemRollback): ItemStep | undefined => {
  const { known, now } = rollback.context;
  const { failedAttempt: failure, refusal } = rollbackIn(known, rollback.index);
  return failure !== undefined && now < pauseAfter(failure) && !isOver(rollback) && refusal === undefined
    ? { type: "wait", until: pauseAfter(failure), because: failure.message }
    : undefined;
};

/** Its target. Left: what is to be done first, or why there is none. */
const locate = (rollback: ItemRollback): E.Either<ItemStep, ResolvedItem> => {
  const { context, index } = rollback;
  const { txn, known } = context;
  const change = resolvedChange(txn, known, index);
  // A Delete checks all other targets for its dependents.
  const unknown = discoveries(txn, known).filter(
    ({ apiVersion, kind }) =>
      change === undefined ||
      deletes(change) ||
      (apiVersion === change.target.apiVersion && kind === change.target.kind),
  );
  if (unknown.length > 0)
    return E.left(isOver(rollback) ? fail(rollback, ranOut(rollback)) : send(rollback, ...unknown));
  const place = resolveTarget(txn, known, index);
  if (E.isLeft(place)) return E.left(fail(rollback, place.left));
  return change === undefined
    ? E.left(fail(rollback, `spec has no changes[${index}]`))
    : E.right({ index, change, place: place.right });
};

/**
 * Releases of the locks that this rollback does not need any more, if the lock that it waits for is held by another
 * rollback: that one may wait for one of these. Both acquire them in the order of their own changes.
 */
const spareLocks = (
  context: ReconcileContext,
  { position, deferred, ahead }: Back,
  targets: readonly (readonly [index: number, target: ObjectRef])[],
  needed: number,
): readonly ApiCall[] => {
  const { lock } = changeIn(context.known, needed);
  if (lock?.type !== "theirs" || lock.holderState !== "rolling-back") return [];
  const recorded = ahead?.from ?? position.cursor;
  const isSettled = (index: number): boolean => index > recorded && index !== needed && !deferred.has(index);
  return targets.flatMap(([index, target]) =>
    isSettled(index) ? releaseLock(context, index, lockPlace(target, context.settings.controllerNamespace)) : [],
  );
};

/** Undefined once the lock of this change's target is held. */
const lock = (rollback: ItemRollback, needed: number): ItemStep | undefined => {
  const { context, journal } = rollback;
  const { txn, known } = context;
  const touched = [...resolvedTargets(txn, known)].filter(([at]) => at < journal.position.reached || at === needed);
  const locking = reacquire(context, new Map(touched), [needed]);
  if (locking.type === "acquiring") return send(rollback, ...locking.effects);
  if (locking.type !== "waiting") return undefined;
  const { until, because, event, awaited } = locking;
  const effects = [...locking.effects, ...spareLocks(context, journal, touched, needed)];
  return effects.length > 0
    ? { type: "run", step: { ...run(...effects), events: [event] } }
    : { type: "wait", until, because, event, awaited };
};

/**
 * Rolls back one item, one request at a time.
 *
 * Guarantees: it takes no other lock than that of its target, and of targets that it has to adopt again; it ends
 *             as `rollback-failed` when its own time is over. Rollbacks do not wait for each other in a circle.
 *
 * @param whenRejected defer: it may be rejected because of items that were deferred before it, so it is retried after them.
 */
export const rollbackItem = (
  context: ReconcileContext,
  journal: Back,
  index: number,
  whenRejected: "fail" | "defer",
): ItemStep => {
  const rollback: ItemRollback = { context, journal, index };
  const pausing = backOff(rollback);
  if (pausing !== undefined) return pausing;
  const located = locate(rollback);
  if (E.isLeft(located)) return located.left;
  const item = located.right;
  if (isOver(rollback)) {
    const awaited = deletionUnderWay(rollback, item.place);
    return fail(rollback, `${formatRef(item.place)}: ${ranOut(rollback, awaited)}`, item);
  }
  const locking = lock(rollback, index);
  if (locking !== undefined) return locking;
  const snapshot = snapshotOf(context.txn, context.known, journal, index);
  if (snapshot.type === "unread") return send(rollback, ...snapshot.effects);
  if (snapshot.type === "lost") return fail(rollback, snapshot.why, item, "RollbackConfigMapMissing");
  const before = snapshot.type === "object" ? snapshot.object : undefined;
  return afterUndo(rollback, item, before, undo(context, journal, item, before), whenRejected);
};

const afterUndo = (
  rollback: ItemRollback,
  item: ResolvedItem,
  before: KubeObject | undefined,
  undoing: UndoStep,
  whenRejected: "fail" | "defer",
): ItemStep => {
  const { context, journal, index } = rollback;
  switch (undoing.type) {
    case "run":
      return sendUnlessUnlocked(rollback, item, undoing.effects);
    case "wait":
      return undoing;
    case "defer":
      return journal.deferred.get(index)?.isBehind === true
        ? { type: "wait", until: context.now + POLL_INTERVAL, because: undoing.because }
        : { type: "run", step: run(defer(context, journal, index, undoing.because, { isBehind: true })) };
    case "lock":
      return (
        lock(rollback, undoing.index) ??
        fail(rollback, `${formatRef(item.place)}: its dependents cannot be locked`, item)
      );
    case "restored":
      return settleRestored(rollback, item, before, undoing);
    case "rollback-failed": {
      const { conflict, ...note } = undoing;
      if (conflict === true) return settleFailed(rollback, note, item, "ConflictDetected");
      return whenRejected === "fail"
        ? fail(rollback, undoing.error, item)
        : { type: "run", step: run(defer(context, journal, index, undoing.error, { isBehind: true })) };
    }
  }
};

/** Sends the effects, but only looks at the item where its lock cannot be had at all, as in a namespace that is being deleted. */
const sendUnlessUnlocked = (rollback: ItemRollback, item: ResolvedItem, effects: readonly Effect[]): ItemStep => {
  const observed = changeIn(rollback.context.known, rollback.index).lock;
  const isWrite = effects.some(({ purpose }) => purpose === "restore");
  return observed?.type === "impossible" && isWrite
    ? fail(rollback, `${formatRef(item.place)}: ${observed.why}`, item)
    : send(rollback, ...effects);
};

const settleRestored = (
  { context, journal, index }: ItemRollback,
  item: ResolvedItem,
  before: KubeObject | undefined,
  { warning, stillThere }: Extract<UndoStep, { type: "restored" }>,
): ItemStep => {
  const { txn } = context;
  // Its dependents have not lost their owner.
  if (stillThere !== undefined && journal.created.get(index) !== stillThere)
    return { type: "run", step: run(checkpoint(txn, journal, { created: new Map([[index, stillThere]]) })) };
  const owners = before === undefined ? [] : missingOwners(context, journal, before);
  const note: Note | undefined =
    warning === undefined && owners.length === 0
      ? undefined
      : { type: "restored", error: warning ?? "", ...(owners.length === 0 ? {} : { owners }) };
  if (note === undefined && journal.deferred.size === 0 && index > lastToRecede(txn, journal))
    return { type: "restored" };
  const settling = settleItem(context, journal, index, note, ended(item, note));
  const isBehind = journal.deferred.get(index)?.isBehind === true;
  const fold = { type: "item-restored", isBehind, isDelete: deletes(item.change) } as const;
  return { type: "run", step: run({ ...settling, folds: [...settling.folds, fold] }) };
};

/** The changes that deleted its owners and are not rolled back yet: so it has not all its owner references. */
const missingOwners = ({ txn }: ReconcileContext, journal: Back, before: KubeObject): readonly number[] =>
  deletedOwners(txn, journal, before).filter((owner) => itemState(txn, owner, journal).type !== "restored");

/** Says that its rollback timed out, with the last failure, or with what is waited for. */
const ranOut = ({ context: { known }, index }: ItemRollback, awaited?: string): string => {
  const { message } = changeIn(known, index).unchangedConflict ?? rollbackIn(known, index).failedAttempt ?? {};
  return ["its rollback timed out", message ?? awaited ?? []].flat().join(": ");
};

/** Names what a deletion that is under way waits for, by the latest read of its target. */
const deletionUnderWay = ({ context: { known }, index }: ItemRollback, place: ObjectRef): string | undefined => {
  const { object } = changeIn(known, index).target ?? {};
  return object?.metadata.deletionTimestamp === undefined ? undefined : awaitedDeletion(place, object);
};
