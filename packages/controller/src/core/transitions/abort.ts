// Stops going forward: starts the rollback, or ends a deleted Transaction with its changes left as they are.
import { type Before, cut, type Item, type ItemState } from "@janus/api";
import { allStores, orphanAll, showStores } from "../snapshots/prior-state.ts";
import { run, type Step, type EventSpec } from "../state/effect.ts";
import { type Journal, replacementOf } from "../state/journal.ts";
import type { AbortCause } from "../state/forward-observations.ts";
import { projected, updateStatus } from "../state/status-update.ts";
import { closeWindow } from "../state/record-progress.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";

/** The most bytes for which an item has room. */
const MAX_MESSAGE = 256;

/** The causes that may end the wait for gates so that it is their failure. */
const OF_GATES: readonly AbortCause["reason"][] = ["GateFailed", "ConflictDetected", "Timeout"];

/**
 * The gates of a change that was applied are waited for no longer. It is their failure if a timeout has passed, or another client has
 * changed their target, not if a user asked
 * for a rollback meanwhile, or a lock was lost.
 */
const withGateError = ({ waiting, ...rest }: Item, index: number, { reason, unmetGates }: AbortCause): Item => {
  if (waiting === undefined || !OF_GATES.includes(reason)) return rest;
  const error = unmetGates === undefined ? `waitFor was not met: ${waiting.gate}` : unmetGates.get(index);
  return error === undefined ? rest : { ...rest, gateError: cut(error, MAX_MESSAGE) };
};

/** A Replace has deleted its target: whatever has become of its create, it is to be rolled back; but not if that is left as it is. */
const halfReplaced = (item: Item, { before }: { readonly before: Before }): Item => {
  const error = `${item.target ?? "its target"} was deleted, and may not have been created again`;
  return { ...item, state: { type: "unknown", before, error: cut(error, MAX_MESSAGE) } };
};

/** The items according to the journal, with the fate of the change at its cursor. */
const itemsAfter = ({ txn, settings }: ReconcileContext, journal: Journal, cause: AbortCause): readonly Item[] =>
  projected(txn, journal, settings).map((projectedItem, index) => {
    const item = withGateError(projectedItem, index, cause);
    const { state } = item;
    const { fate, message, unread = message } = cause;
    if (index !== journal.position.cursor || !("before" in state)) return item;
    if (replacementOf(journal, index) !== undefined)
      return cause.reason === "Deleted" ? halfReplaced(item, state) : item;
    if (fate === "not-sent") return item;
    if (fate === "applied") return { ...item, state: { type: "committed", before: state.before } };
    const ended: ItemState = { type: fate, before: state.before, error: cut(unread, MAX_MESSAGE) };
    return { ...item, state: ended };
  });

/**
 * Stops going forward. Nothing is in doubt any more: the recorded items have the fate of the change at the
 * cursor. A Transaction that was deleted leaves applied changes, and its snapshots are kept; any other is rolled
 * back.
 */
export const abort = (context: ReconcileContext, journal: Journal, cause: AbortCause): Step => {
  const { txn, now } = context;
  // The rollback goes by what is recorded.
  if (journal.ahead !== undefined) return run(closeWindow(context, journal));
  const items = itemsAfter(context, journal, cause);
  const unread = cause.unread === undefined ? "" : `; ${cause.unread}`;
  if (cause.reason === "Deleted") {
    const held = orphanAll(context, journal);
    if (held.length > 0) return run(...held);
    const left = `${cut(cause.message, 1024)} while it was active: applied changes stay, the former state is kept in ${showStores(txn, journal)}${unread}`;
    const because = { reason: "Deleted", message: left };
    return run(updateStatus(txn, { phase: "Failed", items, because }, now));
  }
  const message = cut(`${cause.message}${unread}`, 1024);
  const isOfItem = cause.reason === "CommitFailed" || cause.reason === "ConflictDetected";
  const item = isOfItem ? { item: [...(cause.unmetGates?.keys() ?? [])][0] ?? journal.position.cursor } : {};
  const because = { reason: cause.reason, message, eventMessage: "rolling back the changes" };
  const eventMessage: EventSpec = { type: "Warning", reason: cause.reason, message, ...item };
  // A journal of a former version may have renewed a snapshot that the status does not name.
  const snapshots = allStores(txn, journal);
  return run(updateStatus(txn, { phase: "RollingBack", items, snapshots, because }, now, eventMessage));
};
