// Waits until the targets of applied changes meet their gates, and aborts if one cannot be met any more.
import * as E from "fp-ts/lib/Either.js";
import { showGates } from "../gates/gate.ts";
import { gatesOf } from "../gates/gates-of.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { type Instant, toTimestamp } from "@janus/types";
import { verifyHeld } from "../locks/lock-renewal.ts";
import type { ResolvedChange } from "@janus/api";
import { withoutNulls } from "../merge/nulls.ts";
import { type Snapshot, snapshotOf } from "../snapshots/prior-state.ts";
import { type Effect, type EventSpec, run, type Step } from "../state/effect.ts";
import { type Journal, itemState, uidOf } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import { changeIn } from "../state/observations.ts";
import type { UnmetGate } from "../state/target-observations.ts";
import type { AbortCause } from "../state/forward-observations.ts";
import { deadline, type ReconcileContext } from "../state/reconcile-context.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";
import { type AwaitedTarget, waitingForTargets } from "../state/status-progress.ts";
import { lockable } from "../state/target-resolution.ts";
import { abort } from "../transitions/abort.ts";
import { mustConceal } from "../state/sensitive-kinds.ts";
import { isTried } from "./last-look.ts";
import type { Gated } from "../state/gated.ts";
import { type GateObservation, observeGates } from "./gate-states.ts";
import { irreversibleReason, requestToStop, timeoutCause } from "./reason-to-stop.ts";
import { unauthorizedChanges } from "../state/late-locks.ts";
import { intentAt } from "../state/window.ts";

/**
 * For so long after the change, a failure may be that of the state before, in ms: a controller may report that it has seen the new
 * generation before it has updated its conditions.
 */
const STALE_FAILURE = 3000;

/** A target whose gates are waited for, and until when. */
interface Wait {
  readonly gated: Gated;
  readonly until: Instant;
  /** The limit that `until` comes from. */
  readonly limit: "its waitTimeout" | "spec.timeout";
  readonly observed: GateObservation;
}

/** A wait that has come to an end without success, or how far it is. */
interface Unmet extends Wait {
  readonly unmet: UnmetGate;
}

/** Whether what others revert of a change is told by what there was before it: it removes something. */
const removes = (change: ResolvedChange): boolean =>
  change.type === "Update" ||
  (change.type === "Patch" && change.isApply !== true && withoutNulls(change.content) !== change.content);

/** Without the snapshot, nothing tells what an Update has changed. */
const revertibleBy = (
  { txn }: ReconcileContext,
  { type }: ResolvedChange,
  before: Snapshot,
): Pick<Gated, "revertible"> => {
  if (before.type === "object") return { revertible: { author: txn.metadata, before: before.object } };
  return type === "Update" ? {} : { revertible: { author: txn.metadata } };
};

const waitFor = (context: ReconcileContext, journal: Journal, item: ResolvedItem, since: Instant): Wait => {
  const { txn, known, now, settings } = context;
  const { index, change, place } = item;
  const waitUntil = since + (change.waitTimeout ?? Number.POSITIVE_INFINITY);
  const until = Math.min(deadline(context), waitUntil);
  const state = itemState(txn, index, journal);
  const conceals = mustConceal(place.resource, change, settings);
  const before: Snapshot = removes(change) ? snapshotOf(txn, known, journal, index) : { type: "absent" };
  const gated: Gated = {
    ...item,
    gates: gatesOf(txn, index),
    uid: uidOf(state),
    conceals,
    ...revertibleBy(context, change, before),
  };
  // A failure is decided on the current state of the target: it may have met its gates in the last moment.
  const settled = now < since + STALE_FAILURE ? since : since + STALE_FAILURE;
  const observed = observeGates(gated, known, now < until ? settled : until, now);
  return {
    gated,
    until,
    limit: until === waitUntil ? "its waitTimeout" : "spec.timeout",
    observed:
      observed.type === "reading" && before.type === "unread" ? { ...observed, effects: before.effects } : observed,
  };
};

/**
 * Waits until the targets of applied changes meet their `waitFor`, all at once; then the next change begins, or all is committed.
 *
 * Guarantees: decided on live reads that are later than the changes; nothing is written while it waits; what can no longer be
 *             met, or not in time, or was reverted by another client, is rolled back, and reports the last state of its target.
 * Assumes:    the change after them was not sent; the shell reconciles again when a target changes.
 */
export const awaitGates = (
  context: ReconcileContext,
  journal: Journal,
  items: readonly ResolvedItem[],
  since: Instant,
): Step => {
  const { txn, known, now } = context;
  const { cursor } = journal.position;
  const next = { context, journal, index: cursor };
  const stopping = requestToStop(next, "not-sent");
  if (stopping !== undefined) return stopping;
  const waits = items.map((item) => waitFor(context, journal, item, since));
  // When the time is over, it is looked at once more, and either the rollback or the next change verifies the locks.
  const holding = waits.some(({ until }) => now < until)
    ? verifyHeld(context, lockable(txn, known, cursor, unauthorizedChanges(txn)).early)
    : E.right([]);
  if (E.isLeft(holding))
    return abort(context, journal, { reason: "LockRenewalFailed", message: holding.left, fate: "not-sent" });
  if (holding.right.length > 0) return run(...holding.right);

  const unmet = waits.flatMap((wait): readonly Unmet[] => {
    const { observed } = wait;
    if (observed.type === "unmet") return [{ ...wait, unmet: observed }];
    const why = observed.type === "reading" ? unansweredToEnd(context, wait) : undefined;
    return why === undefined ? [] : [{ ...wait, unmet: why }];
  });
  const failed = unmet.find((one) => isOver(one, since, now));
  if (failed !== undefined) return abort(context, journal, failureOf(failed));
  const overdue = unmet.filter(({ until }) => now >= until);
  if (overdue[0] !== undefined) return abort(context, journal, lateness(next, [overdue[0], ...overdue.slice(1)]));
  const reads = waits.flatMap(({ observed }): readonly Effect[] =>
    observed.type === "reading" ? observed.effects : [],
  );
  if (reads.length > 0) return run(...reads);
  const [first, ...others] = unmet;
  if (first === undefined)
    return run(
      checkpoint(
        txn,
        journal,
        { position: intentAt(txn, cursor, unauthorizedChanges(txn)) },
        ...waits.map(
          ({ gated: { index, place, gates } }): EventSpec => ({
            type: "Normal",
            reason: "GateMet",
            item: index,
            message: `${formatRef(place)}: ${gates.length === 1 ? "its gate is" : "its gates are"} met`,
          }),
        ),
      ),
    );
  const until = Math.min(...unmet.map((one) => wakeAt(one, since)));
  // What has met its gates must still meet them when the others do.
  const met = waits.flatMap(({ gated: { index, place }, observed }) =>
    observed.type === "met" ? [{ index, place, resourceVersion: observed.resourceVersion }] : [],
  );
  const all = [awaited(first, since), ...others.map((one) => awaited(one, since))] as const;
  return waitingForTargets(context, journal, until, all, met);
};

/** Why a target cannot be read though its time is over, and it was tried for long enough. */
const unansweredToEnd = ({ known }: ReconcileContext, { gated, until }: Wait): UnmetGate | undefined => {
  const { unanswered } = changeIn(known, gated.index).gate ?? {};
  return unanswered === undefined || !isTried(unanswered, until)
    ? undefined
    : {
        gate: showGates(gated.gates, gated.conceals),
        state: { type: "waiting", message: `${formatRef(gated.place)} cannot be read: ${unanswered.message}` },
      };
};

const settledAt = ({ until }: Wait, since: Instant): Instant => Math.min(until, since + STALE_FAILURE);

/** Whether waiting cannot help. */
const isOver = (one: Unmet, since: Instant, now: Instant): boolean =>
  one.unmet.state.type === "failed" && (now >= settledAt(one, since) || one.unmet.final !== undefined);

const wakeAt = (one: Unmet, since: Instant): Instant =>
  one.unmet.state.type === "failed"
    ? settledAt(one, since)
    : Math.min(one.until, one.observed.type === "unmet" ? one.observed.lookAt : one.until);

const awaited = ({ gated: { index, place }, observed, unmet }: Unmet, since: Instant): AwaitedTarget => ({
  index,
  place,
  resourceVersion: observed.type === "unmet" ? observed.resourceVersion : undefined,
  waiting: { gate: `${unmet.gate}: ${unmet.state.message}`, since: toTimestamp(since) },
});

const cannotBeMet = ({ unmet: { gate, state, final } }: Unmet): string =>
  final === "conflict" ? state.message : `waitFor ${gate} was not met: ${state.message}`;

const notMetWithin = ({ limit, unmet: { gate, state } }: Unmet): string =>
  `waitFor ${gate} was not met within ${limit}: ${state.message}`;

const failureOf = (one: Unmet): AbortCause => {
  const { index } = one.gated;
  const message = cannotBeMet(one);
  return {
    reason: one.unmet.final === "conflict" ? "ConflictDetected" : "GateFailed",
    message: `changes[${index}]: ${message}`,
    fate: "not-sent",
    unmetGates: new Map([[index, message]]),
  };
};

/** Names the first of several that are late. Where a deletion cannot be rolled back, spec.timeout ends the wait alone. */
const lateness = (
  next: Parameters<typeof timeoutCause>[0],
  [first, ...others]: readonly [Unmet, ...Unmet[]],
): AbortCause => {
  const isTimeout = first.limit === "spec.timeout" && irreversibleReason(next, "not-sent") === undefined;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  const texts = [first, ...others].map(
    (one) =>
      [
        one.gated.index,
        isTimeout ? `waitFor was not met: ${one.unmet.gate}: ${one.unmet.state.message}` : notMetWithin(one),
      ] as const,
  );
  const unmetGates = new Map(texts);
  return isTimeout
    ? { ...timeoutCause(next, "not-sent", `${first.unmet.gate}: ${first.unmet.state.message}${more}`), unmetGates }
    : {
        reason: "GateFailed",
        message: `changes[${first.gated.index}]: ${notMetWithin(first)}${more}`,
        fate: "not-sent",
        unmetGates,
      };
};
