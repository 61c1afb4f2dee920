// The controller of Transactions, as the runtime wants it: the decisions of the core, with what this process knows of other Transactions.
import type { Transaction } from "@janus/api";
import type { Controller, Resting } from "@janus/runtime";
import {
  asReleased,
  atRest,
  decide,
  decideUnread,
  decideWithoutMemory,
  decoded,
  type Effect,
  type Happened,
  hasLargeTarget,
  isLarge,
  isUrgent,
  keptTargets,
  mayLeaveResources,
  type Memory,
  noObservations,
  observe,
  outlineAtRest,
  type ReconcileContext,
  restingBytes,
  type Settings,
  type Step,
} from "../../core/index.ts";
import { PER_TRANSACTION } from "../limits.ts";
import { isEnded } from "./queue-key.ts";

/** What this process knows of the other Transactions. */
export type Others = Pick<ReconcileContext, "locksOfNamespace" | "queuedBefore" | "nextWaiter">;

/** The part of it that is kept while it waits. */
export const resting: Resting<Memory> = {
  rest: (memory) => ({ ...memory, ...atRest(memory) }),
  outline: (memory) => ({ ...memory, ...outlineAtRest(memory) }),
  bytes: restingBytes,
};

/** Observations are invalid after it became readable or unreadable, was edited, or another client changed its phase. */
const isSame = (former: Memory, current: Pick<Memory, "txn" | "unreadable">): boolean =>
  (former.unreadable === undefined) === (current.unreadable === undefined) &&
  former.txn.metadata.generation === current.txn.metadata.generation &&
  former.txn.status.phase === current.txn.status.phase;

const isUnderWay = ({ status: { phase } }: Transaction): boolean => phase === "Committing" || phase === "RollingBack";

export const transactionController = (
  settings: Settings,
  othersOf: (memory: Memory) => Others,
): Controller<Memory, Effect, Happened, Step> & {
  readonly contextOf: (memory: Memory, now: number) => ReconcileContext;
} => {
  const contextOf = (memory: Memory, now: number): ReconcileContext => ({
    ...memory,
    now,
    settings,
    ...othersOf(memory),
  });
  return {
    contextOf,
    remember: (object, former, now) => {
      const current = decoded(object);
      return former !== undefined && isSame(former, current)
        ? { ...former, ...current }
        : { ...current, known: noObservations(now) };
    },
    decide: (memory, { now, hasMemory, isOver }) => {
      const context = contextOf(memory, now);
      if (memory.unreadable !== undefined) return decideUnread(context, memory.unreadable);
      return hasMemory ? decide({ ...context, isOver }) : decideWithoutMemory(context);
    },
    observe: (memory, happened) => observe(memory, happened, settings),
    // A terminal one may have been deleted by our own last write, which was not answered.
    afterDeletion: (memory, now) =>
      memory.unreadable !== undefined || !mayLeaveResources(memory.txn)
        ? undefined
        : { ...memory, txn: asReleased(memory.txn, now) },
    // A finished one may wait for days until it expires, and a Draft for an approval.
    isKept: ({ txn, unreadable }, step) =>
      !(step.type === "wait" && step.rests !== undefined) && (unreadable !== undefined || !isEnded(txn)),
    lanes: ({ known }) => (hasLargeTarget(known) ? 1 : PER_TRANSACTION),
    claim: (memory, now) =>
      memory.unreadable !== undefined || !isLarge(memory)
        ? undefined
        : {
            isUrgent: () => isUrgent(contextOf(memory, now)),
            // Changes are checkpointed, so it can resume later; of a preflight, what has a snapshot is not examined again.
            kept: isUnderWay(memory.txn) ? "all" : keptTargets(memory.known),
          },
    // What a preflight has not asked by then, it asks in its next turn.
    mayEndEarly: ({ txn }) => txn.status.phase === "Preparing",
    mostSteps: ({ txn }) => 1000 + 20 * txn.spec.changes.length,
  };
};
