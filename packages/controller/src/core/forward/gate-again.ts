import { gatesOf } from "../gates/gates-of.ts";
import { type ApiCall, run, type Step } from "../state/effect.ts";
import type { Journal } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";

/**
 * Where the journal was lost, nothing says whether the gates of the last change that was applied were met: they are waited for again.
 *
 * Assumes: the change at the cursor was not made, and will not be.
 */
export const gateAgain = ({ txn, known, now }: ReconcileContext, journal: Journal): Step | undefined => {
  const { cursor } = journal.position;
  if (known.gatesInDoubt === undefined || gatesOf(txn, cursor - 1).length === 0) return undefined;
  const gated = checkpoint(txn, journal, { position: { direction: "forward", cursor, gatedSince: now } });
  const onAnswer: ApiCall["onAnswer"] = (...answer) => {
    const { gatesInDoubt: _, ...after } = gated.onAnswer(...answer);
    return after;
  };
  return run({ ...gated, onAnswer });
};
