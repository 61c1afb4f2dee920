import type { Transaction } from "@janus/api";
import type { Instant } from "./instant.ts";
import type { Known } from "./known.ts";
import type { Place } from "./object.ts";

/** What a step is decided on: the Transaction as last read or written, what this process knows besides, and the time. */
export interface Situation {
  readonly txn: Transaction;
  readonly known: Known;
  readonly now: Instant;
  readonly settings: Settings;
  /** Who waits for this Lease, too, and goes before this Transaction; see `goesBefore`. */
  readonly ahead: (lease: Place) => Transaction | undefined;
  /** Who else waits for this Lease, and has it next. */
  readonly wanted: (lease: Place) => Transaction | undefined;
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
export const LOOK_AGAIN = 1000;

/** How long after its sending a write may still turn up. */
export const quiet = (settings: Settings): number => settings.writeTimeout + settings.margin;
