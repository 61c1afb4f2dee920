// The input of a decision: the Transaction, the observations, the settings and the time.
import type { Metadata, Transaction } from "@janus/api";
import { fromTimestamp, type Instant } from "@janus/types";
import type { Observations } from "./observations.ts";
import type { ObjectRef } from "../kubernetes/kube-object.ts";

/** The input of a decision: the Transaction as last read or written, the observations of this process, and the time. */
export interface ReconcileContext {
  readonly txn: Transaction;
  readonly known: Observations;
  readonly now: Instant;
  readonly settings: Settings;
  /** How many locks the Transactions of its namespace hold, as far as this process knows. Absent: none. */
  readonly locksOfNamespace?: number;
  /** It has had memory for long, and others wait for that: it keeps the work that is done. Absent: it has not. */
  readonly isOver?: boolean;
  /** The Transaction that waits for this Lease, too, and is before this one in the queue; see `hasPriorityOver`. */
  readonly queuedBefore: (lease: ObjectRef) => QueuedTransaction | undefined;
  /** The next other Transaction that waits for this Lease. */
  readonly nextWaiter: (lease: ObjectRef) => QueuedTransaction | undefined;
}

/** The part of a Transaction that the queue for a lock keeps. */
export interface QueuedTransaction {
  readonly metadata: Pick<Metadata, "namespace" | "name" | "uid">;
  readonly status: Pick<Transaction["status"], "phase" | "startedAt">;
  /** The time since when it has yielded to others, if it has. */
  readonly behind?: Instant;
}

/** Durations in ms. */
export interface Settings {
  /** The namespace of the locks of cluster-scoped targets. */
  readonly controllerNamespace: string;
  /** The timeout of a write on the API server. */
  readonly writeTimeout: number;
  /** Added to the write timeout before a change that is not visible counts as not applied. */
  readonly margin: number;
  /** The time after which a Failed Transaction is retried; then after four times as long, and so on. */
  readonly recoveryDelay: number;
  /** Kinds whose values are shown no more than those of Secrets, as `Kind` or `Kind.group`. Default: none. */
  readonly sensitiveKinds?: readonly string[];
  /** Seconds after which a finished Transaction without ttlSecondsAfterFinished is deleted. Default: never. */
  readonly defaultTtl?: number;
}

/** How long after it was sent a write may still take effect. */
export const inFlightWindow = (settings: Settings): number => settings.writeTimeout + settings.margin;

/** The deadline for applying the changes. */
export const deadline = ({ txn, now }: ReconcileContext): number =>
  (fromTimestamp(txn.status.startedAt) ?? now) + txn.spec.timeout;
