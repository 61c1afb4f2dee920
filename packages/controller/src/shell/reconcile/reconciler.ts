import type { Metadata, Transaction } from "@janus/api";
import type { Api, ApiError, Discovery, KubeObject, Requeue } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import {
  type ApiCall,
  atRest,
  awaitMemory,
  decide,
  decideUnread,
  withFreedLock,
  reportRetry,
  isAbsent,
  isLarge,
  isTerminal,
  mayLeaveResources,
  classify,
  resolvedTargets,
  renewals,
  messageOf,
  type Settings,
  type ReconcileContext,
  type Step,
  type EventSpec,
  timeLeft,
  reportedRetry,
  transactions,
  withoutRetry,
  FORCE_DELETED,
  asReleased,
  type QueuedTransaction,
  type Watched,
  withoutRead,
} from "../../core/index.ts";
import { effectRunner, type Failure, isFailure, isOwn } from "./effect-runner.ts";
import { type TrackedTransaction, isEnded, keyOf, namespaceOf, newTracked, understood } from "./tracked-transaction.ts";
import { impersonation } from "./api-request.ts";
import { largeWork } from "./large-work.ts";
import { targetWatches } from "./target-watches.ts";
import { newLockWaiters } from "./lock-waiters.ts";
import { defect, saying } from "../process/log.ts";
import { newTelemetry, type Round, type Observers } from "../telemetry/telemetry.ts";

export interface ReconcilerOptions {
  /** For what is done for the Transactions of a namespace. */
  readonly apiOf: (namespace: string) => Api;
  /** The same for the renewal of their locks, which waits for nothing else. */
  readonly renewalsOf: (namespace: string) => Api;
  readonly discovery: Discovery;
  readonly settings: Settings;
  readonly observers: Observers;
  /** Whether somebody seems to want something of this Transaction that this version of it does not say; only a reason to look. */
  readonly hasPendingRequest: (key: string, txn: Transaction) => boolean;
  /** Whether it seems to be there no more; only a reason to look, too. */
  readonly mayBeDeleted: (key: string, txn: Transaction) => boolean;
  /** Whether there seems to be one of this key; only a reason to look again. */
  readonly mayExist: (key: string) => boolean;
  /** Has a Transaction taken up at once. */
  readonly wake: (key: string) => void;
}

/** More decisions in one round than any Transaction needs: a defect must not become a storm of requests. */
const mostSteps = (txn: Transaction): number => 1000 + 20 * txn.spec.changes.length;

/** Large Transactions that are worked on at the same time: so much memory there has to be. */
const LARGE_AT_ONCE = 4;

/** How often a Transaction is read again in one round because another client has written it meanwhile. */
const MOST_READS = 10;

export interface Reconciler {
  readonly reconcile: (key: string, round: Round) => Promise<Requeue>;
  /** Renews the locks that are due, of every Transaction under way whose locks are not being renewed already. */
  readonly renew: (round: Round) => Promise<void>;
  /** Of the version that was read or written last of a Transaction under way. */
  readonly lastKnown: (object: KubeObject) => Metadata | undefined;
  /** No further step is begun; what is under way is finished. */
  readonly stop: () => void;
}

const DEFECT: EventSpec = {
  type: "Warning",
  reason: "RecoveryBlocked",
  message: "internal error in Janus: the Transaction is retried after a pause; see the log of the controller",
};

/** After a pause; and not before the server wants to hear of us again, though no later than in `most` ms. */
const after = (errors: readonly ApiError[], most = Number.POSITIVE_INFINITY): Requeue => {
  const asked = errors.flatMap((error) => (error.type === "refused" ? (error.retryAfter ?? []) : []));
  return asked.length === 0 ? { type: "failed" } : { type: "failed", atLeast: Math.min(Math.max(...asked), most) };
};

const lostLocks = ({ known }: TrackedTransaction): number =>
  [...known.changes.values()].filter(({ lock }) => lock?.type === "lost").length;

const inLine = ({ txn, known: { yieldedAt: behind } }: TrackedTransaction): QueuedTransaction =>
  behind === undefined ? txn : { ...txn, behind };

/**
 * The one loop: read → decide → run effects → decide …, until the Transaction waits for something or is done.
 *
 * Guarantees: every decision is made by the core; an effect's answer is folded in before the next decision; a request that
 *             was not answered, or that something transient refused, ends this round, and the Transaction is taken up again
 *             after a pause with what is known for certain.
 * Assumes:    a key is never worked on twice at once.
 */
export const reconciler = (shell: ReconcilerOptions): Reconciler => {
  const { apiOf, renewalsOf, discovery, settings } = shell;
  const telemetry = newTelemetry(shell.observers);
  const { tell } = telemetry;
  const allTracked = new Map<string, TrackedTransaction>();
  const line = newLockWaiters();
  const large = largeWork(LARGE_AT_ONCE, namespaceOf, shell.wake);
  const watches = targetWatches(apiOf, (uid, index) => {
    const tracked = allTracked.get(uid);
    if (tracked === undefined) return;
    tracked.known = withoutRead(tracked.known, index);
    shell.wake(keyOf(tracked.txn));
  });
  const stopping = new AbortController();

  const context = (tracked: TrackedTransaction): ReconcileContext => ({
    ...tracked,
    now: tracked.now(),
    settings,
    queuedBefore: (lease) => line.queuedBefore(inLine(tracked), lease),
    nextWaiter: (lease) => {
      const first = line.first(lease)?.txn;
      return first?.metadata.uid === tracked.txn.metadata.uid ? undefined : first;
    },
  });

  const read = async (key: string): Promise<E.Either<ApiError, KubeObject>> => {
    const [namespace = "", name = ""] = key.split("/");
    return apiOf(namespace).send({ verb: "get", resource: transactions, namespace, name, purpose: "read-transaction" });
  };

  /** Nobody holds a Lease: whose turn it is has it at once. */
  const wakeNextWaiter = (tracked: TrackedTransaction, { purpose, call: { place } }: ApiCall): void => {
    if (purpose === "release-lock") line.leave(tracked.txn.metadata.uid);
    const next = line.first(place);
    const other = allTracked.get(next?.txn.metadata.uid ?? "");
    if (next === undefined || other === undefined || other === tracked) return;
    other.known = withFreedLock(other.known, next.awaited);
    shell.wake(keyOf(other.txn));
  };

  const carrying = (apiOf: ReconcilerOptions["apiOf"]) =>
    effectRunner({
      apiOf,
      discovery,
      telemetry: telemetry,
      onPhaseChange: ({ txn }) => line.leave(txn.metadata.uid),
      onLockFree: wakeNextWaiter,
    });
  const carryOut = carrying(apiOf);
  const carryOutRenewals = carrying(renewalsOf);

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
    tracked.known = { ...tracked.known, retryingSince: tracked.known.retryingSince ?? { since: tracked.now() } };
    const event = reportRetry(context(tracked), effect, error);
    if (event !== undefined && "call" in event) await carryOut(round, tracked, [event]);
    else if (event !== undefined) {
      tell(round, tracked.txn, event);
      tracked.known = reportedRetry(tracked.known, tracked.now());
    }
    // Then the status tells nothing, either.
    if ("call" in effect && isOwn(effect) && classify(error) === "permanent")
      tell(round, tracked.txn, {
        type: "Warning",
        reason: "RecoveryBlocked",
        message: `waiting until the Transaction can be updated: ${messageOf(error)}`,
      });
    Object.assign(tracked, atRest(tracked));
    return after(
      failures.map(({ error }) => error),
      timeLeft(context(tracked)),
    );
  };

  const named = (key: string): readonly TrackedTransaction[] =>
    [...allTracked.values()].filter(({ txn, isForceDeleted }) => keyOf(txn) === key && !isForceDeleted);

  const forget = ({ metadata: { uid } }: Transaction): void => {
    allTracked.delete(uid);
    line.leave(uid);
    watches.leave(uid);
  };

  /** It is there no more. What it may leave behind is taken away under a key of its own: another one may have its name. */
  const cleanUpDeleted = (round: Round, tracked: TrackedTransaction): void => {
    const { uid } = tracked.txn.metadata;
    line.leave(uid);
    if (tracked.unreadable !== undefined || !mayLeaveResources(tracked.txn)) return forget(tracked.txn);
    // One that was over may have gone with our own last write to it, which was not answered.
    if (!isTerminal(tracked.txn.status.phase)) tell(round, tracked.txn, FORCE_DELETED);
    Object.assign(tracked, { txn: asReleased(tracked.txn, tracked.now()), isForceDeleted: true });
    shell.wake(`${keyOf(tracked.txn)}/${uid}`);
  };

  const next = (tracked: TrackedTransaction): Step => {
    if (tracked.unreadable !== undefined) return decideUnread(context(tracked), tracked.unreadable);
    // Every change is checkpointed; what was examined would have to be examined again.
    const yields = tracked.txn.status.phase === "Committing" || tracked.txn.status.phase === "RollingBack";
    const mayGoOn = tracked.isForceDeleted || !isLarge(tracked) || large.enter(keyOf(tracked.txn), yields);
    return mayGoOn ? decide(context(tracked)) : awaitMemory(context(tracked));
  };

  const awaitTargets = ({ txn }: TrackedTransaction, watched: readonly Watched[] | undefined): void => {
    const { uid, namespace } = txn.metadata;
    if (watched === undefined) watches.leave(uid);
    else watches.join({ uid, namespace, as: impersonation(txn) }, watched);
  };

  /** @param isStale whether there is a reason to read it again first */
  const steps = async (
    round: Round,
    tracked: TrackedTransaction,
    isStale: () => boolean,
  ): Promise<Requeue | "stale"> => {
    for (let left = mostSteps(tracked.txn); left > 0 && !stopping.signal.aborted; left -= 1) {
      if (isStale()) return "stale";
      const step = next(tracked);
      for (const event of step.type === "done" ? [] : (step.events ?? [])) tell(round, tracked.txn, event);
      switch (step.type) {
        case "done":
          forget(tracked.txn);
          return { type: "done" };
        case "wait":
          Object.assign(tracked, atRest(tracked));
          if (step.awaited !== undefined) line.join({ txn: inLine(tracked), awaited: step.awaited });
          else line.leave(tracked.txn.metadata.uid);
          awaitTargets(tracked, step.watched);
          tracked.known = withoutRetry(tracked.known);
          // One that has ended may wait for days, until it expires, say; what has to be known then is learned again.
          if (tracked.unreadable === undefined && isEnded(tracked.txn)) forget(tracked.txn);
          return { type: "after", ms: Math.max(10, step.until - tracked.now()) };
        case "run": {
          const outcomes = await carryOut(round, tracked, step.effects);
          const [failure, ...others] = outcomes.filter(isFailure);
          if (failure !== undefined) return requeueAfter(round, tracked, [failure, ...others]);
          if (outcomes.includes("stale")) return "stale";
        }
      }
    }
    if (stopping.signal.aborted) return { type: "done" };
    tell(round, tracked.txn, DEFECT);
    return { type: "failed" };
  };

  const takeUp = async (key: string, round: Round): Promise<Requeue> => {
    for (let left = MOST_READS; left > 0; left -= 1) {
      const answer = await read(key);
      if (E.isLeft(answer)) {
        if (isAbsent(answer.left)) {
          for (const tracked of named(key)) cleanUpDeleted(round, tracked);
          // Nobody would say so again of one that is there after all.
          return { type: shell.mayExist(key) ? "failed" : "done" };
        }
        round.log("warn", "the Transaction cannot be read; trying again", { error: messageOf(answer.left) });
        return after([answer.left]);
      }
      const current = understood(answer.right);
      const { uid } = current.txn.metadata;
      for (const tracked of named(key)) if (tracked.txn.metadata.uid !== uid) cleanUpDeleted(round, tracked);
      const former = allTracked.get(uid);
      // What was known before it could not be read, or while it could not, says nothing of how it is now; nor what was known
      // before another client moved it on.
      const same =
        former !== undefined &&
        (former.unreadable === undefined) === (current.unreadable === undefined) &&
        former.txn.status.phase === current.txn.status.phase;
      const tracked: TrackedTransaction = same ? Object.assign(former, current) : newTracked(current);
      allTracked.set(uid, tracked);
      try {
        // Seen once that it is there, it is not looked for again: the watch may be late.
        const mayBeGone = left === MOST_READS;
        const outcome = await steps(
          round,
          tracked,
          () => shell.hasPendingRequest(key, tracked.txn) || (mayBeGone && shell.mayBeDeleted(key, tracked.txn)),
        );
        if (outcome !== "stale") return outcome;
      } catch (error) {
        tell(round, tracked.txn, DEFECT);
        throw error;
      }
    }
    return { type: "failed" };
  };

  const reconcile = async (key: string, round: Round): Promise<Requeue> => {
    const [, , uid] = key.split("/");
    if (uid !== undefined) return lastSteps(round, uid);
    let waits = false;
    try {
      const requeue = await takeUp(key, round);
      waits = requeue.type === "after";
      return requeue;
    } finally {
      large.leave(key);
      // It takes no lock before it is tried again, so nobody is to wait for that.
      if (!waits) for (const { txn } of named(key)) line.leave(txn.metadata.uid);
    }
  };

  /** Of one that has vanished. */
  const lastSteps = async (round: Round, uid: string): Promise<Requeue> => {
    const tracked = allTracked.get(uid);
    const outcome = tracked === undefined ? "stale" : await steps(round, tracked, () => false);
    return outcome === "stale" ? { type: "done" } : outcome;
  };

  const renewing = new Set<TrackedTransaction>();

  const renew = async (round: Round): Promise<void> => {
    const active = [...allTracked.values()].filter(
      (tracked) => !isTerminal(tracked.txn.status.phase) && !renewing.has(tracked),
    );
    await Promise.all(
      active.map(async (tracked) => {
        renewing.add(tracked);
        const lost = lostLocks(tracked);
        const log = saying(round.log, { transaction: keyOf(tracked.txn) });
        try {
          await carryOutRenewals(
            { ...round, log },
            tracked,
            renewals(context(tracked), resolvedTargets(tracked.txn, tracked.known)),
          );
        } catch (error) {
          log("error", "internal error in Janus, retrying the renewal of the locks", defect(error));
        } finally {
          // It may wait for something that takes long.
          if (lostLocks(tracked) > lost) shell.wake(keyOf(tracked.txn));
          renewing.delete(tracked);
        }
      }),
    );
  };

  const stop = (): void => {
    stopping.abort();
    watches.stop();
  };

  const lastKnown = ({ metadata: { uid = "" } }: KubeObject): Metadata | undefined => allTracked.get(uid)?.txn.metadata;

  return { reconcile, renew, lastKnown: lastKnown, stop };
};
