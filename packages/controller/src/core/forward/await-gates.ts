import * as E from "fp-ts/lib/Either.js";
import { showGates } from "../gates/gate.ts";
import { gatesOf } from "../gates/gates-of.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { type Instant, toTimestamp } from "../kubernetes/time.ts";
import { verifyHeld } from "../locks/lock-renewal.ts";
import { run, type Step } from "../state/effect.ts";
import { type Journal, stateOf, uidOf } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import { changeIn } from "../state/observations.ts";
import type { UnmetGate } from "../state/target-observations.ts";
import type { AbortCause } from "../state/forward-observations.ts";
import { deadline, type ReconcileContext } from "../state/reconcile-context.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";
import { waitingForTargets } from "../state/status-progress.ts";
import { lockable } from "../state/target-resolution.ts";
import { abort } from "../transitions/abort.ts";
import { isSensitive } from "../state/sensitive-kinds.ts";
import { isTried } from "./last-look.ts";
import { type Gated, observeGates } from "./gate-states.ts";
import { irreversibleReason, requestToStop, timeoutCause } from "./reason-to-stop.ts";
import { unauthorizedChanges } from "./send-change.ts";

/**
 * For so long after the change, a failure may be that of the state before, in ms: a controller may report that it has seen the new
 * generation before it has updated its conditions.
 */
const SETTLING = 3000;

/**
 * Waits until the target of an applied change meets its `waitFor`; then the next change begins.
 *
 * Guarantees: decided on a live read that is later than the change; nothing is written while it waits; what can no longer be
 *             met, or not in time, is rolled back, and reports the last state of the target.
 * Assumes:    the change after it was not sent; the shell reconciles again when the target changes.
 */
export const awaitGates = (context: ReconcileContext, journal: Journal, item: ResolvedItem, since: Instant): Step => {
  const { txn, known, now, settings } = context;
  const { index, change, place } = item;
  const next = { context, journal, index: index + 1 };
  const stopping = requestToStop(next, "not-sent");
  if (stopping !== undefined) return stopping;
  const waitUntil = since + (change.waitTimeout ?? Number.POSITIVE_INFINITY);
  const until = Math.min(deadline(context), waitUntil);
  // When the time is over, it is looked at once more, and either the rollback or the next change verifies the locks.
  const holding =
    now < until ? verifyHeld(context, lockable(txn, known, index + 1, unauthorizedChanges(txn)).early) : E.right([]);
  if (E.isLeft(holding))
    return abort(context, journal, { reason: "LockRenewalFailed", message: holding.left, fate: "not-sent" });
  if (holding.right.length > 0) return run(...holding.right);

  const late = ` within ${until === waitUntil ? "its waitTimeout" : "spec.timeout"}`;
  const state = stateOf(txn.status.items[index]?.state ?? { type: "untouched" }, index, journal);
  const conceals = isSensitive(place, settings);
  const gated: Gated = { ...item, gates: gatesOf(txn, index), uid: uidOf(state), conceals };
  // A failure is decided on the current state of the target: it may have met its gates in the last moment.
  const settled = now < since + SETTLING ? since : since + SETTLING;
  const observed = observeGates(gated, known, now < until ? settled : until);
  const overdue = (awaited: string, failed: AbortCause): Step => {
    const isTimeout = until !== waitUntil && irreversibleReason(next, "not-sent") === undefined;
    return abort(context, journal, isTimeout ? timeoutCause(next, "not-sent", awaited) : failed);
  };
  const { unanswered } = changeIn(known, index).gate ?? {};
  if (observed.type === "reading" && unanswered !== undefined && isTried(unanswered, until)) {
    const gate = showGates(gated.gates, conceals);
    const message = `${formatRef(place)} cannot be read: ${unanswered.message}`;
    return overdue(
      `${gate}: ${message}`,
      gateFailed(index, { gate, isGone: false, state: { type: "waiting", message } }, late),
    );
  }
  if (observed.type === "reading") return run(...observed.effects);
  if (observed.type === "met")
    return run(
      checkpoint(
        txn,
        journal,
        { position: { direction: "forward", cursor: index + 1 } },
        {
          type: "Normal",
          reason: "GateMet",
          item: index,
          message: `${formatRef(place)}: ${gated.gates.length === 1 ? "its gate is" : "its gates are"} met`,
        },
      ),
    );
  const settledAt = Math.min(until, since + SETTLING);
  if (observed.state.type === "failed" && (now >= settledAt || observed.isGone))
    return abort(context, journal, gateFailed(index, observed, ""));
  if (now >= until) return overdue(`${observed.gate}: ${observed.state.message}`, gateFailed(index, observed, late));
  return waitingForTargets(context, journal, observed.state.type === "failed" ? settledAt : until, [
    {
      index,
      place,
      resourceVersion: observed.resourceVersion,
      waiting: { gate: `${observed.gate}: ${observed.state.message}`, since: toTimestamp(since) },
    },
  ]);
};

const gateFailed = (index: number, { gate, state }: UnmetGate, late: string): AbortCause => {
  const unmetGate = `waitFor ${gate} was not met${late}: ${state.message}`;
  return { reason: "GateFailed", message: `changes[${index}]: ${unmetGate}`, fate: "not-sent", unmetGate };
};
