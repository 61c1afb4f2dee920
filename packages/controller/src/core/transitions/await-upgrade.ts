import { cut, FINALIZER } from "@janus/api";
import { done, run, type Step, type EventSpec, wait } from "../state/effect.ts";
import { type Observations, unset } from "../state/observations.ts";
import { reporting, isReported, releaseUnread } from "./quarantine.ts";
import { readNamespace } from "./stop-request.ts";
import type { Unread } from "../state/decode-stored.ts";
import { isTerminal } from "../state/status-update.ts";
import { UNSUPPORTED } from "../state/conditions.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";

/** How often something is looked at again that only a later version of the controller can read, in ms. */
export const UPGRADE_PAUSE = 10_000;

/** How often it is said of a Transaction that is not looked at again, since whoever moves it on writes it; in ms. */
const REMINDER = 600_000;

/**
 * What is done for a Transaction that a later version of the controller has been at work on, or is needed for: nothing, and it
 * says so.
 *
 * Guarantees: no target is touched; nothing that is recorded of it, or kept for it, is written over, let go of or deleted, its
 *             locks neither; a controller that knows it goes on where it was. Its deletion waits for that, too, unless nothing
 *             was begun; but a namespace that is being deleted waits for nothing: there it is let go of as one that cannot be
 *             read, its snapshots and journal kept for as long as the namespace keeps them.
 *
 * @param situation its Transaction is perhaps only what could be salvaged
 */
export const awaitUpgrade = (
  context: ReconcileContext,
  { why, takesConditions }: Pick<Extract<Unread, { readonly type: "unsupported" }>, "why" | "takesConditions">,
): Step => {
  const { txn, known, now } = context;
  const { deletionTimestamp, finalizers = [] } = txn.metadata;
  const isHeld = finalizers.includes(FINALIZER);
  const isOver = isTerminal(txn.status.phase);
  // There is nothing of ours, nor will there be.
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

/** What was left alone is read again: somebody may have put it right, or a later version may have come and gone. */
export const lookingAgain = (known: Observations): Observations => {
  const { journal, later, ...rest } = known;
  if (later === undefined) return known;
  const strange = [...known.found].filter(([, store]) => typeof store === "object" && store.isLater === true);
  return {
    ...rest,
    found: strange.reduce((found, [key]) => unset(found, key), known.found),
    ...(journal === undefined || ("type" in journal && journal.type === "later") ? {} : { journal }),
  };
};
