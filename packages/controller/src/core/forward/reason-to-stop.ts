// Finds the reason why no further change is applied: a request, the timeout or lost contents.
import { firstIrreversible } from "../state/irreversible-deletions.ts";
import { unusableContent } from "../state/contents.ts";
import { run, type Step } from "../state/effect.ts";
import type { AbortCause } from "../state/forward-observations.ts";
import { deadline } from "../state/reconcile-context.ts";
import { abort } from "../transitions/abort.ts";
import { stopRequest } from "../transitions/stop-request.ts";
import type { ChangeContext } from "./change-context.ts";

/** The change that may be in flight. `unread`: what cannot be read, so that its fate is unknown. */
export type Underway = Pick<ChangeContext, "context" | "journal" | "index"> & { readonly unread?: string };

/**
 * A rollback was requested, contents are lost, or the time is over: aborts here, with the fate of this change. But not if a
 * deletion that cannot be undone may have been sent; see {@link irreversibleReason}.
 */
export const reasonToStop = (changeContext: Underway, fate: AbortCause["fate"]): Step | undefined => {
  const { context, journal, unread } = changeContext;
  const stopping = requestToStop(changeContext, fate);
  if (stopping !== undefined || irreversibleReason(changeContext, fate) !== undefined) return stopping;
  const lost = lostContent(changeContext);
  if (lost !== undefined) return abort(context, journal, { reason: "CommitFailed", message: lost, fate });
  return context.now < deadline(context)
    ? undefined
    : abort(context, journal, { ...timeoutCause(changeContext, fate), ...(unread === undefined ? {} : { unread }) });
};

/** Why a change that is still to be made has no content any more. */
const lostContent = ({ context, journal }: Underway): string | undefined => {
  for (let index = journal.position.cursor; index < context.txn.spec.changes.length; index += 1) {
    const why = unusableContent(context, index);
    if (why !== undefined) return why;
  }
  return undefined;
};

/** @param awaited what is not as it should be yet */
export const timeoutCause = (
  { context: { txn }, index }: Underway,
  fate: AbortCause["fate"],
  awaited = "",
): AbortCause => {
  const waiting = awaited === "" ? "" : `, waiting for ${awaited}`;
  const message = `spec.timeout passed with ${index} of ${txn.spec.changes.length} changes applied${waiting}`;
  return { reason: "Timeout", message, fate };
};

/** {@link reasonToStop}, whatever the time. */
export const requestToStop = (changeContext: Underway, fate: AbortCause["fate"]): Step | undefined => {
  const { context, journal, unread } = changeContext;
  const { txn } = context;
  const requested = stopRequest(context);
  if (requested.type === "reading") return run(requested.effect);
  const irreversible = irreversibleReason(changeContext, fate);
  const stop = (reason: AbortCause["reason"], message: string): Step =>
    abort(context, journal, { reason, message, fate, ...(unread === undefined ? {} : { unread }) });
  if (requested.type === "release") return stop("Deleted", requested.why);
  if (requested.type === "rollback" && irreversible === undefined) return stop("RollbackRequested", requested.why);
  // Deleting the Transaction never hangs, however long its Delete takes.
  if (irreversible !== undefined && txn.metadata.deletionTimestamp !== undefined)
    return stop("Deleted", `${irreversible}: the Transaction was deleted`);
  return undefined;
};

/** Why it cannot be rolled back any more; undefined if it can. */
export const irreversibleReason = (
  { context: { txn }, index }: Underway,
  fate: AbortCause["fate"],
): string | undefined => {
  const mayBeApplied = fate === "applied" || fate === "unknown";
  const deleted = firstIrreversible(txn, mayBeApplied ? index + 1 : index)?.target;
  return deleted === undefined
    ? undefined
    : `the deletion of ${deleted.kind} ${deleted.name} cannot be undone, so the Transaction can only be completed`;
};
