// Records that a change is applied that is the last one of its window.
import type { ApiCall } from "../state/effect.ts";
import type { Entry, Journal } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { recordIn } from "../state/record-progress.ts";
import { resolvedChange } from "../state/resolve-apply.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";

/** Records that the last change of the window is in, with those before it. */
export const nextChange = (
  context: ReconcileContext,
  journal: Journal,
  { index, change }: ResolvedItem,
  created: string | undefined,
): ApiCall => {
  const isReplace = (resolvedChange(context.txn, context.known, index) ?? change).type === "Replace";
  if (isReplace && created === undefined) return recordGone(context, journal, index);
  const made: Pick<Entry, "created" | "replaced"> =
    created === undefined ? {} : isReplace ? { replaced: [index, created] } : { created: new Map([[index, created]]) };
  return recordIn(context, journal, journal.ahead?.from ?? index, index + 1, made);
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
