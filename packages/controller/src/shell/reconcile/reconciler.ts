import type { Metadata, Transaction } from "@janus/api";
import type { Api, ApiError, Discovery, KubeObject, Requeue } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import {
  type ApiCall,
  atRest,
  awaitMemory,
  decide,
  decideUnread,
  freed,
  reportRetry,
  isAbsent,
  isLarge,
  isTerminal,
  leavesBehind,
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
  VANISHED,
  vanished,
  type QueuedTransaction,
} from "../../core/index.ts";
import { effectRunner, type Failure, isFailure, isOwn } from "./effect-runner.ts";
import { type TrackedTransaction, isEnded, keyOf, namespaceOf, newCell, understood } from "./tracked-transaction.ts";
import { largeWork } from "./large-work.ts";
import { newLockWaiters } from "./lock-waiters.ts";
import { defect, saying } from "../process/log.ts";
import { newTelemetry, type Round, type Witness } from "../telemetry/telemetry.ts";

export interface ReconcilerOptions {
  /** For what is done for the Transactions of a namespace. */
  readonly apiOf: (namespace: string) => Api;
  /** The same for the renewal of their locks, which waits for nothing else. */
  readonly renewalsOf: (namespace: string) => Api;
  readonly discovery: Discovery;
  readonly settings: Settings;
  readonly witness: Witness;
  /** Whether somebody seems to want something of this Transaction that this version of it does not say; only a reason to look. */
  readonly seemsCalled: (key: string, txn: Transaction) => boolean;
  /** Whether it seems to be there no more; only a reason to look, too. */
  readonly seemsGone: (key: string, txn: Transaction) => boolean;
  /** Whether there seems to be one of this key; only a reason to look again. */
  readonly seemsThere: (key: string) => boolean;
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
  message:
    "a defect in Janus keeps it where it is; it is tried again after a pause, and the controller's log tells more",
};

/** After a pause; and not before the server wants to hear of us again, though no later than in `most` ms. */
const after = (errors: readonly ApiError[], most = Number.POSITIVE_INFINITY): Requeue => {
  const asked = errors.flatMap((error) => (error.type === "refused" ? (error.retryAfter ?? []) : []));
  return asked.length === 0 ? { type: "failed" } : { type: "failed", atLeast: Math.min(Math.max(...asked), most) };
};

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
  const tells = newTelemetry(shell.witness);
  const { tell } = tells;
  const cells = new Map<string, TrackedTransaction>();
  const line = newLockWaiters();
  const large = largeWork(LARGE_AT_ONCE, namespaceOf, shell.wake);
  const stopping = new AbortController();

  const situation = (cell: TrackedTransaction): ReconcileContext => ({
    ...cell,
    now: cell.now(),
    settings,
    ahead: (lease) => line.ahead(inLine(cell), lease),
    wanted: (lease) => {
      const first = line.first(lease)?.txn;
      return first?.metadata.uid === cell.txn.metadata.uid ? undefined : first;
    },
  });

  const read = async (key: string): Promise<E.Either<ApiError, KubeObject>> => {
    const [namespace = "", name = ""] = key.split("/");
    return apiOf(namespace).send({ verb: "get", resource: transactions, namespace, name, purpose: "read-transaction" });
  };

  /** Nobody holds a Lease: whose turn it is has it at once. */
  const wakeNextWaiter = (cell: TrackedTransaction, { purpose, call: { place } }: ApiCall): void => {
    if (purpose === "release-lock") line.leave(cell.txn.metadata.uid);
    const next = line.first(place);
    const other = cells.get(next?.txn.metadata.uid ?? "");
    if (next === undefined || other === undefined || other === cell) return;
    other.known = freed(other.known, next.awaited);
    shell.wake(keyOf(other.txn));
  };

  const carrying = (apiOf: ReconcilerOptions["apiOf"]) =>
    effectRunner({
      apiOf,
      discovery,
      narrator: tells,
      moves: ({ txn }) => line.leave(txn.metadata.uid),
      seesFree: wakeNextWaiter,
    });
  const carryOut = carrying(apiOf);
  const carryOutRenewals = carrying(renewalsOf);

  const requeueAfter = async (
    round: Round,
    cell: TrackedTransaction,
    failures: readonly [Failure, ...(readonly Failure[])],
  ): Promise<Requeue> => {
    const [{ effect, error }] = failures;
    round.log("warn", "a request did not succeed; the Transaction is taken up again after a pause", {
      phase: cell.txn.status.phase,
      error: messageOf(error),
    });
    cell.known = { ...cell.known, retryingSince: cell.known.retryingSince ?? { since: cell.now() } };
    const telling = reportRetry(situation(cell), effect, error);
    if (telling !== undefined && "call" in telling) await carryOut(round, cell, [telling]);
    else if (telling !== undefined) {
      tell(round, cell.txn, telling);
      cell.known = reportedRetry(cell.known, cell.now());
    }
    // Then the status tells nothing, either.
    if ("call" in effect && isOwn(effect) && classify(error) === "permanent")
      tell(round, cell.txn, {
        type: "Warning",
        reason: "RecoveryBlocked",
        message: `it waits until it can be written: ${messageOf(error)}`,
      });
    Object.assign(cell, atRest(cell));
    return after(
      failures.map(({ error }) => error),
      timeLeft(situation(cell)),
    );
  };

  const named = (key: string): readonly TrackedTransaction[] =>
    [...cells.values()].filter(({ txn, hasVanished }) => keyOf(txn) === key && !hasVanished);

  const forget = ({ metadata: { uid } }: Transaction): void => {
    cells.delete(uid);
    line.leave(uid);
  };

  /** It is there no more. What it may leave behind is taken away under a key of its own: another one may have its name. */
  const cleanUpDeleted = (round: Round, cell: TrackedTransaction): void => {
    const { uid } = cell.txn.metadata;
    line.leave(uid);
    if (cell.unreadable !== undefined || !leavesBehind(cell.txn)) return forget(cell.txn);
    // One that was over may have gone with our own last write to it, which was not answered.
    if (!isTerminal(cell.txn.status.phase)) tell(round, cell.txn, VANISHED);
    Object.assign(cell, { txn: vanished(cell.txn, cell.now()), hasVanished: true });
    shell.wake(`${keyOf(cell.txn)}/${uid}`);
  };

  const next = (cell: TrackedTransaction): Step => {
    if (cell.unreadable !== undefined) return decideUnread(situation(cell), cell.unreadable);
    // Every change is checkpointed; what was examined would have to be examined again.
    const givesWay = cell.txn.status.phase === "Committing" || cell.txn.status.phase === "RollingBack";
    const mayGoOn = cell.hasVanished || !isLarge(cell) || large.enter(keyOf(cell.txn), givesWay);
    return mayGoOn ? decide(situation(cell)) : awaitMemory(situation(cell));
  };

  /** @param isStale whether there is a reason to read it again first */
  const steps = async (round: Round, cell: TrackedTransaction, isStale: () => boolean): Promise<Requeue | "stale"> => {
    for (let left = mostSteps(cell.txn); left > 0 && !stopping.signal.aborted; left -= 1) {
      if (isStale()) return "stale";
      const step = next(cell);
      for (const telling of step.type === "done" ? [] : (step.tell ?? [])) tell(round, cell.txn, telling);
      switch (step.type) {
        case "done":
          forget(cell.txn);
          return { type: "done" };
        case "wait":
          Object.assign(cell, atRest(cell));
          if (step.awaited !== undefined) line.join({ txn: inLine(cell), awaited: step.awaited });
          else line.leave(cell.txn.metadata.uid);
          cell.known = withoutRetry(cell.known);
          // One that has ended may wait for days, until it expires, say; what has to be known then is learned again.
          if (cell.unreadable === undefined && isEnded(cell.txn)) forget(cell.txn);
          return { type: "after", ms: Math.max(10, step.until - cell.now()) };
        case "run": {
          const outcomes = await carryOut(round, cell, step.effects);
          const [failure, ...others] = outcomes.filter(isFailure);
          if (failure !== undefined) return requeueAfter(round, cell, [failure, ...others]);
          if (outcomes.includes("stale")) return "stale";
        }
      }
    }
    if (stopping.signal.aborted) return { type: "done" };
    tell(round, cell.txn, DEFECT);
    return { type: "failed" };
  };

  const takeUp = async (key: string, round: Round): Promise<Requeue> => {
    for (let left = MOST_READS; left > 0; left -= 1) {
      const answer = await read(key);
      if (E.isLeft(answer)) {
        if (isAbsent(answer.left)) {
          for (const cell of named(key)) cleanUpDeleted(round, cell);
          // Nobody would say so again of one that is there after all.
          return { type: shell.seemsThere(key) ? "failed" : "done" };
        }
        round.log("warn", "the Transaction cannot be read; trying again", { error: messageOf(answer.left) });
        return after([answer.left]);
      }
      const current = understood(answer.right);
      const { uid } = current.txn.metadata;
      for (const cell of named(key)) if (cell.txn.metadata.uid !== uid) cleanUpDeleted(round, cell);
      const former = cells.get(uid);
      // What was known before it could not be read, or while it could not, says nothing of how it is now; nor what was known
      // before another client moved it on.
      const same =
        former !== undefined &&
        (former.unreadable === undefined) === (current.unreadable === undefined) &&
        former.txn.status.phase === current.txn.status.phase;
      const cell: TrackedTransaction = same ? Object.assign(former, current) : newCell(current);
      cells.set(uid, cell);
      try {
        // Seen once that it is there, it is not looked for again: the watch may be late.
        const mayBeGone = left === MOST_READS;
        const outcome = await steps(
          round,
          cell,
          () => shell.seemsCalled(key, cell.txn) || (mayBeGone && shell.seemsGone(key, cell.txn)),
        );
        if (outcome !== "stale") return outcome;
      } catch (error) {
        tell(round, cell.txn, DEFECT);
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
    const cell = cells.get(uid);
    const outcome = cell === undefined ? "stale" : await steps(round, cell, () => false);
    return outcome === "stale" ? { type: "done" } : outcome;
  };

  const renewing = new Set<TrackedTransaction>();

  const renew = async (round: Round): Promise<void> => {
    const active = [...cells.values()].filter((cell) => !isTerminal(cell.txn.status.phase) && !renewing.has(cell));
    await Promise.all(
      active.map(async (cell) => {
        renewing.add(cell);
        const log = saying(round.log, { transaction: keyOf(cell.txn) });
        try {
          await carryOutRenewals(
            { ...round, log },
            cell,
            renewals(situation(cell), resolvedTargets(cell.txn, cell.known)),
          );
        } catch (error) {
          log("error", "a defect in Janus; the locks are renewed later", defect(error));
        } finally {
          renewing.delete(cell);
        }
      }),
    );
  };

  const lastKnown = ({ metadata: { uid = "" } }: KubeObject): Metadata | undefined => cells.get(uid)?.txn.metadata;

  return { reconcile, renew, lastKnown: lastKnown, stop: () => stopping.abort() };
};
