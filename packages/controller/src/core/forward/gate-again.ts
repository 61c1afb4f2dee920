// Waits again for the gates before the cursor after the journal was lost.
import { type Step, run } from "../state/effect.ts";
import { gatesInDoubt, type Journal } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import { gatedChanges } from "../state/gated-changes.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";

/**
 * Where the journal was lost, nothing says whether the gates were met that come before the change at the cursor: they are waited for again.
 *
 * Assumes: the change at the cursor was not made, and will not be.
 */
export const gateAgain = ({ txn, now }: ReconcileContext, journal: Journal): Step | undefined => {
  const { cursor } = journal.position;
  return gatesInDoubt(journal) && gatedChanges(txn, cursor).length > 0
    ? run(checkpoint(txn, journal, { position: { direction: "forward", cursor, gatedSince: now } }))
    : undefined;
};
