// The loop: reads a Transaction, decides, runs effects, until it waits or is done.
import type { Metadata, Transaction } from "@janus/api";
import type { Api, ApiError, Discovery, KubeObject } from "@janus/kube";
import { type Requeue, defect, withFields, largeWork, objectWatches } from "@janus/runtime";
import { retryAfterOf, isAbsent, classify, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import {
  type ApiCall,
  decide,
  decideUnread,
  decideWithoutMemory,
  isUrgent,
  keptTargets,
  observe,
  type Happened,
  reportRetry,
  isDraft,
  isLarge,
  isOwn,
  decoded,
  isTerminal,
  mayLeaveResources,
  resolvedTargets,
  renewals,
  type Settings,
  type ReconcileContext,
  type Step,
  type EventSpec,
  timeLeft,
  transactions,
  FORCE_DELETED,
  withContents,
  asReleased,
  queued,
  type Watched,
} from "../../core/index.ts";
import { MAX_LARGE, MAX_READS, TARGET_WATCHES } from "../limits.ts";
import { JOBS } from "./finishing-jobs.ts";
import { effectRunner, type Failure, isFailure } from "./effect-runner.ts";
import { isEnded, namespaceOf, newTracked, queueKey, type TrackedTransaction } from "./tracked-transaction.ts";
import { trackedTransactions } from "./tracked-transactions.ts";
import { impersonation } from "./api-request.ts";
import { restingDrafts } from "./resting-drafts.ts";
import { newLockWaiters } from "./lock-waiters.ts";
import { newTelemetry, type Round, type Observers } from "../telemetry/telemetry.ts";

export interface ReconcilerOptions {
  /** The API server, for the Transactions of a namespace. */
  readonly apiOf: (namespace: string) => Api;
  /** The same for its Drafts, which must not hold up what is executed. */
  readonly draftsApiOf: (namespace: string) => Api;
  /** The same for the renewal of their locks, which waits for no other requests. */
  readonly renewalsOf: (namespace: string) => Api;
  readonly discovery: Discovery;
  readonly settings: Settings;
  readonly observers: Observers;
  /** Whether the cache has a user request that this version of the Transaction does not have; a reason to read it again. */
  readonly hasPendingRequest: (key: string, txn: Transaction) => boolean;
  /** Whether the cache no longer has it; a reason to read it again. */
  readonly mayBeDeleted: (key: string, txn: Transaction) => boolean;
  /** Whether the cache has a Transaction with this key; a reason to try again. */
  readonly mayExist: (key: string) => boolean;
  /** Adds a Transaction to the work queue at once. */
  readonly wake: (key: string) => void;
}

/** The most decisions in one reconcile, more than any Transaction needs: a defect must not flood the API server. */
const maxSteps = (txn: Transaction): number => 1000 + 20 * txn.spec.changes.length;

export interface Reconciler {
  readonly reconcile: (key: string, round: Round) => Promise<Requeue>;
  /** Renews the locks that are due, of every active Transaction whose locks are not being renewed already. */
  readonly renew: (round: Round) => Promise<void>;
  /** The metadata of an active Transaction, or of a Draft, as last read or written. */
  readonly lastKnown: (
    object: KubeObject,
  ) => Pick<Metadata, "resourceVersion" | "deletionTimestamp" | "annotations"> | undefined;
  /** Starts no further step; those that have started are completed. */
  readonly stop: () => void;
}

const DEFECT: EventSpec = {
  type: "Warning",
  reason: "RecoveryBlocked",
  message: "internal error in Janus: the Transaction is retried after a pause; see the log of the controller",
};

/** Requeues after the backoff, and not before the server's Retry-After, of which at most `most` ms are respected. */
const after = (errors: readonly ApiError[], most = Number.POSITIVE_INFINITY): Requeue => {
  const asked = Math.max(0, ...errors.map(retryAfterOf));
  return asked === 0 ? { type: "failed" } : { type: "failed", atLeast: Math.min(asked, most) };
};

const lostLocks = ({ known }: TrackedTransaction): number =>
  [...known.changes.values()].filter(({ lock }) => lock?.type === "lost").length;

const heldLocks = (all: readonly TrackedTransaction[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { txn, known } of all) {
    const { namespace } = txn.metadata;
    let held = counts.get(namespace) ?? 0;
    for (const { lock } of known.changes.values()) if (lock?.type === "held") held += 1;
    counts.set(namespace, held);
  }
  return counts;
};

/**
 * The one loop: read → decide → run effects → decide …, until the Transaction waits for something or is done.
 *
 * Guarantees: every decision is made by the core; the response to an effect is folded in before the next decision; a transient
 *             error ends the reconcile, and the Transaction is reconciled again after a pause, with the observations that are
 *             still certain.
 * Assumes:    a key is never reconciled twice at once.
 */
export const reconciler = (shell: ReconcilerOptions): Reconciler => {
  const { apiOf, draftsApiOf, renewalsOf, discovery, settings } = shell;
  const telemetry = newTelemetry(shell.observers);
  const { recordEvent } = telemetry;
  const lockWaiters = newLockWaiters();
  const large = largeWork(MAX_LARGE, namespaceOf, shell.wake);
  const fold = (one: TrackedTransaction, happened: Happened): void => {
    Object.assign(one, observe(one, happened, settings));
  };
  const onTargetChange = (uid: string, index: number, finished: KubeObject | undefined): void => {
    const one = allTracked.of(uid);
    if (one === undefined) return;
    fold(one, { type: "changed", index, finished, at: one.now() });
    shell.wake(queueKey(one.txn));
  };
  const watches = objectWatches(apiOf, onTargetChange, TARGET_WATCHES, JOBS);
  const allTracked = trackedTransactions((uid) => {
    lockWaiters.leave(uid);
    watches.leave(uid);
  });
  const drafts = restingDrafts(draftsApiOf, shell.wake);
  const stopping = new AbortController();

  /** How many are held, by namespace of their Transactions, at the last round of renewals. */
  let locks: ReadonlyMap<string, number> = new Map();

  const context = (tracked: TrackedTransaction): ReconcileContext => ({
    ...tracked,
    now: tracked.now(),
    settings,
    locksOfNamespace: locks.get(tracked.txn.metadata.namespace) ?? 0,
    queuedBefore: (lease) => lockWaiters.queuedBefore(queued(tracked.txn, tracked.known), lease),
    nextWaiter: (lease) => {
      const first = lockWaiters.first(lease)?.txn;
      return first?.metadata.uid === tracked.txn.metadata.uid ? undefined : first;
    },
  });

  const read = async (key: string): Promise<E.Either<ApiError, KubeObject>> => {
    const [namespace = "", name = ""] = key.split("/");
    return apiOf(namespace).send({ verb: "get", resource: transactions, namespace, name, purpose: "read-transaction" });
  };

  /** A Lease has no holder: the first Transaction in its queue is reconciled at once. */
  const wakeNextWaiter = (tracked: TrackedTransaction, { purpose, call: { place } }: ApiCall): void => {
    if (purpose === "release-lock") lockWaiters.leave(tracked.txn.metadata.uid);
    const next = lockWaiters.first(place);
    const other = allTracked.of(next?.txn.metadata.uid ?? "");
    if (next === undefined || other === undefined || other === tracked) return;
    fold(other, { type: "freed", awaited: next.awaited });
    shell.wake(queueKey(other.txn));
  };

  const newRunner = (apiOf: ReconcilerOptions["apiOf"]) =>
    effectRunner({
      apiOf,
      draftsApiOf,
      discovery,
      settings,
      telemetry,
      onPhaseChange: ({ txn }) => lockWaiters.leave(txn.metadata.uid),
      onLockFree: wakeNextWaiter,
    });
  const runEffects = newRunner(apiOf);
  const runRenewals = newRunner(renewalsOf);

  const requeueAfter = async (
    round: Round,
    tracked: TrackedTransaction,
    failures: readonly [Failure, ...(readonly Failure[])],
  ): Promise<Requeue> => {
    const [{ effect, error }] = failures;
    round.log("warn", "request failed, retrying the Transaction after a pause", {
      phase: tracked.txn.status.phase,
      error: messageOf(error),
    });
    fold(tracked, { type: "pausing", at: tracked.now() });
    const event = reportRetry(context(tracked), effect, error);
    if (event !== undefined && "call" in event) await runEffects(round, tracked, [event]);
    else if (event !== undefined) {
      recordEvent(round, tracked.txn, event);
      fold(tracked, { type: "reported", at: tracked.now() });
    }
    // The status cannot report it either.
    if ("call" in effect && isOwn(effect) && classify(error) === "permanent")
      recordEvent(round, tracked.txn, {
        type: "Warning",
        reason: "RecoveryBlocked",
        message: `waiting until the Transaction can be updated: ${messageOf(error)}`,
      });
    return after(
      failures.map(({ error }) => error),
      timeLeft(context(tracked)),
    );
  };

  const trackedUnder = (key: string): readonly TrackedTransaction[] =>
    allTracked.under(key).filter(({ isForceDeleted }) => !isForceDeleted);

  const forget = ({ metadata: { uid } }: Transaction): void => allTracked.forget(uid);

  /** It no longer exists. Its resources are released under a key of their own: another Transaction may have its name. */
  const cleanUpDeleted = (round: Round, tracked: TrackedTransaction): void => {
    const { uid } = tracked.txn.metadata;
    lockWaiters.leave(uid);
    // What there was of one that is an outline is not known any more, as after a restart.
    if (tracked.unreadable !== undefined || tracked.isOutline || !mayLeaveResources(tracked.txn))
      return forget(tracked.txn);
    // A terminal one may have been deleted by our own last write, which was not answered.
    if (!isTerminal(tracked.txn.status.phase)) recordEvent(round, tracked.txn, FORCE_DELETED);
    Object.assign(tracked, { txn: asReleased(tracked.txn, tracked.now()), isForceDeleted: true });
    shell.wake(`${queueKey(tracked.txn)}/${uid}`);
  };

  const decideNext = (tracked: TrackedTransaction): Step => {
    if (tracked.unreadable !== undefined) return decideUnread(context(tracked), tracked.unreadable);
    if (tracked.isForceDeleted || !isLarge(tracked)) return decide(context(tracked));
    const key = queueKey(tracked.txn);
    const isUnderWay = tracked.txn.status.phase === "Committing" || tracked.txn.status.phase === "RollingBack";
    const hasSlot = large.enter(key, {
      isUrgent: () => isUrgent(context(tracked)),
      // Changes are checkpointed, so it can resume later; of a preflight, what has a snapshot is not examined again.
      kept: isUnderWay ? "all" : keptTargets(tracked.known),
    });
    return hasSlot ? decide({ ...context(tracked), isOver: large.isOver(key) }) : decideWithoutMemory(context(tracked));
  };

  const awaitTargets = ({ txn }: TrackedTransaction, watched: readonly Watched[] | undefined): void => {
    const { uid, namespace } = txn.metadata;
    if (watched === undefined) watches.leave(uid);
    else watches.join({ uid, namespace, as: impersonation(txn) }, watched);
  };

  /** @param isStale whether it must be read again first */
  const steps = async (
    round: Round,
    tracked: TrackedTransaction,
    isStale: () => boolean,
  ): Promise<Requeue | "stale"> => {
    for (let left = maxSteps(tracked.txn); left > 0 && !stopping.signal.aborted; left -= 1) {
      if (isStale()) return "stale";
      const step = decideNext(tracked);
      for (const event of step.type === "done" ? [] : (step.events ?? [])) recordEvent(round, tracked.txn, event);
      switch (step.type) {
        case "done":
          forget(tracked.txn);
          return { type: "done" };
        case "wait":
          if (step.rests !== undefined) {
            forget(tracked.txn);
            drafts.rest(tracked.txn, step.rests);
            return step.until === Number.POSITIVE_INFINITY
              ? { type: "done" }
              : { type: "after", ms: Math.max(10, step.until - tracked.now()) };
          }
          if (step.awaited !== undefined)
            lockWaiters.join({ txn: queued(tracked.txn, tracked.known), awaited: step.awaited });
          else lockWaiters.leave(tracked.txn.metadata.uid);
          awaitTargets(tracked, step.watched);
          fold(tracked, { type: "waiting" });
          // A finished one may wait for days until it expires: its observations are dropped, and made again.
          if (tracked.unreadable === undefined && isEnded(tracked.txn)) forget(tracked.txn);
          return { type: "after", ms: Math.max(10, step.until - tracked.now()) };
        case "run": {
          if (step.watched !== undefined) awaitTargets(tracked, step.watched);
          // What a preflight has not asked by then, it asks in its next turn.
          const isOver = (): boolean => tracked.txn.status.phase === "Preparing" && large.isOver(queueKey(tracked.txn));
          const outcomes = await runEffects(round, tracked, step.effects, isOver);
          const [failure, ...others] = outcomes.filter(isFailure);
          if (failure !== undefined) return requeueAfter(round, tracked, [failure, ...others]);
          if (outcomes.includes("stale")) return "stale";
        }
      }
    }
    if (stopping.signal.aborted) return { type: "done" };
    recordEvent(round, tracked.txn, DEFECT);
    return { type: "failed" };
  };

  const reconcileLatest = async (key: string, round: Round): Promise<Requeue> => {
    for (let left = MAX_READS; left > 0; left -= 1) {
      const answer = await read(key);
      if (E.isLeft(answer)) {
        if (isAbsent(answer.left)) {
          for (const tracked of trackedUnder(key)) cleanUpDeleted(round, tracked);
          drafts.leave(key);
          // If the cache has it, no further event would trigger a reconcile, so it is retried.
          return { type: shell.mayExist(key) ? "failed" : "done" };
        }
        round.log("warn", "the Transaction cannot be read; trying again", { error: messageOf(answer.left) });
        return after([answer.left]);
      }
      const current = decoded(answer.right);
      const { uid } = current.txn.metadata;
      for (const tracked of trackedUnder(key)) if (tracked.txn.metadata.uid !== uid) cleanUpDeleted(round, tracked);
      const former = allTracked.of(uid);
      // Observations are invalid after it became readable or unreadable, was edited, or another client changed its phase.
      const same =
        former !== undefined &&
        (former.unreadable === undefined) === (current.unreadable === undefined) &&
        former.txn.metadata.generation === current.txn.metadata.generation &&
        former.txn.status.phase === current.txn.status.phase;
      const tracked: TrackedTransaction = same ? Object.assign(former, current) : newTracked(current);
      if (drafts.takeChanged(uid)) fold(tracked, { type: "render-outdated" });
      drafts.leave(key, isDraft(current.txn) ? uid : undefined);
      allTracked.work(tracked);
      try {
        // Only after the first read: the cache may be behind later ones.
        const mayBeGone = left === MAX_READS;
        const outcome = await steps(
          round,
          tracked,
          () => shell.hasPendingRequest(key, tracked.txn) || (mayBeGone && shell.mayBeDeleted(key, tracked.txn)),
        );
        if (outcome !== "stale") return outcome;
      } catch (error) {
        recordEvent(round, tracked.txn, DEFECT);
        throw error;
      }
    }
    return { type: "failed" };
  };

  const reconcile = async (key: string, round: Round): Promise<Requeue> => {
    const [, , uid] = key.split("/");
    if (uid !== undefined) return reconcileDeleted(round, uid);
    let waits = false;
    try {
      const requeue = await reconcileLatest(key, round);
      waits = requeue.type === "after";
      return requeue;
    } finally {
      large.leave(key);
      for (const tracked of trackedUnder(key)) allTracked.rest(tracked);
      // It acquires no lock before it is reconciled again, so no other Transaction waits for it.
      if (!waits) for (const { txn } of trackedUnder(key)) lockWaiters.leave(txn.metadata.uid);
    }
  };

  /** Releases the resources of a deleted one. */
  const reconcileDeleted = async (round: Round, uid: string): Promise<Requeue> => {
    const tracked = allTracked.of(uid);
    if (tracked === undefined) return { type: "done" };
    allTracked.work(tracked);
    try {
      const outcome = await steps(round, tracked, () => false);
      return outcome === "stale" ? { type: "done" } : outcome;
    } finally {
      allTracked.rest(tracked);
    }
  };

  const renewing = new Set<TrackedTransaction>();

  const renew = async (round: Round): Promise<void> => {
    locks = heldLocks(allTracked.all());
    const active = allTracked
      .all()
      .filter((tracked) => !isTerminal(tracked.txn.status.phase) && !renewing.has(tracked));
    await Promise.all(
      active.map(async (tracked) => {
        renewing.add(tracked);
        const lost = lostLocks(tracked);
        const log = withFields(round.log, { transaction: queueKey(tracked.txn) });
        try {
          await runRenewals(
            { ...round, log },
            tracked,
            renewals(context(tracked), resolvedTargets(withContents(tracked.txn, tracked.known), tracked.known)),
          );
        } catch (error) {
          log("error", "internal error in Janus, retrying the renewal of the locks", defect(error));
        } finally {
          // It may be waiting for something that takes long.
          if (lostLocks(tracked) > lost) shell.wake(queueKey(tracked.txn));
          renewing.delete(tracked);
        }
      }),
    );
  };

  const stop = (): void => {
    stopping.abort();
    watches.stop();
    drafts.stop();
  };

  const lastKnown: Reconciler["lastKnown"] = ({ metadata: { uid = "" } }) =>
    allTracked.of(uid)?.txn.metadata ?? drafts.lastKnown(uid);

  return { reconcile, renew, lastKnown, stop };
};
