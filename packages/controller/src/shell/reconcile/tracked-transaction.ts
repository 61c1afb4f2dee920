import { FINALIZER, type Transaction } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import {
  isTerminal,
  type Observations,
  noObservations,
  decodeStored,
  decodeBestEffort,
  type Unread,
} from "../../core/index.ts";
import { type Clock, newClock } from "../process/clock.ts";

/** A Transaction that this process is at work on, and what it has learned of it. */
export interface TrackedTransaction {
  txn: Transaction;
  known: Observations;
  /** By which it is decided on for as long as it is at work: its times are in order, whatever the wall clock is set to. */
  readonly now: Clock;
  /** Why it cannot be read; then `txn` is what could be salvaged of it. */
  unreadable: Unread | undefined;
  /** It is there no more, and is finished as if it were. */
  isForceDeleted?: true;
}

export const understood = (object: KubeObject): Required<Pick<TrackedTransaction, "txn" | "unreadable">> => {
  const read = decodeStored(object);
  return E.isRight(read)
    ? { txn: read.right, unreadable: undefined }
    : { txn: decodeBestEffort(object), unreadable: read.left };
};

/** One that is taken up. */
export const newTracked = (current: Pick<TrackedTransaction, "txn" | "unreadable">): TrackedTransaction => {
  const now = newClock();
  return { ...current, now, known: noObservations(now()) };
};

/** The key under which it is worked on. */
export const keyOf = ({ metadata: { namespace, name } }: Transaction): string => `${namespace}/${name}`;

export const namespaceOf = (key: string): string => key.slice(0, key.indexOf("/"));

/** Nothing of ours is left on it. */
export const isEnded = ({ metadata: { finalizers = [] }, status: { phase } }: Transaction): boolean =>
  isTerminal(phase) && !finalizers.includes(FINALIZER);
