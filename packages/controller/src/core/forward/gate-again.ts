// Waits again for the gates before the cursor after the journal was lost.
import { type Step, run } from "../state/effect.ts";
import { gatesInDoubt, type Journal } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import { gatedChanges } from "../state/gated-changes.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";

/**
 * Waits again for the gates before the change at the cursor where the journal was lost: then nothing says whether they were met.
 *
 * Assumes: the change at the cursor was not made, and will not be.
 */
export const gateAgain = ({ txn, now }: ReconcileContext, journal: Journal): Step | undefined => {
  const { cursor } = journal.position;
  return gatesInDoubt(journal) && gatedChanges(txn, cursor).length > 0
    ? run(checkpoint(txn, journal, { position: { direction: "forward", cursor, gatedSince: now } }))
    : undefined;
};
