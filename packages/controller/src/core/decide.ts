import { FINALIZER } from "@janus/api";
import { awaitUpgrade, lookingAgain, UPGRADE_PAUSE } from "./await-upgrade.ts";
import { committing } from "./committing.ts";
import { run, type Step } from "./effect.ts";
import { finished } from "./finished.ts";
import { leaveAlone } from "./leave-alone.ts";
import { pending } from "./pending.ts";
import { prepared } from "./prepared.ts";
import { preparing } from "./preparing.ts";
import type { Unread } from "./readable.ts";
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
export const decide = (seen: Situation): Step => {
  const { later } = seen.known;
  if (later !== undefined && seen.now < later.looked + UPGRADE_PAUSE)
    return awaitUpgrade(seen, { why: later.why, takesConditions: true });
  const situation = { ...seen, known: lookingAgain(seen.known) };
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

/** What to do for a Transaction that cannot be read; of its situation, that is what could be salvaged. */
export const decideUnread = (situation: Situation, unread: Unread): Step =>
  unread.at === "unreadable" ? leaveAlone(situation, unread.why) : awaitUpgrade(situation, unread);
