import { showGates } from "../gates/gate.ts";
import { gatesOf } from "../gates/gates-of.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { ApiCall, EventSpec } from "../state/effect.ts";
import { gatesInDoubt, type Journal } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import { trimming } from "../state/memory-budget.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { isSensitive } from "../state/sensitive-kinds.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";

/**
 * The checkpoint of this change, and the intent of the next; unless this one has gates, which come first. Where the journal was
 * lost, the next one may have been made: then its target is read first, which shows whether they were met.
 */
export const nextChange = (
  { txn, now, settings }: ReconcileContext,
  journal: Journal,
  { index, change, place }: ResolvedItem,
  created: string | undefined,
): ApiCall => {
  const mayBeUngated = gatesInDoubt(journal);
  const gates = mayBeUngated ? [] : gatesOf(txn, index);
  const gated: EventSpec = {
    type: "Normal",
    reason: "GateWaiting",
    item: index,
    message: `waiting for ${formatRef(place)}: ${showGates(gates, isSensitive(place, settings))}`,
  };
  return trimming(
    checkpoint(
      txn,
      journal,
      {
        position: {
          direction: "forward",
          cursor: index + 1,
          ...(gates.length === 0 ? {} : { gatedSince: now }),
          ...(mayBeUngated ? { gatesInDoubt: true } : {}),
        },
        ...(created === undefined ? {} : { created: [index, created] }),
      },
      {
        type: "Normal",
        reason: "ItemCommitted",
        item: index,
        message: `${index + 1}/${txn.spec.changes.length} ${change.type} ${formatRef(place)}`,
      },
      ...(gates.length === 0 ? [] : [gated]),
    ),
  );
};
