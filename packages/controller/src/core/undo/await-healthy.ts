import type { Item as Recorded } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { type Gated, type GateObservation, observeGates } from "../forward/gate-states.ts";
import { rollbackGates } from "../gates/gates-of.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { toTimestamp } from "../kubernetes/time.ts";
import type { Healthy } from "../state/conditions.ts";
import { run, type Step } from "../state/effect.ts";
import { uidOf } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { type AwaitedTarget, waitingForTargets } from "../state/status-progress.ts";
import { resolvedChange } from "../state/resolve-apply.ts";
import { discoveries, resolveTarget } from "../state/target-resolution.ts";
import type { Back } from "./rollback-item.ts";

/** In ms; what `spec.rollbackWaitTimeout` is where it is left out. */
const DEFAULT_TIMEOUT = 10 * 60_000;

export type Health =
  | { readonly type: "step"; readonly step: Step }
  /** Absent: `rollbackWaitFor` is not set, or the Transaction was deleted. */
  | { readonly type: "known"; readonly healthy?: Healthy };

const step = (next: Step): Health => ({ type: "step", step: next });

/** The targets that were restored, and are there. */
const restoredTargets = ({ txn, known }: ReconcileContext, items: readonly Recorded[]): readonly Gated[] =>
  items.flatMap(({ state }, index): readonly Gated[] => {
    const change = resolvedChange(txn, known, index);
    const place = resolveTarget(txn, known, index);
    if (change === undefined || E.isLeft(place) || state.type !== "restored" || !state.before.existed) return [];
    return [{ index, change, place: place.right, gates: rollbackGates(txn), uid: uidOf(state) }];
  });

type Unmet = Extract<GateObservation, { readonly type: "unmet" }>;

/**
 * Waits until the restored targets have got to what `spec.rollbackWaitFor` wants, or the time for that is over.
 *
 * Guarantees: decided on live reads that are later than the rollback; whatever is found, what was restored stays so.
 */
export const awaitHealthy = (context: ReconcileContext, journal: Back, items: readonly Recorded[]): Health => {
  const { txn, known, now } = context;
  const { position } = journal;
  // Nobody can read how the targets of a Transaction are that is gone; and its namespace may wait for it.
  if (rollbackGates(txn).length === 0 || txn.metadata.deletionTimestamp !== undefined) return { type: "known" };
  const unknown = discoveries(txn, known);
  if (unknown.length > 0) return step(run(...unknown));
  const { restoredAt } = position;
  if (restoredAt === undefined)
    return step(run(checkpoint(txn, journal, { position: { ...position, restoredAt: now } })));
  const until = restoredAt + (txn.spec.rollbackWaitTimeout ?? DEFAULT_TIMEOUT);
  const observed = restoredTargets(context, items).map(
    (gated) => [gated, observeGates(gated, known, now < until ? restoredAt : until)] as const,
  );
  const effects = observed.flatMap(([, one]) => (one.type === "reading" ? one.effects : []));
  if (effects.length > 0) return step(run(...effects));
  const unmet = observed.flatMap(([gated, one]) => (one.type === "unmet" ? [[gated, one] as const] : []));
  // What has failed may recover: nothing is lost by waiting, and its failure may be that of the state before.
  const [first, ...others] = unmet.map(toAwaited(restoredAt));
  if (first !== undefined && now < until) return step(waitingForTargets(context, journal, until, [first, ...others]));
  return {
    type: "known",
    healthy: {
      isHealthy: unmet.length === 0,
      message:
        unmet.length === 0
          ? "all restored targets are as spec.rollbackWaitFor wants them"
          : unmet
              .map(([{ index, place }, { state }]) => `changes[${index}]: ${formatRef(place)}: ${state.message}`)
              .join("; "),
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
