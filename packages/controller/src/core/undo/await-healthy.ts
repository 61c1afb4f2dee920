// Waits until the restored targets meet spec.rollbackWaitFor.
import { type Item as Recorded, ROLLBACK_WAIT_TIMEOUT } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { mustConceal } from "../state/sensitive-kinds.ts";
import type { Gated } from "../state/gated.ts";
import { type GateObservation, observeGates } from "../forward/gate-states.ts";
import { rollbackGates } from "../gates/gates-of.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { type Instant, toTimestamp } from "@janus/types";
import type { Healthy } from "../state/conditions.ts";
import { type Effect, run, type Step } from "../state/effect.ts";
import { uidOf } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import { changeIn } from "../state/observations.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { type AwaitedTarget, waitingForTargets } from "../state/status-progress.ts";
import { resolvedChange } from "../state/resolve-apply.ts";
import { discoveries, resolveTarget } from "../state/target-resolution.ts";
import type { Back } from "./rollback-item.ts";

export type Health =
  | { readonly type: "step"; readonly step: Step }
  /** Absent: `rollbackWaitFor` is not set, or the Transaction was deleted. */
  | { readonly type: "known"; readonly healthy?: Healthy };

const step = (next: Step): Health => ({ type: "step", step: next });

/** The targets that were restored, and are there. */
const restoredTargets = ({ txn, known, settings }: ReconcileContext, items: readonly Recorded[]): readonly Gated[] =>
  items.flatMap(({ state }, index): readonly Gated[] => {
    const change = resolvedChange(txn, known, index);
    const place = resolveTarget(txn, known, index);
    if (change === undefined || E.isLeft(place) || state.type !== "restored" || !state.before.existed) return [];
    const conceals = mustConceal(place.right.resource, change, settings);
    return [{ index, change, place: place.right, gates: rollbackGates(txn), uid: uidOf(state), conceals }];
  });

type Unmet = Extract<GateObservation, { readonly type: "unmet" }>;

/** Restored targets whose kinds are not served, with the reason: how they are cannot be read. */
const unresolved = ({ txn, known }: ReconcileContext, items: readonly Recorded[]): ReadonlyMap<number, string> =>
  new Map(
    items.flatMap(({ state }, index) => {
      const place = resolveTarget(txn, known, index);
      const isThere = state.type === "restored" && state.before.existed;
      const why = changeIn(known, index).gate?.unanswered?.message;
      return isThere && E.isLeft(place) ? [[index, why === undefined ? place.left : cannotBeRead(why)] as const] : [];
    }),
  );

const cannotBeRead = (why: string): string => `cannot be read: ${why}`;

/** Whether a target did not answer though the time was over: another attempt is not waited for. */
const isGivenUp = ({ known }: ReconcileContext, index: number, until: Instant): boolean =>
  (changeIn(known, index).gate?.unanswered?.at ?? Number.NEGATIVE_INFINITY) >= until;

/** Finds out where the kinds of restored targets are served, as long as that is waited for. */
const findKinds = (context: ReconcileContext, items: readonly Recorded[], until: Instant): readonly Effect[] => {
  const { txn, known } = context;
  const waiting = [...unresolved(context, items).keys()].filter((index) => !isGivenUp(context, index, until));
  return discoveries(txn, known).flatMap((request) => {
    const of = waiting.filter((index) => {
      const target = txn.spec.changes[index]?.target;
      return target?.kind === request.kind && target.apiVersion === request.apiVersion;
    });
    return of.length === 0
      ? []
      : [{ ...request, unanswered: of.map((index) => ({ type: "gate-unanswered" as const, index })) }];
  });
};

/**
 * Waits until the restored targets meet `spec.rollbackWaitFor`, or the time for that is over.
 *
 * Guarantees: decided on live reads that are later than the rollback, but for targets that do not answer when the time is over:
 *             they are not healthy; whatever is found, what was restored stays so.
 */
export const awaitHealthy = (context: ReconcileContext, journal: Back, items: readonly Recorded[]): Health => {
  const { txn, known, now } = context;
  const { position } = journal;
  // Nobody can read how the targets of a Transaction are that is gone; and its namespace may wait for it.
  if (rollbackGates(txn).length === 0 || txn.metadata.deletionTimestamp !== undefined) return { type: "known" };
  const { restoredAt } = position;
  if (restoredAt === undefined)
    return step(run(checkpoint(txn, journal, { position: { ...position, restoredAt: now } })));
  const until = restoredAt + (txn.spec.rollbackWaitTimeout ?? ROLLBACK_WAIT_TIMEOUT);
  const unknown = findKinds(context, items, until);
  if (unknown.length > 0) return step(run(...unknown));
  const observed = restoredTargets(context, items).map(
    (gated) => [gated, observeGates(gated, known, now < until ? restoredAt : until, now)] as const,
  );
  const isRead = ([{ index }, { type }]: (typeof observed)[number]): boolean =>
    type === "reading" && !isGivenUp(context, index, until);
  const effects = observed.filter(isRead).flatMap(([, one]) => (one.type === "reading" ? one.effects : []));
  if (effects.length > 0) return step(run(...effects));
  const unmet = observed.flatMap(([gated, one]) => (one.type === "unmet" ? [[gated, one] as const] : []));
  // What has failed may recover: nothing is lost by waiting, and its failure may be that of the state before.
  const [first, ...others] = unmet.map(toAwaited(restoredAt));
  const lookAt = Math.min(until, ...unmet.map(([, one]) => one.lookAt));
  if (first !== undefined && now < until) return step(waitingForTargets(context, journal, lookAt, [first, ...others]));
  const problems = [
    ...unresolved(context, items),
    ...observed.flatMap(([{ index, place }, one]) => {
      if (one.type === "met") return [];
      const why =
        one.type === "unmet"
          ? one.state.message
          : cannotBeRead(changeIn(known, index).gate?.unanswered?.message ?? "no answer");
      return [[index, `${formatRef(place)}: ${why}`] as const];
    }),
  ].toSorted(([a], [b]) => a - b);
  return {
    type: "known",
    healthy: {
      isHealthy: problems.length === 0,
      message:
        problems.length === 0
          ? "all restored targets meet spec.rollbackWaitFor"
          : problems.map(([index, why]) => `changes[${index}]: ${why}`).join("; "),
    },
  };
};

const toAwaited =
  (since: number) =>
  ([{ index, place }, { gate, state, resourceVersion }]: readonly [Gated, Unmet]): AwaitedTarget => ({
    index,
    place,
    resourceVersion,
    waiting: { gate: `${gate}: ${state.message}`, since: toTimestamp(since) },
  });
