import type { Transaction } from "@janus/api";
import { fromTimestamp, type Instant } from "../kubernetes/time.ts";
import type { Observations } from "./observations.ts";
import type { ObjectRef } from "../kubernetes/kube-object.ts";

/** What a step is decided on: the Transaction as last read or written, what this process knows besides, and the time. */
export interface ReconcileContext {
  readonly txn: Transaction;
  readonly known: Observations;
  readonly now: Instant;
  readonly settings: Settings;
  /** Who waits for this Lease, too, and goes before this Transaction; see `goesBefore`. */
  readonly queuedBefore: (lease: ObjectRef) => Transaction | undefined;
  /** Who else waits for this Lease, and has it next. */
  readonly nextWaiter: (lease: ObjectRef) => Transaction | undefined;
}

/** Durations in ms. */
export interface Settings {
  /** Where the locks of cluster-scoped targets live. */
  readonly controllerNamespace: string;
  /** After this time the API server gives up a write of ours. */
  readonly writeTimeout: number;
  /** On top of the write timeout, before a change that cannot be seen counts as not made. */
  readonly margin: number;
  /** After this time a Failed Transaction is tried again; then after four times as long, and so on. */
  readonly recoveryDelay: number;
}

/** How often something is looked at, or tried, that only others can change, in ms. */
export const POLL_INTERVAL = 1000;

/** How long after its sending a write may still turn up. */
export const inFlightWindow = (settings: Settings): number => settings.writeTimeout + settings.margin;

/** The end of the time for going forward. */
export const deadline = ({ txn, now }: ReconcileContext): number =>
  (fromTimestamp(txn.status.startedAt) ?? now) + txn.spec.timeout;
