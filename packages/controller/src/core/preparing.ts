import { type Before, type Item, journalName, type Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { doomed } from "./doomed.ts";
import { dependents, findOwned, warnings } from "./dependents.ts";
import { type Ask, run, type Step, type Telling } from "./effect.ts";
import { fromTimestamp } from "./instant.ts";
import type { Position } from "./journal.ts";
import { findJournal, hasBegun, readJournal } from "./journaling.ts";
import { journalIn, type Known } from "./known.ts";
import { giveWay } from "./give-way.ts";
import { leaveAlone } from "./leave-alone.ts";
import { leaving } from "./leaving.ts";
import { lockPlace, raised } from "./lease.ts";
import { acquire } from "./locks.ts";
import type { KubeObject } from "./object.ts";
import { oneWay } from "./one-way.ts";
import { discoveries, locate, lockable } from "./places.ts";
import { examine, missingRights, problems, readServiceAccount, reviews } from "./preflight.ts";
import { waitingForLock } from "./progress.ts";
import { record } from "./record.ts";
import { failBefore } from "./refuse.ts";
import type { Situation } from "./situation.ts";
import { pack, snapshotKey } from "./snapshot.ts";
import { store } from "./stores.ts";
import { itemsOf } from "./targets.ts";
import { isRefused } from "./without-journal.ts";

/** The end of the time for going forward. */
export const deadline = ({ txn, now }: Situation): number =>
  (fromTimestamp(txn.status.startedAt) ?? now) + txn.spec.timeout;

/**
 * Makes sure that every change can be made and put back, and keeps what is there before the first one is made.
 *
 * Guarantees: no target is touched. On the way out every target is locked, was read as the ServiceAccount, would have been
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
  const asking = items.flatMap((item) => reviews(txn, known, item));
  if (asking.length > 0) return run(...asking);
  const barred = new Set(
    items.flatMap((item) => (missingRights(txn.spec, item, known).length > 0 ? [item.index] : [])),
  );
  const targets = new Map([...lockable(txn, known, 0).early].filter(([index]) => !barred.has(index)));
  const yielding = giveWay(situation, targets);
  if (yielding !== undefined) return yielding;
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

  const questions = [...items.flatMap((item) => examine(txn, known, item)), ...findOwned(txn, known)];
  if (questions.length > 0) return run(...questions);
  const found = new Map(
    items.flatMap((item) => {
      const all = [...problems(txn, item, known), ...doomed(txn, known, item), ...oneWay(txn, known, item)];
      return all.length === 0 ? [] : [[item.index, all] as const];
    }),
  );
  if (found.size > 0) return run(failBefore(txn, now, { reason: "PreflightFailed", problems: found, general: [] }));
  return keep(situation, refuse);
};

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
const keep = (situation: Situation, refuse: (reason: string, general: readonly string[]) => Step): Step => {
  const { txn, known, now, settings } = situation;
  const before = new Map(
    [...known.live].flatMap(([index, { object }]) => (object === undefined ? [] : [[index, object] as const])),
  );
  const { packs, starts } = pack(before);
  const storing = store(txn, known, packs);
  const begin: Position = { direction: "forward", cursor: 0 };
  const journaling = findJournal(txn, known, begin);
  const journal = journalIn(known);
  if (storing.at === "refused") return refuse("SnapshotFailed", [storing.why]);
  if (isRefused(known.journal))
    return refuse("SnapshotFailed", [`the journal cannot be written: ${known.journal.why}`]);
  if (storing.at === "going") return run(storing.effect, ...(journaling === undefined ? [] : [journaling]));
  if (journaling !== undefined || journal === undefined) return run(journaling ?? readJournal(txn));

  const lost = dependents(txn, known);
  const beforeOf = (index: number, object: KubeObject | undefined): Before => {
    const dependents = lost.get(index);
    return object === undefined
      ? { existed: false }
      : {
          existed: true,
          uid: object.metadata.uid ?? "",
          resourceVersion: object.metadata.resourceVersion ?? "",
          snapshot: { store: storing.stores[starts.get(index) ?? 0]?.name ?? "", key: snapshotKey(index, object) },
          ...(dependents === undefined ? {} : { dependents }),
        };
  };
  const items = itemsOf(txn, known).map(({ index, place }): Item => {
    const { name: lease, namespace = "" } = lockPlace(place, settings.controllerNamespace);
    return { lock: { lease, namespace }, state: { at: "prepared", before: beforeOf(index, before.get(index)) } };
  });
  const mind = warnings(txn, known);
  const recorded = record(
    txn,
    {
      phase: "Prepared",
      items,
      snapshots: storing.stores,
      journal: { name: journalName(txn.metadata.uid), uid: journal.version.uid },
      ...(storing.stores[0] === undefined ? {} : { rollbackRef: storing.stores[0].name }),
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
    learn: (known, answer, at, sent) => remember(recorded.learn(known, answer, at, sent), items.length),
  });
};

/** What was read before the first change is what rollback goes back to. */
const remember = (known: Known, changes: number): Known => ({
  ...known,
  before: new Map(Array.from({ length: changes }, (_, index) => [index, known.live.get(index)?.object] as const)),
  live: new Map(),
});
