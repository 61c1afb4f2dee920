// Acquires all locks of a Transaction, without deadlocks.
import { parseHolder } from "@janus/api";
import type { ApiCall, Awaited, Effect, EventSpec } from "../state/effect.ts";
import type { Instant } from "@janus/types";
import { changeIn } from "../state/observations.ts";
import type { LockObservation } from "../state/lock-observation.ts";
import { type ObjectRef, formatRef } from "../kubernetes/kube-object.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { requestYield } from "./lock-yield.ts";
import {
  renewOrTakeOver,
  createLock,
  releaseIfHeld,
  observeHolder,
  lockPlace,
  observeLock,
  nextPollAt,
} from "./lock-requests.ts";

interface Wanted {
  readonly index: number;
  readonly target: ObjectRef;
  /** The place of its Lease. */
  readonly place: ObjectRef;
}

/** The next request to acquire a lock; or a pause, if it has to wait. */
type NextLockStep =
  | { readonly type: "request"; readonly effect: Effect }
  | { readonly type: "wait"; readonly until: Instant; readonly because: string };

/**
 * How long one that is behind another in the queue waits before it looks again, in ms. It is woken when its turn comes, unless the
 * other one ends without having had the lock.
 */
const QUEUE_INTERVAL = 5_000;

const request = (effect: Effect): NextLockStep => ({ type: "request", effect });

const nextLockStep = (context: ReconcileContext, { index, target, place }: Wanted): NextLockStep => {
  const { known, now } = context;
  const observed = changeIn(known, index).lock;
  const lease = `Lease ${place.namespace}/${place.name}`;
  const first = context.queuedBefore(place)?.metadata;
  /** Takes one that nobody needs any more, unless another Transaction is before this one in the queue. */
  const take = (effect: Effect): NextLockStep => {
    if (first === undefined) return request(effect);
    const because = `waiting for ${formatRef(target)}: Transaction ${first.namespace}/${first.name} is before it in the queue (${lease})`;
    return { type: "wait", until: now + QUEUE_INTERVAL, because };
  };
  if (observed === undefined || observed.type === "free")
    // A former process may have acquired it: then the other one waits for this one, and both would wait for ever.
    return first !== undefined && observed === undefined && known.begun !== true
      ? request(observeLock(context, index, place))
      : take(createLock(context, index, place));
  if (observed.type === "held" && !observed.stale) return request(renewOrTakeOver(context, index, place, observed));
  if (observed.type !== "theirs") return request(observeLock(context, index, place));
  const until = nextPollAt(context, observed.readAt);
  if (now >= until) return request(observeLock(context, index, place));
  const holder = parseHolder(observed.holder);
  if (holder !== undefined && observed.holderState === undefined) return request(observeHolder(index, holder, target));
  const isForeign = holder === undefined || observed.holderState === "foreign";
  if (isForeign ? now >= observed.expires : observed.holderState === "finished")
    return take(renewOrTakeOver(context, index, place, observed));
  const because = isForeign
    ? `waiting for ${formatRef(target)}: ${lease} is held by ${observed.holder}`
    : `waiting for ${formatRef(target)}: Transaction ${holder.namespace}/${holder.name} has locked it (${lease})`;
  return { type: "wait", until, because };
};

export type Locking =
  | { readonly type: "held" }
  | { readonly type: "acquiring"; readonly effects: readonly Effect[] }
  | {
      readonly type: "waiting";
      readonly until: Instant;
      readonly because: string;
      readonly event: EventSpec;
      readonly awaited: Awaited;
      /** Requests to send meanwhile. */
      readonly effects: readonly Effect[];
    }
  | { readonly type: "refused"; readonly problems: ReadonlyMap<number, string> };

const order = ({ place }: Wanted): string => `${place.namespace ?? ""}/${place.name}`;

/** The targets in the global order: namespace and name of the Lease. */
const inOrder = ({ settings }: ReconcileContext, targets: ReadonlyMap<number, ObjectRef>): readonly Wanted[] =>
  [...targets]
    .map(([index, target]) => ({ index, target, place: lockPlace(target, settings.controllerNamespace) }))
    .toSorted((a, b) => (order(a) < order(b) ? -1 : 1));

/** A lock is safe for a write if it is valid for longer than the write can take. */
export const isSafe = (observed: LockObservation | undefined, { now, settings }: ReconcileContext): boolean =>
  observed?.type === "held" && observed.until > now + settings.writeTimeout;

const waitingFor = (
  { index, place }: Wanted,
  { until, because }: { readonly until: Instant; readonly because: string },
  effects: readonly Effect[],
): Locking => ({
  type: "waiting",
  until,
  because,
  awaited: { index, lease: place },
  event: { type: "Normal", reason: "LockWaiting", message: because },
  effects,
});

/**
 * Acquires the locks of these targets, none of which was modified.
 *
 * Guarantees: at first all are acquired concurrently. As soon as another client holds one, those after it in the
 *             global order are released, and the rest is acquired one by one in that order: so no two
 *             Transactions can wait for each other. A Transaction that has applied changes already requests one
 *             that has not to yield. A lock of an active Transaction is never taken over; one of a finished or
 *             deleted Transaction at once; any other only if it has not changed for its whole duration, by our
 *             own clock. The latter also holds for a Lease that another client has written in the name of a
 *             Transaction without such a target. A free lock is left to Transactions that are before this one in
 *             the queue: so no Transaction is overtaken again and again.
 */
export const acquire = (context: ReconcileContext, targets: ReadonlyMap<number, ObjectRef>): Locking => {
  const { known } = context;
  const wanted = inOrder(context, targets);
  const missing = wanted.filter(({ index }) => !isSafe(changeIn(known, index).lock, context));
  const problems = new Map(
    missing.flatMap(({ index, target }) => {
      const observed = changeIn(known, index).lock;
      return observed?.type === "impossible" ? [[index, `${formatRef(target)}: ${observed.why}`] as const] : [];
    }),
  );
  if (problems.size > 0) return { type: "refused", problems };
  const first = missing[0];
  if (first === undefined) return { type: "held" };
  const isBlocked = ({ index, place }: Wanted): boolean =>
    changeIn(known, index).lock?.type === "theirs" || context.queuedBefore(place) !== undefined;
  const next = (missing.some(isBlocked) ? [first] : missing).map((one) => ({
    ...one,
    step: nextLockStep(context, one),
  }));
  for (const { step, ...blocked } of next)
    if (step.type === "wait") {
      const after = wanted.filter((one) => order(one) > order(blocked));
      const releases = after.flatMap(({ index, place }) => releaseIfHeld(context, index, place));
      // A Transaction that holds locks of applied changes does not acquire these in the global order.
      const asking = context.txn.status.phase === "Committing" ? askFor(context, blocked.index) : [];
      return waitingFor(blocked, step, [...releases, ...asking]);
    }
  return { type: "acquiring", effects: next.flatMap(({ step }) => (step.type === "request" ? [step.effect] : [])) };
};

/**
 * Acquires the locks of targets that may be partly rolled back: after a crash, or when the rollback is retried.
 *
 * Guarantees: none is released. Those that are ours are found and renewed concurrently; one that cannot be renewed
 *             holds up only what needs it. Those that are needed now and held by others are acquired one after the
 *             other in the global order, and holders that have applied nothing are requested to yield. One that
 *             cannot be acquired at all, as in a terminating namespace, is left out.
 */
export const reacquire = (
  context: ReconcileContext,
  targets: ReadonlyMap<number, ObjectRef>,
  needed: readonly number[],
): Locking => {
  const { known, now } = context;
  const missing = inOrder(context, targets).filter(({ index }) => {
    const observed = changeIn(known, index).lock;
    return observed?.type !== "impossible" && !isSafe(observed, context);
  });
  const isPausing = (observed: LockObservation | undefined): boolean =>
    observed?.type === "held" && now < (observed.retryAt ?? now);
  const atOnce = missing.flatMap(({ index, place }): readonly Effect[] => {
    const observed = changeIn(known, index).lock;
    if (isPausing(observed) && !needed.includes(index)) return [];
    if (observed === undefined || (observed.type === "held" && observed.stale))
      return [observeLock(context, index, place)];
    return observed.type === "held" ? [renewOrTakeOver(context, index, place, observed)] : [];
  });
  if (atOnce.length > 0) return { type: "acquiring", effects: atOnce };
  const first = missing.find(({ index }) => needed.includes(index));
  if (first === undefined) return { type: "held" };
  const step = nextLockStep(context, first);
  if (step.type === "request") return { type: "acquiring", effects: [step.effect] };
  return waitingFor(first, step, askFor(context, first.index));
};

/** Requests the holder of a lock to yield, once, if it has applied nothing. */
const askFor = (context: ReconcileContext, index: number): readonly ApiCall[] => {
  const observed = changeIn(context.known, index).lock;
  if (observed?.type !== "theirs" || observed.holderState !== "untouched" || observed.yieldRequested) return [];
  const holder = parseHolder(observed.holder);
  return holder === undefined ? [] : [requestYield(context, index, holder)];
};
