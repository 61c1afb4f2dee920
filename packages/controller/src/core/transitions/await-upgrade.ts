// Does nothing with a Transaction that only a later version of the controller can process.
import { cut, FINALIZER } from "@janus/api";
import { done, run, type Step, type EventSpec, wait } from "../state/effect.ts";
import { type Observations, unset } from "../state/observations.ts";
import { reporting, isReported, releaseUnread } from "./quarantine.ts";
import { readNamespace } from "./stop-request.ts";
import type { Unread } from "../state/decode-stored.ts";
import { isTerminal } from "../state/status-update.ts";
import { UNSUPPORTED } from "../state/conditions.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";

/** How often an object that only a later version of the controller can read is read again, in ms. */
export const UPGRADE_PAUSE = 10_000;

/**
 * How often this is reported of a Transaction that is not read again, since a later controller will write it; in
 * ms.
 */
const REMINDER = 600_000;

/**
 * A Transaction that a later version of the controller has worked on, or is needed for: nothing is done, and it
 * says so.
 *
 * Guarantees: no target is modified; nothing recorded of it is overwritten, released or deleted, nor are its
 *             locks; a later controller resumes it. Its deletion waits for that, too, unless no changes were
 *             applied. In a namespace that is being deleted, it is released like one that cannot be read: its
 *             snapshots and journal are kept for as long as the namespace is.
 *
 * @param context its Transaction may be only what could be decoded
 */
export const awaitUpgrade = (
  context: ReconcileContext,
  { why, takesConditions }: Pick<Extract<Unread, { readonly type: "unsupported" }>, "why" | "takesConditions">,
): Step => {
  const { txn, known, now } = context;
  const { deletionTimestamp, finalizers = [] } = txn.metadata;
  const isHeld = finalizers.includes(FINALIZER);
  const isOver = isTerminal(txn.status.phase);
  // There are no objects of ours, and there will be none.
  if (!isHeld && (deletionTimestamp !== undefined || isOver)) return done;
  const message = `not processed until a later version of the controller runs: ${cut(why, 600)}`;
  const event: EventSpec = { type: "Warning", reason: "RecoveryBlocked", message };
  if (deletionTimestamp !== undefined) {
    const { namespace } = known;
    if (namespace === undefined || now >= namespace.readAt + UPGRADE_PAUSE) return run(readNamespace(context));
    if (namespace.isGoing) return releaseUnread(context);
    return wait(namespace.readAt + UPGRADE_PAUSE, message, {
      ...event,
      message: `${message}; its deletion waits, too`,
    });
  }
  const mayReport = takesConditions && !isOver;
  if (mayReport && !isReported(context, UNSUPPORTED, message)) return reporting(txn, UNSUPPORTED, message, now);
  const until = known.later === undefined ? now + REMINDER : known.later.readAt + UPGRADE_PAUSE;
  return wait(until, message, ...(mayReport ? [] : [event]));
};

/**
 * Drops what was not processed, to read it again: it may have been repaired, or a later version may have written
 * it.
 */
export const lookingAgain = (known: Observations): Observations => {
  const { journal, later, ...rest } = known;
  if (later === undefined) return known;
  const strange = [...known.found].filter(([, store]) => store.type === "ours" && store.isLater === true);
  return {
    ...rest,
    found: strange.reduce((found, [key]) => unset(found, key), known.found),
    ...(journal === undefined || journal.type === "later" ? {} : { journal }),
  };
};
