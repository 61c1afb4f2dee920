import { parseHolder } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { ApiCall, Awaited, Effect, EventSpec } from "../state/effect.ts";
import type { Instant } from "../kubernetes/time.ts";
import { changeIn, type LockObservation } from "../state/observations.ts";
import { type ObjectRef, formatRef } from "../kubernetes/kube-object.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { requestYield } from "./lock-yield.ts";
import {
  renewOrTakeOver,
  createLock,
  releaseIfHeld,
  observeHolder,
  lockDuration,
  lockPlace,
  observeLock,
  nextPollAt,
} from "./lock-requests.ts";

interface Wanted {
  readonly index: number;
  readonly target: ObjectRef;
  /** Of its Lease. */
  readonly place: ObjectRef;
}

/** The next request that brings us nearer to this lock; a pause where only waiting helps. */
const nextLockRequest = (
  context: ReconcileContext,
  { index, target, place }: Wanted,
): Effect | { readonly until: Instant; readonly because: string } => {
  const { known, now } = context;
  const observed = changeIn(known, index).lock;
  const lease = `Lease ${place.namespace}/${place.name}`;
  if (observed === undefined || observed.type === "free") {
    const first = context.queuedBefore(place)?.metadata;
    if (first === undefined) return createLock(context, index, place);
    const because = `waiting for ${formatRef(target)}: Transaction ${first.namespace}/${first.name} is before it in the queue (${lease})`;
    return { until: nextPollAt(context, now), because };
  }
  if (observed.type === "held" && !observed.stale) return renewOrTakeOver(context, index, place, observed);
  if (observed.type !== "theirs") return observeLock(context, index, place, false);
  const until = nextPollAt(context, observed.readAt);
  if (now >= until) return observeLock(context, index, place, false);
  const holder = parseHolder(observed.holder);
  if (holder !== undefined && observed.holderState === undefined) return observeHolder(index, holder, target);
  const isForeign = holder === undefined || observed.holderState === "foreign";
  if (isForeign ? now >= observed.expires : observed.holderState === "finished")
    return renewOrTakeOver(context, index, place, observed);
  const because = isForeign
    ? `waiting for ${formatRef(target)}: ${lease} is held by ${observed.holder}`
    : `waiting for ${formatRef(target)}: Transaction ${holder.namespace}/${holder.name} has locked it (${lease})`;
  return { until, because };
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
      /** What is done meanwhile. */
      readonly effects: readonly Effect[];
    }
  | { readonly type: "refused"; readonly problems: ReadonlyMap<number, string> };

const order = ({ place }: Wanted): string => `${place.namespace ?? ""}/${place.name}`;

/** In the one global order: namespace and name of the Lease. */
const inOrder = ({ settings }: ReconcileContext, targets: ReadonlyMap<number, ObjectRef>): readonly Wanted[] =>
  [...targets]
    .map(([index, target]) => ({ index, target, place: lockPlace(target, settings.controllerNamespace) }))
    .toSorted((a, b) => (order(a) < order(b) ? -1 : 1));

/** A lock is safe for a write when it is good for longer than the write can take. */
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
 * Takes the locks of these targets, of which none has been touched.
 *
 * Guarantees: at first all are tried side by side; as soon as one is held by another client, what comes after it in one
 *             global order is given back, and the rest is taken one by one in that order: so no two Transactions can wait
 *             for each other. One that has touched others already asks who has touched nothing to yield.
 *             A lock of a live, unfinished Transaction is never taken over; one of a finished or vanished Transaction at
 *             once; any other only when it has not changed for its whole duration by our own clock. That holds for a Lease,
 *             too, that somebody has written in the name of a Transaction without such a target. One that is free is
 *             left to who goes before us: so nobody who waits is overtaken again and again.
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
    to: nextLockRequest(context, one),
  }));
  for (const blocked of next)
    if ("until" in blocked.to) {
      const after = wanted.filter((one) => order(one) > order(blocked));
      const releases = after.flatMap(({ index, place }) => releaseIfHeld(context, index, place));
      // Who holds others already, under which changes were made, does not take these in the one order of all.
      const asking = context.txn.status.phase === "Committing" ? askFor(context, blocked.index) : [];
      return waitingFor(blocked, blocked.to, [...releases, ...asking]);
    }
  return { type: "acquiring", effects: next.flatMap(({ to }) => ("until" in to ? [] : [to])) };
};

/**
 * Takes the locks of targets again that may be half rolled back: after a crash, or when what could not be rolled back is tried again.
 *
 * Guarantees: none is ever given back; those that are ours are found and renewed side by side, whichever is needed; of those that
 *             are needed now, and that others hold, one is taken after the other in the global order, and who has touched nothing is
 *             asked to yield. One that cannot be had at all, as in a namespace that is being deleted, is left out.
 */
export const reacquire = (
  context: ReconcileContext,
  targets: ReadonlyMap<number, ObjectRef>,
  needed: readonly number[],
): Locking => {
  const { known } = context;
  const missing = inOrder(context, targets).filter(({ index }) => {
    const observed = changeIn(known, index).lock;
    return observed?.type !== "impossible" && !isSafe(observed, context);
  });
  const atOnce = missing.flatMap(({ index, place }): readonly Effect[] => {
    const observed = changeIn(known, index).lock;
    if (observed === undefined || (observed.type === "held" && observed.stale))
      return [observeLock(context, index, place, false)];
    return observed.type === "held" ? [renewOrTakeOver(context, index, place, observed)] : [];
  });
  if (atOnce.length > 0) return { type: "acquiring", effects: atOnce };
  const first = missing.find(({ index }) => needed.includes(index));
  if (first === undefined) return { type: "held" };
  const to = nextLockRequest(context, first);
  if (!("until" in to)) return { type: "acquiring", effects: [to] };
  return waitingFor(first, to, askFor(context, first.index));
};

/** Asks the holder of a lock for it, once, if that has touched nothing. */
const askFor = (context: ReconcileContext, index: number): readonly ApiCall[] => {
  const observed = changeIn(context.known, index).lock;
  if (observed?.type !== "theirs" || observed.holderState !== "untouched" || observed.yieldRequested) return [];
  const holder = parseHolder(observed.holder);
  return holder === undefined ? [] : [requestYield(context, index, holder)];
};

const renewal = (
  context: ReconcileContext,
  index: number,
  target: ObjectRef,
  observed: Extract<LockObservation, { type: "held" }>,
): ApiCall => {
  const place = lockPlace(target, context.settings.controllerNamespace);
  return observed.stale ? observeLock(context, index, place, true) : renewOrTakeOver(context, index, place, observed);
};

/**
 * Renewals that are due: before a third of the duration has passed, and not again at once after one that did not get
 * through. They go on in the background, whatever the phase.
 */
export const renewals = (context: ReconcileContext, targets: ReadonlyMap<number, ObjectRef>): readonly ApiCall[] =>
  [...targets].flatMap(([index, target]) => {
    const { known, now } = context;
    const observed = changeIn(known, index).lock;
    if (observed?.type !== "held" || now < (observed.retryAt ?? now)) return [];
    const isDue = observed.until - now <= (lockDuration(context) * 3) / 4;
    return isDue ? [renewal(context, index, target, observed)] : [];
  });

/**
 * Makes sure of locks that were taken before, perhaps by a former process.
 *
 * @returns Left: why one of them is lost. Right: what is still to be asked; nothing when all of them are safe.
 */
export const verifyHeld = (
  context: ReconcileContext,
  targets: ReadonlyMap<number, ObjectRef>,
): E.Either<string, readonly ApiCall[]> => {
  const effects: ApiCall[] = [];
  for (const [index, target] of targets) {
    const observed = changeIn(context.known, index).lock;
    if (observed?.type === "lost" || observed?.type === "impossible")
      return E.left(`the lock on ${formatRef(target)} was lost: ${observed.why}`);
    if (isSafe(observed, context)) continue;
    const place = lockPlace(target, context.settings.controllerNamespace);
    effects.push(
      observed?.type === "held" ? renewal(context, index, target, observed) : observeLock(context, index, place, true),
    );
  }
  return E.right(effects);
};
