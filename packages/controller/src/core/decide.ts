import { committing } from "./committing.ts";
import type { Step } from "./effect.ts";
import { finished } from "./finished.ts";
import { pending } from "./pending.ts";
import { prepared } from "./prepared.ts";
import { preparing } from "./preparing.ts";
import { rollingBack } from "./rolling-back.ts";
import type { Situation } from "./situation.ts";

/**
 * The whole life of a Transaction: what to do next, from what is recorded, what this process knows, and the time.
 *
 * Pending → Preparing → Prepared → Committing → Committed; from Committing on any failure → RollingBack → RolledBack, or
 * Failed when something could not be put back. A failure before the first change → Failed.
 *
 * Guarantees: pure and total. Every effect is one request, so that a crash can only fall between two steps that have a
 *             name; what was not recorded is learned again.
 */
export const decide = (situation: Situation): Step => {
  switch (situation.txn.status.phase) {
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
