import { cut } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { snapshotOf } from "../snapshots/prior-state.ts";
import { trimming } from "../state/memory-budget.ts";
import { type ApiCall, type Awaited, type Effect, type EventSpec, run, type Step } from "../state/effect.ts";
import { messageOf } from "../kubernetes/api-error.ts";
import { attempt } from "../state/retry-status.ts";
import type { Instant } from "../kubernetes/time.ts";
import { type Deferral, type Journal, type Note, stateOf } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import { changeIn, type Observations, rollbackIn, withRollback } from "../state/observations.ts";
import type { FailedAttempt } from "../state/rollback-observations.ts";
import { reacquire } from "../locks/lock-acquisition.ts";
import { lockPlace, releaseLock } from "../locks/lock-requests.ts";
import { formatRef, type ObjectRef } from "../kubernetes/kube-object.ts";
import { deletedOwners } from "../snapshots/owner-references.ts";
import { resolvedChange } from "../state/resolve-apply.ts";
import { discoveries, resolveTarget, resolvedTargets } from "../state/target-resolution.ts";
import { POLL_INTERVAL, type ReconcileContext } from "../state/reconcile-context.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";
import { undo } from "./undo.ts";
import type { UndoStep } from "./undo-context.ts";
import type { ApiError } from "@janus/types";

/** The journal of an active rollback. */
export type Back = Journal & { readonly position: { readonly direction: "back" } };

/** The next step of the rollback of one item. */
export type ItemStep =
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

/** Records how one item ended. */
export const settleItem = (
  { txn, now }: ReconcileContext,
  journal: Back,
  index: number,
  note?: Note,
  ...event: readonly EventSpec[]
): ApiCall =>
  trimming(
    checkpoint(
      txn,
      journal,
      {
        position: passed(journal, index, now),
        ...(journal.deferred.has(index) ? { resumed: index } : {}),
        ...(note === undefined ? {} : { note: [index, { ...note, error: cut(note.error, 256) }] }),
      },
      ...event,
    ),
  );

/** Defers an item that has to wait: the one before it is next. */
export const defer = (
  { txn, now }: ReconcileContext,
  journal: Back,
  index: number,
  error: string,
  behind: Pick<Deferral, "isBehind"> = {},
): ApiCall => {
  const { since } = journal.deferred.get(index) ?? journal.position;
  const deferral: Deferral = { error: cut(error, 256), since, ...behind };
  const position = passed(journal, index, now);
  const asked = trimming(checkpoint(txn, journal, { position, deferred: [index, deferral] }));
  // It may be rejected because of what earlier items wait for, as with a quota: it is retried after them.
  const again = (known: Observations): Observations => withRollback(known, index, { refusal: undefined });
  return { ...asked, onAnswer: (...answer) => again(asked.onAnswer(...answer)) };
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
export const withAttemptCounted = (index: number, effect: Effect): Effect => {
  const lost = (known: Observations, fault: ApiError, now: Instant): Observations => {
    const former =
      "onTransientFault" in effect && effect.onTransientFault !== undefined
        ? effect.onTransientFault(known, fault, now)
        : known;
    const count = (rollbackIn(known, index).failedAttempt?.count ?? 0) + 1;
    const message = `trying again to ${attempt(effect)}: ${messageOf(fault)}`;
    return withRollback(former, index, { failedAttempt: { at: now, count, message } });
  };
  return { ...effect, onTransientFault: lost };
};

/**
 * Releases of the locks that this rollback does not need any more, if the lock that it waits for is held by another
 * rollback: that one may wait for one of these. Both acquire them in the order of their own changes.
 */
const spareLocks = (
  context: ReconcileContext,
  { position, deferred }: Back,
  targets: readonly (readonly [index: number, target: ObjectRef])[],
  needed: number,
): readonly ApiCall[] => {
  const { lock } = changeIn(context.known, needed);
  if (lock?.type !== "theirs" || lock.holderState !== "rolling-back") return [];
  const isSettled = (index: number): boolean => index > position.cursor && index !== needed && !deferred.has(index);
  return targets.flatMap(([index, target]) =>
    isSettled(index) ? releaseLock(context, index, lockPlace(target, context.settings.controllerNamespace)) : [],
  );
};

/**
 * Rolls back one item, one request at a time.
 *
 * Guarantees: it takes no other lock than that of its target, and of targets that it has to adopt again; it ends
 *             as `rollback-failed` when its own time is over. Rollbacks do not wait for each other in a circle.
 *
 * @param isLast whether no item before it was deferred: a rejection may be due to those.
 */
export const rollbackItem = (context: ReconcileContext, journal: Back, index: number, isLast: boolean): ItemStep => {
  const { txn, known, now } = context;
  const change = resolvedChange(txn, known, index);
  const fail = (error: string, item?: ResolvedItem, why?: Why): ItemStep => {
    const note: Note = { type: "rollback-failed", error };
    const event = item === undefined ? [] : [ended(item, note, why)];
    return { type: "run", step: run(settleItem(context, journal, index, note, ...event)) };
  };
  const go = (...effects: readonly Effect[]): ItemStep => ({
    type: "run",
    step: run(...effects.map((effect) => withAttemptCounted(index, effect))),
  });
  const { failedAttempt: failure, refusal } = rollbackIn(known, index);
  const isOver = now >= deadlineOf(context, journal, index);
  if (failure !== undefined && now < pauseAfter(failure) && !isOver && refusal === undefined)
    return { type: "wait", until: pauseAfter(failure), because: failure.message };
  // A Delete checks all other targets for its dependents.
  const unknown = discoveries(txn, known).filter(
    ({ apiVersion, kind }) =>
      change?.type === "Delete" || (apiVersion === change?.target.apiVersion && kind === change.target.kind),
  );
  if (unknown.length > 0) return isOver ? fail(ranOut(known, index)) : go(...unknown);
  const place = resolveTarget(txn, known, index);
  if (change === undefined || E.isLeft(place))
    return fail(E.isLeft(place) ? place.left : `spec has no changes[${index}]`);
  const item: ResolvedItem = { index, change, place: place.right };
  if (isOver) return fail(`${formatRef(item.place)}: ${ranOut(known, index)}`, item);

  const locked = (needed: number): ItemStep | undefined => {
    const applied = [...resolvedTargets(txn, known)].filter(([at]) => at < journal.position.reached || at === needed);
    const locking = reacquire(context, new Map(applied), [needed]);
    if (locking.type === "acquiring") return go(...locking.effects);
    if (locking.type !== "waiting") return undefined;
    const { until, because, event, awaited } = locking;
    const effects = [...locking.effects, ...spareLocks(context, journal, applied, needed)];
    return effects.length > 0
      ? { type: "run", step: { ...run(...effects), events: [event] } }
      : { type: "wait", until, because, event, awaited };
  };
  const locking = locked(index);
  if (locking !== undefined) return locking;

  const snapshot = snapshotOf(txn, known, journal, index);
  if (snapshot.type === "unread") return go(...snapshot.effects);
  if (snapshot.type === "lost") return fail(snapshot.why, item, "RollbackConfigMapMissing");

  const undoing: UndoStep = undo(context, journal, item, snapshot.type === "object" ? snapshot.object : undefined);
  const isUnsettled = (owner: number): boolean =>
    stateOf(txn.status.items[owner]?.state ?? { type: "untouched" }, owner, journal).type !== "restored";
  switch (undoing.type) {
    case "run": {
      const { lock } = changeIn(known, index);
      const writes = undoing.effects.some(({ purpose }) => purpose === "restore");
      return lock?.type === "impossible" && writes
        ? fail(`${formatRef(item.place)}: ${lock.why}`, item)
        : go(...undoing.effects);
    }
    case "wait":
      return undoing;
    case "lock":
      return locked(undoing.index) ?? fail(`${formatRef(item.place)}: its dependents cannot be locked`, item);
    case "restored": {
      const owners = snapshot.type === "object" ? deletedOwners(txn, journal, snapshot.object).filter(isUnsettled) : [];
      const note: Note | undefined =
        undoing.warning === undefined && owners.length === 0
          ? undefined
          : { type: "restored", error: undoing.warning ?? "", ...(owners.length === 0 ? {} : { owners }) };
      // Its dependents have not lost their owner.
      const { stillThere } = undoing;
      if (stillThere !== undefined && journal.created.get(index) !== stillThere)
        return { type: "run", step: run(checkpoint(txn, journal, { created: [index, stillThere] })) };
      const settling = settleItem(context, journal, index, note, ended(item, note));
      const onAnswer: ApiCall["onAnswer"] = (known, answer, ...when) => {
        const after = settling.onAnswer(known, answer, ...when);
        return E.isRight(answer) ? { ...after, restoredAt: now } : after;
      };
      return { type: "run", step: run({ ...settling, onAnswer }) };
    }
    case "rollback-failed": {
      if (undoing.conflict === true) return fail(undoing.error, item, "ConflictDetected");
      return isLast
        ? fail(undoing.error, item)
        : { type: "run", step: run(defer(context, journal, index, undoing.error, { isBehind: true })) };
    }
  }
};

/** With the last failure. */
const ranOut = (known: Observations, index: number): string => {
  const { message } = changeIn(known, index).unchangedConflict ?? rollbackIn(known, index).failedAttempt ?? {};
  return ["its rollback timed out", message ?? []].flat().join(": ");
};
