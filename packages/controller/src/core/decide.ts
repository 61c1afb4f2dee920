import { FINALIZER } from "@janus/api";
import { committing } from "./committing.ts";
import { run, type Step } from "./effect.ts";
import { finished } from "./finished.ts";
import { pending } from "./pending.ts";
import { prepared } from "./prepared.ts";
import { preparing } from "./preparing.ts";
import { finalizers, isTerminal } from "./record.ts";
import { rollingBack } from "./rolling-back.ts";
import type { Situation } from "./situation.ts";

/** Somebody has taken our finalizer off while there is something of ours that only it would have us take away. */
const isBare = ({ txn: { metadata, status }, known }: Situation): boolean => {
  const { finalizers: names = [], deletionTimestamp } = metadata;
  if (names.includes(FINALIZER) || deletionTimestamp !== undefined || status.phase === "Pending") return false;
  return !isTerminal(status.phase) || [...known.locks.values()].some(({ at }) => at === "held");
};

/**
 * The whole life of a Transaction: what to do next, from what is recorded, what this process knows, and the time.
 *
 * Pending → Preparing → Prepared → Committing → Committed; from Committing on any failure → RollingBack → RolledBack, or
 * Failed when something could not be put back. A failure before the first change → Failed.
 *
 * Guarantees: pure and total. Every effect is one request, so that a crash can only fall between two steps that have a
 *             name; what was not recorded is learned again. The finalizer is on for as long as there is something of ours.
 */
export const decide = (situation: Situation): Step => {
  const { txn } = situation;
  if (isBare(situation)) return run(finalizers(txn, [...(txn.metadata.finalizers ?? []), FINALIZER]));
  switch (txn.status.phase) {
    case "Pending":
      return pending(situation);
    case "Preparing":
      return preparing(situation);
    case "Prepared":
      return prepared(situation);
    case "Committing":
      return committing(situation);
    case "RollingBack":
      return rollingBack(situation);
    case "Committed":
    case "RolledBack":
    case "Failed":
      return finished(situation);
  }
};
