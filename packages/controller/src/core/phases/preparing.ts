import { type Before, type Item, journalName, type Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { garbageCollectedTargets } from "../preflight/garbage-collected.ts";
import { dependents, findOwned, warnings } from "../preflight/dependents.ts";
import { type ApiCall, run, type Step, type EventSpec } from "../state/effect.ts";
import { examination } from "../preflight/examine-targets.ts";
import { findJournal, hasBegun, readJournal } from "../state/journal-requests.ts";
import { BEGIN, takeSnapshots, storesOf } from "../snapshots/take-snapshots.ts";
import { journalIn, type Observations } from "../state/observations.ts";
import { yieldLocks } from "../locks/lock-yield.ts";
import { quarantine } from "../transitions/quarantine.ts";
import { stopRequest } from "../transitions/stop-request.ts";
import { enforceLockTimeLimit } from "../locks/lock-time-limit.ts";
import { lockPlace, lockTimeoutNotice } from "../locks/lock-requests.ts";
import { acquire } from "../locks/lock-acquisition.ts";
import { ownerUids } from "../kubernetes/kube-object.ts";
import { irreversibleProblems } from "../preflight/irreversible-changes.ts";
import { discoveries, resolveTarget, lockable } from "../state/target-resolution.ts";
import { problems, readServiceAccount } from "../preflight/preflight.ts";
import { waiting } from "../state/status-progress.ts";
import { updateStatus } from "../state/status-update.ts";
import { failUntouched } from "../transitions/fail-untouched.ts";
import { lackingPermissions, reviews } from "../preflight/permissions.ts";
import { deadline, type ReconcileContext } from "../state/reconcile-context.ts";
import { snapshotKey } from "../snapshots/snapshot-data.ts";
import { itemsOf } from "../state/resolved-changes.ts";
import { listingPause, unlistedWarnings } from "../preflight/unlisted-kinds.ts";
import { waitingForLock } from "../locks/await-lock.ts";
import type { KubeObject } from "@janus/types";

/**
 * Makes sure that every change can be made and rolled back, and keeps what is there before the first one is made.
 *
 * Guarantees: no target is touched, and none is locked that the ServiceAccount has no rights to; where an earlier change may
 *             bring these, it is locked in its turn. On the way out every other target is locked; all were read as the ServiceAccount, would have been
 *             accepted by the API server, could be rolled back by the ServiceAccount, and is in a snapshot; or else the
 *             Transaction is Failed and tells every problem that was found.
 */
export const preparing = (context: ReconcileContext): Step => {
  const { txn, known, now } = context;
  if (known.journal === undefined) return run(firstJournal(txn));
  if (hasBegun(known))
    return quarantine(context, "status.phase: is Preparing, but the journal says that changes were made");
  const refuse = (reason: string, general: readonly string[], event?: "LockFailed" | "Timeout"): Step =>
    run(failUntouched(txn, now, { reason, problems: new Map(), general, ...(event === undefined ? {} : { event }) }));
  const requested = stopRequest(context);
  if (requested.type === "reading") return run(requested.effect);
  if (requested.type !== "none")
    return refuse(requested.type === "release" ? "Deleted" : "RollbackRequested", [requested.why]);
  if (now >= deadline(context))
    return refuse(
      "Timeout",
      [`spec.timeout passed before everything was prepared; create the Transaction again`],
      "Timeout",
    );

  const unknown = discoveries(txn, known);
  if (unknown.length > 0) return run(...unknown);
  const unresolved = unresolvedTargets(txn, known);
  if (unresolved.size > 0)
    return run(failUntouched(txn, now, { reason: "PreflightFailed", problems: unresolved, general: [] }));
  if (known.serviceAccount === undefined) return run(readServiceAccount(txn));
  if (known.serviceAccount === "missing")
    return refuse("ServiceAccountMissing", [
      `ServiceAccount ${txn.spec.serviceAccountName} does not exist in ${txn.metadata.namespace}: create it, then create the Transaction again`,
    ]);

  // Before anything is locked: a lock on what one has no rights to would only hold up those who have.
  const items = itemsOf(txn, known);
  const asking = reviews(items, known);
  if (asking.length > 0) return run(...asking);
  const targets = lockable(txn, known, 0, unauthorized(items, known)).early;
  const yielding = yieldLocks(context, targets);
  if (yielding !== undefined) return yielding;
  const passing = enforceLockTimeLimit(context, targets);
  if (passing !== undefined) return passing;
  const locking = acquire(context, targets);
  if (locking.type === "refused")
    return run(
      failUntouched(txn, now, {
        reason: "LockFailed",
        problems: new Map([...locking.problems].map(([index, problem]) => [index, [problem]])),
        general: [],
        event: "LockFailed",
      }),
    );
  if (locking.type === "acquiring") return run(...locking.effects);
  if (locking.type === "waiting") {
    const until = Math.min(locking.until, deadline(context));
    return waitingForLock(context, undefined, { ...locking, until });
  }

  const examining = examination(txn, known, items);
  if ("refused" in examining) return refuse("SnapshotFailed", [examining.refused]);
  const questions = [...examining.requests, ...findOwned(txn, known, now)];
  if (questions.length > 0) return run(...questions);
  const pause = listingPause(known);
  if (pause !== undefined) return waiting(context, undefined, pause.until, pause.because);
  const misplaced = irreversibleProblems(txn, known);
  const found = new Map(
    items.flatMap((item) => {
      const all = [...problems(txn, item, known), ...garbageCollectedTargets(txn, known, item), ...misplaced(item)];
      return all.length === 0 ? [] : [[item.index, all] as const];
    }),
  );
  if (found.size > 0) return run(failUntouched(txn, now, { reason: "PreflightFailed", problems: found, general: [] }));
  return prepare(context, refuse);
};

/** The changes for which the ServiceAccount does not have the rights: not yet, or the preflight fails. */
const unauthorized = (items: ReturnType<typeof itemsOf>, known: Observations): ReadonlySet<number> =>
  new Set(items.flatMap((item) => (lackingPermissions(item, known).length > 0 ? [item.index] : [])));

/** A kind may have gone since the Transaction was accepted. */
const unresolvedTargets = (txn: Transaction, known: Observations): ReadonlyMap<number, readonly string[]> =>
  new Map(
    txn.spec.changes.flatMap((_, index) => {
      const place = resolveTarget(txn, known, index);
      return E.isLeft(place) ? [[index, [place.left]] as const] : [];
    }),
  );

/** There is none yet, unless a former process got this far. Nothing was sent, so nothing is in doubt. */
const firstJournal = (txn: Transaction): ApiCall => {
  const reading = readJournal(txn);
  return { ...reading, onAnswer: (...answer) => ({ ...reading.onAnswer(...answer), attempts: new Map() }) };
};

/** Writes the snapshots and the journal, and then records that everything is prepared. */
const prepare = (context: ReconcileContext, refuse: (reason: string, general: readonly string[]) => Step): Step => {
  const { txn, known, now, settings } = context;
  const before = new Map(
    [...known.live].flatMap(([index, { object }]) => (object === undefined ? [] : [[index, object] as const])),
  );
  const snapshots = takeSnapshots(txn, known);
  if (snapshots.type === "refused") return refuse("SnapshotFailed", [snapshots.why]);
  if (snapshots.type === "writing") return run(...snapshots.effects);
  const journal = journalIn(known);
  if (journal === undefined) return run(findJournal(txn, known, BEGIN) ?? readJournal(txn));
  const { kept } = snapshots;
  const stores = storesOf(kept);
  const lost = dependents(txn, known);
  const beforeOf = (index: number, object: KubeObject | undefined): Before => {
    const dependents = lost.get(index);
    return object === undefined
      ? { existed: false }
      : {
          existed: true,
          uid: object.metadata.uid ?? "",
          resourceVersion: object.metadata.resourceVersion ?? "",
          snapshot: { store: kept.get(index)?.first ?? "", key: snapshotKey(index, object) },
          ...(dependents === undefined ? {} : { dependents }),
        };
  };
  const changes = itemsOf(txn, known);
  const late = unauthorized(changes, known);
  const items = changes.map(({ index, place }): Item => {
    const { name: lease, namespace = "" } = lockPlace(place, settings.controllerNamespace);
    return {
      // Without it, the lock is taken in the turn of the change; see `send-change.ts`.
      ...(late.has(index) ? {} : { lock: { lease, namespace } }),
      state: { type: "prepared", before: beforeOf(index, before.get(index)) },
    };
  });
  const mind = [...warnings(txn, known), ...unlistedWarnings(known)];
  const recorded = updateStatus(
    txn,
    {
      phase: "Prepared",
      items,
      snapshots: stores,
      journal: { name: journalName(txn.metadata.uid), uid: journal.version.uid },
      ...(stores[0] === undefined ? {} : { rollbackRef: stores[0].name }),
      because: {
        reason: "Prepared",
        message: [
          "all locks are held, every change was checked, and what was there is kept",
          ...lockTimeoutNotice(context),
          ...mind,
        ].join("; "),
      },
    },
    now,
    ...mind.map((message): EventSpec => ({ type: "Warning", reason: "PreflightWarning", message })),
  );
  return run({
    ...recorded,
    onAnswer: (known, answer, at, sent) => remember(recorded.onAnswer(known, answer, at, sent)),
  });
};

/** What was read before the first change is what rollback goes back to: whatever is in memory of it need not be read again. */
const remember = (known: Observations): Observations => ({
  ...known,
  before: new Map([...known.live].flatMap(([index, seen]) => (seen.isOutline ? [] : [[index, seen.object] as const]))),
  ownersBefore: new Map(
    [...known.live].flatMap(([index, { object }]) =>
      object === undefined ? [] : [[index, ownerUids(object)] as const],
    ),
  ),
  live: new Map(),
  kept: new Map(),
  owned: new Map(),
});
