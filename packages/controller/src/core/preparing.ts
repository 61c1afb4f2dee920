import { type Before, type Item, journalName, type Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { doomed } from "./doomed.ts";
import { dependents, findOwned, warnings } from "./dependents.ts";
import { type Ask, run, type Step, type Telling } from "./effect.ts";
import { fromTimestamp } from "./instant.ts";
import { examination } from "./examination.ts";
import { findJournal, hasBegun, readJournal } from "./journaling.ts";
import { BEGIN, keep, storesOf } from "./keep.ts";
import { journalIn, type Known } from "./known.ts";
import { giveWay } from "./give-way.ts";
import { leaveAlone } from "./leave-alone.ts";
import { leaving } from "./leaving.ts";
import { letPass } from "./let-pass.ts";
import { lockPlace, raised } from "./lease.ts";
import { acquire } from "./locks.ts";
import { type KubeObject, ownerUids } from "./object.ts";
import { oneWay } from "./one-way.ts";
import { discoveries, locate, lockable } from "./places.ts";
import { problems, readServiceAccount } from "./preflight.ts";
import { waiting, waitingForLock } from "./progress.ts";
import { record } from "./record.ts";
import { failBefore } from "./refuse.ts";
import { lacking, reviews } from "./rights.ts";
import type { Situation } from "./situation.ts";
import { snapshotKey } from "./snapshot.ts";
import { itemsOf } from "./targets.ts";
import { listingPause, unlistedWarnings } from "./unlisted.ts";

/** The end of the time for going forward. */
export const deadline = ({ txn, now }: Situation): number =>
  (fromTimestamp(txn.status.startedAt) ?? now) + txn.spec.timeout;

/**
 * Makes sure that every change can be made and put back, and keeps what is there before the first one is made.
 *
 * Guarantees: no target is touched, and none is locked that the ServiceAccount has no rights to; where an earlier change may
 *             bring these, it is locked in its turn. On the way out every other target is locked; all were read as the ServiceAccount, would have been
 *             accepted by the API server, could be put back by the ServiceAccount, and is in a snapshot; or else the
 *             Transaction is Failed and tells every problem that was found.
 */
export const preparing = (situation: Situation): Step => {
  const { txn, known, now } = situation;
  if (known.journal === undefined) return run(firstJournal(txn));
  if (hasBegun(known))
    return leaveAlone(situation, "status.phase: is Preparing, but the journal says that changes were made");
  const refuse = (reason: string, general: readonly string[], event?: "LockFailed" | "Timeout"): Step =>
    run(failBefore(txn, now, { reason, problems: new Map(), general, ...(event === undefined ? {} : { event }) }));
  const way = leaving(situation);
  if (way.at === "asking") return run(way.effect);
  if (way.at !== "staying") return refuse(way.at === "release" ? "Deleted" : "RollbackRequested", [way.why]);
  if (now >= deadline(situation))
    return refuse(
      "Timeout",
      [`spec.timeout passed before everything was prepared; create the Transaction again`],
      "Timeout",
    );

  const unknown = discoveries(txn, known);
  if (unknown.length > 0) return run(...unknown);
  const homeless = homelessOf(txn, known);
  if (homeless.size > 0)
    return run(failBefore(txn, now, { reason: "PreflightFailed", problems: homeless, general: [] }));
  if (known.serviceAccount === undefined) return run(readServiceAccount(txn));
  if (known.serviceAccount === "missing")
    return refuse("ServiceAccountMissing", [
      `ServiceAccount ${txn.spec.serviceAccountName} does not exist in ${txn.metadata.namespace}: create it, then create the Transaction again`,
    ]);

  // Before anything is locked: a lock on what one has no rights to would only hold up those who have.
  const items = itemsOf(txn, known);
  const asking = reviews(items, known);
  if (asking.length > 0) return run(...asking);
  const targets = lockable(txn, known, 0, unproven(items, known)).early;
  const yielding = giveWay(situation, targets);
  if (yielding !== undefined) return yielding;
  const passing = letPass(situation, targets);
  if (passing !== undefined) return passing;
  const locking = acquire(situation, targets);
  if (locking.at === "refused")
    return run(
      failBefore(txn, now, {
        reason: "LockFailed",
        problems: new Map([...locking.problems].map(([index, problem]) => [index, [problem]])),
        general: [],
        event: "LockFailed",
      }),
    );
  if (locking.at === "going") return run(...locking.effects);
  if (locking.at === "waiting") {
    const until = Math.min(locking.until, deadline(situation));
    return waitingForLock(situation, undefined, { ...locking, until });
  }

  const examining = examination(txn, known, items);
  if ("refused" in examining) return refuse("SnapshotFailed", [examining.refused]);
  const questions = [...examining.asks, ...findOwned(txn, known, now)];
  if (questions.length > 0) return run(...questions);
  const pause = listingPause(known);
  if (pause !== undefined) return waiting(situation, undefined, pause.until, pause.because);
  const misplaced = oneWay(txn, known);
  const found = new Map(
    items.flatMap((item) => {
      const all = [...problems(txn, item, known), ...doomed(txn, known, item), ...misplaced(item)];
      return all.length === 0 ? [] : [[item.index, all] as const];
    }),
  );
  if (found.size > 0) return run(failBefore(txn, now, { reason: "PreflightFailed", problems: found, general: [] }));
  return prepare(situation, refuse);
};

/** The changes for which the ServiceAccount does not have the rights: not yet, or the preflight fails. */
const unproven = (items: ReturnType<typeof itemsOf>, known: Known): ReadonlySet<number> =>
  new Set(items.flatMap((item) => (lacking(item, known).length > 0 ? [item.index] : [])));

/** A kind may have gone since the Transaction was accepted. */
const homelessOf = (txn: Transaction, known: Known): ReadonlyMap<number, readonly string[]> =>
  new Map(
    txn.spec.changes.flatMap((_, index) => {
      const place = locate(txn, known, index);
      return E.isLeft(place) ? [[index, [place.left]] as const] : [];
    }),
  );

/** There is none yet, unless a former process got this far. Nothing was sent, so nothing is in doubt. */
const firstJournal = (txn: Transaction): Ask => {
  const reading = readJournal(txn);
  return { ...reading, learn: (...answer) => ({ ...reading.learn(...answer), attempts: new Map() }) };
};

/** Writes the snapshots and the journal, and then records that everything is prepared. */
const prepare = (situation: Situation, refuse: (reason: string, general: readonly string[]) => Step): Step => {
  const { txn, known, now, settings } = situation;
  const before = new Map(
    [...known.live].flatMap(([index, { object }]) => (object === undefined ? [] : [[index, object] as const])),
  );
  const keeping = keep(txn, known);
  if (keeping.at === "refused") return refuse("SnapshotFailed", [keeping.why]);
  if (keeping.at === "going") return run(...keeping.effects);
  const journal = journalIn(known);
  if (journal === undefined) return run(findJournal(txn, known, BEGIN) ?? readJournal(txn));
  const { kept } = keeping;
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
  const late = unproven(changes, known);
  const items = changes.map(({ index, place }): Item => {
    const { name: lease, namespace = "" } = lockPlace(place, settings.controllerNamespace);
    return {
      // Without it, the lock is taken in the turn of the change; see `send.ts`.
      ...(late.has(index) ? {} : { lock: { lease, namespace } }),
      state: { at: "prepared", before: beforeOf(index, before.get(index)) },
    };
  });
  const mind = [...warnings(txn, known), ...unlistedWarnings(known)];
  const recorded = record(
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
          ...raised(situation),
          ...mind,
        ].join("; "),
      },
    },
    now,
    ...mind.map((message): Telling => ({ type: "Warning", reason: "PreflightWarning", message })),
  );
  return run({
    ...recorded,
    learn: (known, answer, at, sent) => remember(recorded.learn(known, answer, at, sent)),
  });
};

/** What was read before the first change is what rollback goes back to: whatever is in memory of it need not be read again. */
const remember = (known: Known): Known => ({
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
