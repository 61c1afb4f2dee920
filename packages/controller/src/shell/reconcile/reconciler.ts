// Reconciles Transactions: the loop of the runtime, with the watches, the queues for locks, the Drafts and the telemetry around it.
import { type Metadata, type Transaction, transactions } from "@janus/api";
import type { Discovery, KubeObject } from "@janus/kube";
import {
  defect,
  type Failure,
  objectWatches,
  reconcileKeys,
  type Requeue,
  type Round,
  type TrackedObject,
  withFields,
} from "@janus/runtime/parts";
import { classify, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import {
  type ApiCall,
  changeIn,
  type Effect,
  type EventSpec,
  FORCE_DELETED,
  type Happened,
  isDraft,
  isOwn,
  isTerminal,
  type Memory,
  queued,
  type ReconcileContext,
  renewals,
  reportRetry,
  resolvedTargets,
  resting,
  transactionController,
  type Settings,
  type Step,
  timeLeft,
  type Watched,
  withContents,
} from "../../core/index.ts";
import { TARGET_WATCHES } from "../limits.ts";
import { newTelemetry, type Observers } from "../telemetry/telemetry.ts";
import { impersonation } from "./api-request.ts";
import { JOBS } from "./finishing-jobs.ts";
import { newLockWaiters } from "./lock-waiters.ts";
import { type ApiOf, performing } from "./perform.ts";
import { queueKey } from "./queue-key.ts";
import { restingDrafts } from "./resting-drafts.ts";

type Tracked = TrackedObject<Memory>;

export interface ReconcilerOptions {
  /** The API server, for the Transactions of a namespace. */
  readonly apiOf: ApiOf;
  /** The same for its Drafts, which must not hold up what is executed. */
  readonly draftsApiOf: ApiOf;
  /** The same for the renewal of their locks, which waits for no other requests. */
  readonly renewalsOf: ApiOf;
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

const lostLocks = ({ memory: { known } }: Tracked): number =>
  [...known.changes.values()].filter(({ lock }) => lock?.type === "lost").length;

const heldLocks = (all: readonly Tracked[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { namespace, memory } of all) {
    let held = counts.get(namespace) ?? 0;
    for (const { lock } of memory.known.changes.values()) if (lock?.type === "held") held += 1;
    counts.set(namespace, held);
  }
  return counts;
};

/** The request after which the lock of its change has no holder: it was released, or there was none. */
const freeing = ({ known }: Memory, happened: { readonly type: string }): ApiCall | undefined => {
  if (happened.type !== "answered") return undefined;
  const { effect } = happened as Extract<Happened, { type: "answered" }>;
  return effect.item !== undefined && changeIn(known, effect.item).lock?.type === "free" ? effect : undefined;
};

/** Reconciles Transactions, one turn of one at a time; see {@link reconcileKeys}. */
export const reconciler = (shell: ReconcilerOptions): Reconciler => {
  const { apiOf, draftsApiOf, renewalsOf, discovery, settings, wake } = shell;
  const telemetry = newTelemetry(shell.observers);
  const { recordEvent } = telemetry;
  const lockWaiters = newLockWaiters();
  /** How many are held, by namespace of their Transactions, at the last round of renewals. */
  let locks: ReadonlyMap<string, number> = new Map();

  const controller = transactionController(settings, ({ txn, known }) => ({
    locksOfNamespace: locks.get(txn.metadata.namespace) ?? 0,
    queuedBefore: (lease) => lockWaiters.queuedBefore(queued(txn, known), lease),
    nextWaiter: (lease) => {
      const first = lockWaiters.first(lease)?.txn;
      return first?.metadata.uid === txn.metadata.uid ? undefined : first;
    },
  }));
  const contextOf = ({ memory, now }: Tracked): ReconcileContext => controller.contextOf(memory, now());

  const watches = objectWatches(
    apiOf,
    (uid, index, finished) => {
      const one = loop.tracked.of(uid);
      if (one === undefined) return;
      one.memory = controller.observe(one.memory, { type: "changed", index, finished, at: one.now() }).memory;
      wake(one.key);
    },
    TARGET_WATCHES,
    JOBS,
  );
  const drafts = restingDrafts(draftsApiOf, wake);

  const awaitTargets = ({ uid, namespace, memory }: Tracked, watched: readonly Watched[] | undefined): void => {
    if (watched === undefined) watches.leave(uid);
    else watches.join({ uid, namespace, as: impersonation(memory.txn) }, watched);
  };

  const onDecision = (round: Round, tracked: Tracked, step: Step): void => {
    const { txn, known } = tracked.memory;
    if (step.type === "done") return;
    for (const event of step.events ?? []) recordEvent(round, txn, event);
    if (step.type === "run") {
      if (step.watched !== undefined) awaitTargets(tracked, step.watched);
    } else if (step.rests === undefined) {
      if (step.awaited === undefined) lockWaiters.leave(tracked.uid);
      else lockWaiters.join({ txn: queued(txn, known), awaited: step.awaited });
      awaitTargets(tracked, step.watched);
    } else drafts.rest(txn, step.rests);
  };

  /** A Lease has no holder: the first Transaction in its queue is reconciled at once. */
  const wakeNextWaiter = (tracked: Tracked, { purpose, call: { place } }: ApiCall): void => {
    if (purpose === "release-lock") lockWaiters.leave(tracked.uid);
    const next = lockWaiters.first(place);
    const other = loop.tracked.of(next?.txn.metadata.uid ?? "");
    if (next === undefined || other === undefined || other === tracked) return;
    other.memory = controller.observe(other.memory, { type: "freed", awaited: next.awaited }).memory;
    wake(other.key);
  };

  const loop = reconcileKeys<Memory, Effect, Happened, Step>(controller, {
    kind: "Transaction",
    resting,
    wake,
    mayExist: shell.mayExist,
    read: (key) => {
      const [namespace = "", name = ""] = key.split("/");
      return apiOf(namespace).send({
        verb: "get",
        resource: transactions,
        namespace,
        name,
        purpose: "read-transaction",
      });
    },
    perform: performing(apiOf, draftsApiOf, discovery, settings, telemetry),
    isOutdated: ({ key, memory }) => shell.hasPendingRequest(key, memory.txn),
    mayBeDeleted: ({ key, memory }) => shell.mayBeDeleted(key, memory.txn),
    onRead: (tracked) => {
      const { uid, key, memory } = tracked;
      if (drafts.takeChanged(uid)) tracked.memory = controller.observe(memory, { type: "render-outdated" }).memory;
      drafts.leave(key, isDraft(memory.txn) ? uid : undefined);
    },
    onAbsent: drafts.leave,
    onDecision,
    onObserved: (round, before, tracked, happened, { failed, isStale }) => {
      const { txn } = tracked.memory;
      if (before.txn.status.phase !== txn.status.phase) {
        lockWaiters.leave(tracked.uid);
        telemetry.moved(round, before.txn, txn);
      }
      if (failed !== undefined || isStale === true || happened.type !== "answered") return;
      const freed = freeing(tracked.memory, happened);
      if (freed !== undefined) wakeNextWaiter(tracked, freed);
      if (E.isRight(happened.answer)) for (const event of happened.effect.events ?? []) recordEvent(round, txn, event);
    },
    onFailures: async (round, tracked, failures) => {
      await reportFailure(round, tracked, failures[0]);
      return timeLeft(contextOf(tracked));
    },
    onGone: (round, { uid, memory: { txn } }) => {
      lockWaiters.leave(uid);
      if (!isTerminal(txn.status.phase)) recordEvent(round, txn, FORCE_DELETED);
    },
    onForgotten: (uid) => {
      lockWaiters.leave(uid);
      watches.leave(uid);
    },
    onDefect: (round, { memory }) => recordEvent(round, memory.txn, DEFECT),
  });

  const reportFailure = async (round: Round, tracked: Tracked, { effect, error }: Failure<Effect>): Promise<void> => {
    const { txn } = tracked.memory;
    round.log("warn", "request failed, retrying the Transaction after a pause", {
      phase: txn.status.phase,
      error: messageOf(error),
    });
    const report = reportRetry(contextOf(tracked), effect, error);
    if (report !== undefined && "call" in report) await loop.runEffects(round, tracked, [report]);
    else if (report !== undefined) {
      recordEvent(round, txn, report);
      loop.fold(round, tracked, { type: "reported", at: tracked.now() });
    }
    // The status cannot report it either.
    if ("call" in effect && isOwn(effect) && classify(error) === "permanent")
      recordEvent(round, tracked.memory.txn, {
        type: "Warning",
        reason: "RecoveryBlocked",
        message: `waiting until the Transaction can be updated: ${messageOf(error)}`,
      });
  };

  const reconcile: Reconciler["reconcile"] = async (key, round) => {
    let waits = false;
    try {
      const requeue = await loop.reconcile(key, round);
      waits = requeue.type === "after";
      return requeue;
    } finally {
      // It acquires no lock before it is reconciled again, so no other Transaction waits for it.
      if (!waits) for (const { uid, isGone } of loop.tracked.under(key)) if (!isGone) lockWaiters.leave(uid);
    }
  };

  const renewing = new Set<Tracked>();
  const performRenewal = performing(renewalsOf, draftsApiOf, discovery, settings, telemetry);

  const renew = async (round: Round): Promise<void> => {
    locks = heldLocks(loop.tracked.all());
    const active = loop.tracked
      .all()
      .filter((tracked) => !isTerminal(tracked.memory.txn.status.phase) && !renewing.has(tracked));
    await Promise.all(
      active.map(async (tracked) => {
        renewing.add(tracked);
        const lost = lostLocks(tracked);
        const { txn, known } = tracked.memory;
        const log = withFields(round.log, { transaction: queueKey(txn) });
        try {
          await loop.runEffects(
            { ...round, log },
            tracked,
            renewals(contextOf(tracked), resolvedTargets(withContents(txn, known), known)),
            performRenewal,
          );
        } catch (error) {
          log("error", "internal error in Janus, retrying the renewal of the locks", defect(error));
        } finally {
          // It may be waiting for something that takes long.
          if (lostLocks(tracked) > lost) wake(tracked.key);
          renewing.delete(tracked);
        }
      }),
    );
  };

  return {
    reconcile,
    renew,
    lastKnown: ({ metadata: { uid = "" } }) => loop.tracked.of(uid)?.memory.txn.metadata ?? drafts.lastKnown(uid),
    stop: () => {
      loop.stop();
      watches.stop();
      drafts.stop();
    },
  };
};
