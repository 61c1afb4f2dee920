// The phase Preparing: locks, reads, checks and snapshots, without modifying a target.
import type { Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import { waitingForLock } from "../locks/await-lock.ts";
import { acquire } from "../locks/lock-acquisition.ts";
import { enforceLockTimeLimit } from "../locks/lock-time-limit.ts";
import { yieldLocks } from "../locks/lock-yield.ts";
import { findOwned } from "../preflight/dependents.ts";
import { examination, keepExamined } from "../preflight/examine-targets.ts";
import { firstReads } from "../preflight/first-look.ts";
import { garbageCollectedTargets, ownsTransaction } from "../preflight/garbage-collected.ts";
import { lostWithReplaced, TO_THE_END, tooEarly } from "../preflight/irreversible-changes.ts";
import { kindsOfOwners } from "../preflight/missing-owners.ts";
import { firstPosition, unauthorized } from "../preflight/permissions.ts";
import { problems } from "../preflight/preflight.ts";
import { staleApproval } from "../preflight/stale-approval.ts";
import { listingPause } from "../preflight/unlisted-kinds.ts";
import { takeSnapshots } from "../snapshots/take-snapshots.ts";
import { hasContents } from "../state/contents.ts";
import { APPROVAL_STALE, readyIn, WAITING } from "../state/conditions.ts";
import { type ApiCall, type Effect, firstStep, run, type Step } from "../state/effect.ts";
import { hasBegun, readJournal } from "../state/journal-requests.ts";
import { deadline, type ReconcileContext } from "../state/reconcile-context.ts";
import { itemsOf } from "../state/resolved-changes.ts";
import { waiting } from "../state/status-progress.ts";
import { discoveries, lockable, resolveTarget } from "../state/target-resolution.ts";
import { awaitContents, findServiceAccount } from "../transitions/await-contents.ts";
import { failUntouched, type PreparationFailure } from "../transitions/fail-untouched.ts";
import { quarantine } from "../transitions/quarantine.ts";
import { stopRequest } from "../transitions/stop-request.ts";
import { recordPrepared } from "./record-prepared.ts";

/** Failed, with no changes applied. */
const refuse = (context: ReconcileContext, failure: PreparationFailure): Step => run(failUntouched(context, failure));

/** The requests that are still needed, concurrently; undefined if there are none. */
const runAny = (effects: readonly Effect[]): Step | undefined => (effects.length === 0 ? undefined : run(...effects));

/** There is no journal yet, unless a former process got this far. */
const knowJournal = (context: ReconcileContext): Step | undefined => {
  const { txn, known } = context;
  if (known.journal === undefined) return run(firstJournal(txn));
  return hasBegun(known)
    ? quarantine(context, "status.phase: is Preparing, but the journal says that changes were made")
    : undefined;
};

/** The targets with sufficient permissions. The others are locked in their turn, or fail the preflight. */
const earlyTargets = ({ txn, known }: ReconcileContext): ReadonlyMap<number, ObjectRef> =>
  lockable(txn, known, 0, unauthorized(txn, known)).early;

/** No write was sent, so no change is in doubt. */
const firstJournal = (txn: Transaction): ApiCall => {
  const reading = readJournal(txn);
  return {
    ...reading,
    folds: [...reading.folds, { type: "no-change-sent" }],
  };
};

const stopWhenAsked = (context: ReconcileContext): Step | undefined => {
  const requested = stopRequest(context);
  if (requested.type === "none") return undefined;
  if (requested.type === "reading") return run(requested.effect);
  const reason = requested.type === "release" ? "Deleted" : "RollbackRequested";
  return refuse(context, { reason, general: [requested.why] });
};

/** The lock that is missing now, of which the status may tell only later; else the reason that the status gives. */
const awaitedNow = (context: ReconcileContext): string | undefined => {
  const locking = acquire(context, earlyTargets(context));
  const { reason, message } = readyIn(context.txn);
  return locking.type === "waiting" ? locking.because : reason === WAITING ? message : undefined;
};

const stopAtTimeout = (context: ReconcileContext): Step | undefined => {
  if (context.now < deadline(context)) return undefined;
  const awaited = awaitedNow(context);
  const waiting = awaited === undefined ? "" : `, ${awaited}`;
  return refuse(context, {
    reason: "Timeout",
    general: [`spec.timeout passed before all checks were done${waiting}; create the Transaction again`],
    event: "Timeout",
  });
};

/** The kind may have been removed since the Transaction was accepted. */
const resolveTargets = (context: ReconcileContext): Step | undefined => {
  const { txn, known } = context;
  const unknown = discoveries(txn, known);
  if (unknown.length > 0) return run(...unknown);
  const unresolved = new Map(
    txn.spec.changes.flatMap((_, index) => {
      const place = resolveTarget(txn, known, index);
      return E.isLeft(place) ? [[index, [place.left]] as const] : [];
    }),
  );
  return unresolved.size === 0 ? undefined : refuse(context, { reason: "PreflightFailed", problems: unresolved });
};

/** They may have been deleted since they were recorded; other ones are not used. */
const readContents = (context: ReconcileContext): Step | undefined =>
  hasContents(context.txn) ? (findServiceAccount(context) ?? awaitContents(context, "PreflightFailed")) : undefined;

/** Reads whether the target of an Apply exists, and the permissions; what is read under the lock decides. */
const readFirst = ({ txn, known }: ReconcileContext): Step | undefined => runAny(firstReads(txn, known));

const lockTargets = (context: ReconcileContext): Step | undefined =>
  giveWay(context) ?? acquireLocks(context, earlyTargets(context));

/** Others get its locks, if it has to let go of them. */
const giveWay = (context: ReconcileContext): Step | undefined => {
  const targets = earlyTargets(context);
  return yieldLocks(context, targets) ?? enforceLockTimeLimit(context, targets);
};

/**
 * Handles what takes no memory, so that it is done also while the Transaction waits for memory: it ends when that is requested,
 * or at its timeout, and gives way to others. Undefined: nothing of it is due.
 */
export const handlePreparingRequests = (context: ReconcileContext): Step | undefined =>
  stopRequest(context).type !== "none" || context.now >= deadline(context) ? preparing(context) : giveWay(context);

const acquireLocks = (context: ReconcileContext, targets: ReadonlyMap<number, ObjectRef>): Step | undefined => {
  const locking = acquire(context, targets);
  switch (locking.type) {
    case "held":
      return undefined;
    case "acquiring":
      return run(...locking.effects);
    case "waiting":
      return waitingForLock(context, undefined, { ...locking, until: Math.min(locking.until, deadline(context)) });
    case "refused": {
      const problems = new Map([...locking.problems].map(([index, problem]) => [index, [problem]] as const));
      return refuse(context, { reason: "LockFailed", problems, event: "LockFailed" });
    }
  }
};

/**
 * Reads and dry runs, snapshots early if the targets take much memory, and lists of dependents of deleted
 * targets.
 */
const examineTargets = (context: ReconcileContext): Step | undefined => {
  const { txn, known, now } = context;
  const kinds = kindsOfOwners(txn, known);
  if (kinds.length > 0) return run(...kinds);
  const keep = txn.spec.approvedDigest === undefined ? "nothing" : "result";
  const items = itemsOf(txn, known);
  const keeping = context.isOver === true ? keepExamined(txn, known, items, keep) : [];
  if (keeping.length > 0) return run(...keeping);
  const examining = examination(txn, known, items, keep);
  return examining.type === "refused"
    ? refuse(context, { reason: "SnapshotFailed", general: [examining.why] })
    : runAny([...examining.requests, ...findOwned(txn, known, now)]);
};

const awaitListings = (context: ReconcileContext): Step | undefined => {
  const pause = listingPause(context.known);
  return pause === undefined ? undefined : waiting(context, undefined, pause.until, pause.because);
};

const refuseProblems = (context: ReconcileContext): Step | undefined => {
  const { txn, known } = context;
  const lasting = tooEarly(txn, known);
  const found = new Map(
    itemsOf(txn, known).flatMap((item) => {
      const what = lasting(item);
      const all = [
        ...problems(txn, item, known),
        ...garbageCollectedTargets(txn, known, item),
        ...ownsTransaction(txn, known, item),
        ...lostWithReplaced(txn, known, item),
        ...(what === undefined ? [] : [`${what}: ${TO_THE_END}`]),
      ];
      return all.length === 0 ? [] : [[item.index, all] as const];
    }),
  );
  return found.size === 0 ? undefined : refuse(context, { reason: "PreflightFailed", problems: found });
};

const refuseStaleApproval = (context: ReconcileContext): Step | undefined => {
  const why = staleApproval(context);
  return why === undefined ? undefined : refuse(context, { reason: APPROVAL_STALE, general: [why] });
};

/** Writes the snapshots, and the journal, that were not written beside the dry runs; then the changes may begin. */
const keepSnapshots = (context: ReconcileContext): Step => {
  const { txn, known } = context;
  const position = firstPosition(txn, known);
  const snapshots = takeSnapshots(txn, known, position);
  if (snapshots.type === "refused") return refuse(context, { reason: "SnapshotFailed", general: [snapshots.why] });
  return snapshots.type === "writing"
    ? run(...snapshots.effects)
    : run(recordPrepared(context, snapshots.journal, snapshots.refs));
};

/**
 * The steps, in their order. Each returns the next requests, or nothing when it is done; the first one with something to do
 * decides. Every round begins at the first, so that earlier steps are checked again. After the last one, the snapshots are
 * taken.
 */
const STEPS: readonly ((context: ReconcileContext) => Step | undefined)[] = [
  // First, whether changes were made: then nothing below applies.
  knowJournal,
  // Before any other request: a deletion or a requested rollback does not wait for these.
  stopWhenAsked,
  stopAtTimeout,
  // Before the targets: a CustomResourceDefinition among the contents says where later ones are.
  readContents,
  // Every later step needs the resolved targets.
  resolveTargets,
  findServiceAccount,
  // Before locking: a lock without the permission to change the target would only block other Transactions.
  readFirst,
  // Before reading: no other Transaction changes what is read under the locks.
  lockTargets,
  examineTargets,
  awaitListings,
  // All problems at once, when everything is known.
  refuseProblems,
  // After the problems: a Transaction that would fail anyway is not reported as stale.
  refuseStaleApproval,
];

/**
 * Checks that every change can be applied and rolled back, and takes snapshots of all targets.
 *
 * Guarantees: no target is modified, and none is locked that the ServiceAccount has no permission for; where an earlier
 *             change may bring the permission, the target is locked right before its own change. When the phase becomes
 *             Committing, every other target is locked; all were read as the ServiceAccount, passed a dry run of their
 *             change, can be rolled back by the ServiceAccount, and are in a snapshot. Otherwise, the Transaction is
 *             Failed and reports every problem that was found.
 */
export const preparing = (context: ReconcileContext): Step => firstStep(STEPS, context) ?? keepSnapshots(context);
