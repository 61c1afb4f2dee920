// One Transaction in the memory of this process, with its observations.
import { FINALIZER, type Transaction } from "@janus/api";
import { isResting, isTerminal, type Observations, noObservations, type Unread } from "../../core/index.ts";
import { type InstantClock, newClock } from "@janus/runtime";

/** A Transaction that this process reconciles, and its observations. */
export interface TrackedTransaction {
  txn: Transaction;
  known: Observations;
  /** The clock of its decisions for as long as it is tracked: its times are in order, whatever the wall clock is set to. */
  readonly now: InstantClock;
  /** Why it cannot be decoded; then `txn` is what could be decoded of it. */
  unreadable: Unread | undefined;
  /** For want of memory, only its identity and the state of its locks are left; see `outlineAtRest`. */
  isOutline: boolean;
  /** It was deleted without our finalizer, and its resources are released as if it still existed. */
  isForceDeleted?: true;
}

export const newTracked = (current: Pick<TrackedTransaction, "txn" | "unreadable">): TrackedTransaction => {
  const now = newClock();
  return { ...current, now, known: noObservations(now()), isOutline: false };
};

/** Its key in the work queue. */
export const queueKey = ({ metadata: { namespace, name } }: Transaction): string => `${namespace}/${name}`;

export const namespaceOf = (key: string): string => key.slice(0, key.indexOf("/"));

/** The group whose turns the Drafts of a namespace take: they must not hold up what is executed there. */
export const draftsOf = (namespace: string): string => `${namespace}/drafts`;

/** It is terminal, and no cleanup is left, or none before its rollbackWindow has passed. */
export const isEnded = (txn: Transaction): boolean =>
  isTerminal(txn.status.phase) && (!(txn.metadata.finalizers ?? []).includes(FINALIZER) || isResting(txn));
