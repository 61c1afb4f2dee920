import { run, type Step, wait } from "./effect.ts";
import type { Journal } from "./journal.ts";
import { readJournal } from "./journaling.ts";
import type { JournalRefused, Known, Refusal } from "./known.ts";
import { leaving } from "./leaving.ts";
import type { Situation } from "./situation.ts";
import { turnBack } from "./turn-back.ts";

/** How often a journal is tried to be written that the API server does not have, in ms. */
const TRY_AGAIN = 1000;

export const isRefused = (journal: Known["journal"]): journal is JournalRefused =>
  journal !== undefined && "at" in journal && journal.at === "refused";

/**
 * The journal is lost, and there can be no new one. What cannot be recorded is not done either: a Transaction that is to be
 * released, as in a namespace that is being deleted, ends with what its status tells; any other one waits.
 */
export const withoutJournal = (
  situation: Situation,
  { why, since }: JournalRefused,
  cursor: number,
  fate: Refusal["fate"],
): Step => {
  const { txn, now } = situation;
  const way = leaving(situation);
  if (way.at === "asking") return run(way.effect);
  if (way.at === "release") {
    const told: Journal = {
      version: { uid: "", resourceVersion: "" },
      position: { direction: "forward", cursor },
      created: new Map(),
      notes: new Map(),
      doubted: new Map(),
      deferred: new Map(),
      renewed: new Map(),
      storeNames: 0,
    };
    return turnBack(situation, told, { reason: "Deleted", message: way.why, fate });
  }
  const message = `the journal cannot be written: ${why}`;
  return now < since + TRY_AGAIN
    ? wait(since + TRY_AGAIN, message, { type: "Warning", reason: "RecoveryBlocked", message })
    : run(readJournal(txn));
};
