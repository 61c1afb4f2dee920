import { FINALIZER } from "@janus/api";
import { allStores } from "./before.ts";
import { done, type Effect, run, type Step } from "./effect.ts";
import { deleteJournal, readJournal } from "./journaling.ts";
import { leftOvers } from "./left-overs.ts";
import { journalIn } from "./known.ts";
import { lockPlace, look, release } from "./locks.ts";
import { discoveries, places } from "./places.ts";
import { finalizers } from "./record.ts";
import type { Situation } from "./situation.ts";
import { deleteStore, isDeleted, isReleased, releaseStore } from "./stores.ts";

/**
 * Cleans up after the terminal status: locks, journal, stores that nothing will be restored from, and last the finalizer.
 *
 * Guarantees: only Leases that we hold are deleted; of a Failed Transaction that has still something to restore, the
 *             snapshots and the journal stay.
 */
export const finished = (situation: Situation): Step => {
  const { txn, known } = situation;
  const mine = txn.metadata.finalizers ?? [];
  if (!mine.includes(FINALIZER)) return done;
  const unknown = discoveries(txn, known);
  if (unknown.length > 0) return run(...unknown);
  const resumed = txn.status.journal !== undefined && known.journal === undefined && !known.released.has("journal");
  if (resumed) return run(readJournal(txn));
  const pending = [...locks(situation), ...remains(situation), ...leftOvers(situation)];
  return run(
    ...(pending.length > 0
      ? pending
      : [
          finalizers(
            txn,
            mine.filter((name) => name !== FINALIZER),
          ),
        ]),
  );
};

/** Leases that are ours, or that have to be looked at to know. */
const locks = (situation: Situation): readonly Effect[] => {
  const { txn, known, settings } = situation;
  return [...places(txn, known)].flatMap(([index, place]): readonly Effect[] => {
    const lease = lockPlace(place, settings.controllerNamespace);
    const sight = known.locks.get(index);
    if (sight?.at === "held") return release(situation, index, lease);
    const settled = sight?.at === "theirs" || sight?.at === "lost" || sight?.at === "impossible";
    return settled || known.released.has(`lock ${index}`) ? [] : [look(situation, index, lease, true)];
  });
};

/** States of items that something may have to be restored for. */
const UNSETTLED: readonly string[] = ["committed", "kept", "undecided"];

/** Snapshots and journal, as far as nothing will be restored from them. */
const remains = ({ txn, known }: Situation): readonly Effect[] => {
  const journal = journalIn(known);
  const { phase, items } = txn.status;
  const unsettled = phase === "Failed" && items.some(({ state }) => UNSETTLED.includes(state.at));
  // Also where none is recorded: it may have been made just before the Transaction failed.
  const journalGoes = !unsettled && !known.released.has("journal");
  // On RolledBack they are kept for a look, and owned by the Transaction.
  const goes = phase === "Committed" || (phase === "Failed" && !unsettled);
  const stores = allStores(txn, journal).flatMap((ref): readonly Effect[] => {
    if (phase !== "Committed" && !isReleased(known, ref)) return [releaseStore(txn, ref, goes ? "free" : "kept")];
    return goes && !isDeleted(known, ref) ? [deleteStore(txn, ref)] : [];
  });
  return [...(journalGoes ? [deleteJournal(txn)] : []), ...stores];
};
