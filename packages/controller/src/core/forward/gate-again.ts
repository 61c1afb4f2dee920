import { gatesOf } from "../gates/gates-of.ts";
import { type Step, run } from "../state/effect.ts";
import { gatesInDoubt, type Journal } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";

/**
 * Where the journal was lost, nothing says whether the gates of the last change that was applied were met: they are waited for again.
 *
 * Assumes: the change at the cursor was not made, and will not be.
 */
export const gateAgain = ({ txn, now }: ReconcileContext, journal: Journal): Step | undefined => {
  const { cursor } = journal.position;
  return gatesInDoubt(journal) && gatesOf(txn, cursor - 1).length > 0
    ? run(checkpoint(txn, journal, { position: { direction: "forward", cursor, gatedSince: now } }))
    : undefined;
};
