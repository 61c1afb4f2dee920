// The controller of Transactions, as the runtime wants it: what is remembered, decided and folded, in pure functions.
import { FINALIZER, type Transaction } from "@janus/api";
import type { Instant, KubeObject } from "@janus/types";
import { decide, decideUnread, decideWithoutMemory, isUrgent } from "./decide.ts";
import { decoded, type Memory, observe } from "./observe.ts";
import type { Step } from "./state/effect.ts";
import type { Happened } from "./state/happened.ts";
import { atRest, hasLargeTarget, isLarge, keptTargets, outlineAtRest, restingBytes } from "./state/idle-memory.ts";
import { noObservations } from "./state/observations.ts";
import type { ReconcileContext, Settings } from "./state/reconcile-context.ts";
import { isResting } from "./state/rollback-window.ts";
import { isTerminal } from "./state/status-update.ts";
import { asReleased, mayLeaveResources } from "./transitions/force-deleted.ts";

/** What this process knows of the other Transactions. */
export type Others = Pick<ReconcileContext, "locksOfNamespace" | "queuedBefore" | "nextWaiter">;

/** A Transaction that is alone. */
export const nobodyElse: Others = { queuedBefore: () => undefined, nextWaiter: () => undefined };

/** The part of what is remembered that is kept while a Transaction waits. */
export const resting = {
  rest: (memory: Memory): Memory => ({ ...memory, ...atRest(memory) }),
  outline: (memory: Memory): Memory => ({ ...memory, ...outlineAtRest(memory) }),
  bytes: restingBytes,
};

/** The concurrent effects of one Transaction. */
const LANES = 16;

/** Observations are invalid after it became readable or unreadable, was edited, or another client changed its phase. */
const isSame = (former: Memory, current: Pick<Memory, "txn" | "unreadable">): boolean =>
  (former.unreadable === undefined) === (current.unreadable === undefined) &&
  former.txn.metadata.generation === current.txn.metadata.generation &&
  former.txn.status.phase === current.txn.status.phase;

const isUnderWay = ({ status: { phase } }: Transaction): boolean => phase === "Committing" || phase === "RollingBack";

/** It is terminal, and no cleanup is left, or none before its rollbackWindow has passed. */
const isEnded = (txn: Transaction): boolean =>
  isTerminal(txn.status.phase) && (!(txn.metadata.finalizers ?? []).includes(FINALIZER) || isResting(txn));

/** The circumstances of a decision, see `Turn` in the runtime. */
interface Turn {
  readonly now: Instant;
  readonly hasMemory: boolean;
  readonly isOver: boolean;
}

/** The controller of Transactions; see `Controller` in the runtime. */
export const transactionController = (settings: Settings, othersOf: (memory: Memory) => Others) => {
  const contextOf = (memory: Memory, now: Instant): ReconcileContext => ({
    ...memory,
    now,
    settings,
    ...othersOf(memory),
  });
  return {
    contextOf,
    remember: (object: KubeObject, now: Instant): Memory => ({ ...decoded(object), known: noObservations(now) }),
    refresh: (former: Memory, object: KubeObject): Memory | undefined => {
      const current = decoded(object);
      return isSame(former, current) ? { ...former, ...current } : undefined;
    },
    decide: (memory: Memory, { now, hasMemory, isOver }: Turn): Step => {
      const context = contextOf(memory, now);
      if (memory.unreadable !== undefined) return decideUnread(context, memory.unreadable);
      return hasMemory ? decide({ ...context, isOver }) : decideWithoutMemory(context);
    },
    observe: (memory: Memory, happened: Happened) => observe(memory, happened, settings),
    // A terminal one may have been deleted by our own last write, which was not answered.
    afterDeletion: (memory: Memory, now: Instant): Memory | undefined =>
      memory.unreadable !== undefined || !mayLeaveResources(memory.txn)
        ? undefined
        : { ...memory, txn: asReleased(memory.txn, now) },
    // A finished one may wait for days until it expires, and a Draft for an approval.
    isKept: ({ txn, unreadable }: Memory, step: Step): boolean =>
      !(step.type === "wait" && step.rests !== undefined) && (unreadable !== undefined || !isEnded(txn)),
    // While a large target is in memory, it is one at a time: the API server, which is shared with others, was busy with two of them
    // for so long that small Transactions took four times as long.
    lanes: ({ known }: Memory): number => (hasLargeTarget(known) ? 1 : LANES),
    claim: (memory: Memory, now: Instant) =>
      memory.unreadable !== undefined || !isLarge(memory)
        ? undefined
        : {
            isUrgent: () => isUrgent(contextOf(memory, now)),
            // Changes are checkpointed, so it can resume later; of a preflight, what has a snapshot is not examined again.
            kept: isUnderWay(memory.txn) ? ("all" as const) : keptTargets(memory.known),
          },
    // What a preflight has not asked by then, it asks in its next turn.
    mayEndEarly: ({ txn }: Memory): boolean => txn.status.phase === "Preparing",
    mostSteps: ({ txn }: Memory): number => 1000 + 20 * txn.spec.changes.length,
  };
};
