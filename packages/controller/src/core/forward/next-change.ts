// Records that a change is applied, together with the intent of the next one.
import type { Change, Transaction } from "@janus/api";
import { showGates } from "../gates/gate.ts";
import { gatesOf } from "../gates/gates-of.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { ApiCall, EventSpec } from "../state/effect.ts";
import { gatedChanges } from "../state/gated-changes.ts";
import { gatesInDoubt, type Journal } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import { resolvedChange } from "../state/resolve-apply.ts";
import { trimming } from "../state/memory-budget.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { mustConceal } from "../state/sensitive-kinds.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";

/** The event of a change that is in. @param target its kind and name */
export const itemCommitted = (txn: Transaction, index: number, type: Change["type"], target: string): EventSpec => ({
  type: "Normal",
  reason: "ItemCommitted",
  item: index,
  message: `${index + 1}/${txn.spec.changes.length} ${type} ${target}`,
});

/**
 * The checkpoint of this change, and the intent of the next; unless this one has gates, which come first. Where the journal was
 * lost, the next one may have been made: then its target is read first, which shows whether they were met.
 */
export const nextChange = (
  context: ReconcileContext,
  journal: Journal,
  item: ResolvedItem,
  created: string | undefined,
): ApiCall => {
  const { txn, known, now, settings } = context;
  const { index, place } = item;
  const { type } = resolvedChange(txn, known, index) ?? item.change;
  const isReplace = type === "Replace";
  if (isReplace && created === undefined) return recordGone(context, journal, index);
  const mayBeUngated = gatesInDoubt(journal);
  const awaited = mayBeUngated ? [] : gatedChanges(txn, index + 1);
  const gates = showGates(gatesOf(txn, index), mustConceal(place.resource, item.change, settings));
  const gated: EventSpec = {
    type: "Normal",
    reason: "GateWaiting",
    item: index,
    message:
      txn.spec.waitAt === "End"
        ? `waiting for the gates of ${awaited.length === 1 ? "one change" : `${awaited.length} changes`}`
        : `waiting for ${formatRef(place)}: ${gates}`,
  };
  return trimming(
    checkpoint(
      txn,
      journal,
      {
        position: {
          direction: "forward",
          cursor: index + 1,
          ...(awaited.length === 0 ? {} : { gatedSince: now }),
          ...(mayBeUngated ? { gatesInDoubt: true } : {}),
        },
        ...(created === undefined ? {} : { [isReplace ? "replaced" : "created"]: [index, created] }),
      },
      itemCommitted(txn, index, type, formatRef(place)),
      ...(awaited.length === 0 ? [] : [gated]),
    ),
  );
};

/**
 * The checkpoint in the middle of a Replace: what it deletes is gone, and its create is next. What is known of the deletion does not
 * count for the create; but where a write may still be in flight, it may be either.
 */
const recordGone = ({ txn }: ReconcileContext, journal: Journal, index: number): ApiCall => {
  const recorded = checkpoint(txn, journal, { replaced: [index, ""] });
  return {
    ...recorded,
    folds: [...recorded.folds, { type: "deletion-recorded", index }],
    unanswered: [...(recorded.unanswered ?? []), { type: "deletion-maybe-recorded", index }],
  };
};
