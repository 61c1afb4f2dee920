import type { ApiError, KubeObject } from "@janus/types";
import { messageOf } from "../kubernetes/api-error.ts";
import type { Instant } from "../kubernetes/time.ts";

/** outline: of the object, only what is asked of it once its snapshot is written; see `outline.ts`. */
export type TargetObservation =
  | { readonly type: "absent"; readonly object?: undefined; readonly at: Instant }
  | { readonly type: "read" | "outline"; readonly object: KubeObject; readonly at: Instant };

/** What this process has learned of a target that is waited for. */
export interface GateObservations {
  /** When a watch last reported that it has changed. */
  readonly changedAt?: Instant | undefined;
  /** Why it may not be read. */
  readonly unreadable?: string | undefined;
  readonly unanswered?: Outage | undefined;
  /** What its last live read has shown of its gates; the object itself may have been dropped since. */
  readonly judged?: JudgedGates | undefined;
  /** What is wrong with a workload, and when its Pods were looked at for that. */
  readonly explained?: { readonly at: Instant; readonly message: string } | undefined;
}

/** Whether a target meets its gates, as it was when it was read. */
export interface JudgedGates {
  readonly at: Instant;
  /** Undefined: it was absent. */
  readonly resourceVersion: string | undefined;
  /** Undefined: it meets all of them. */
  readonly unmet?: UnmetGate;
  /** Its kind and name, for messages, and which Pods are its own; undefined if it was absent. */
  readonly workload?: { readonly object: KubeObject; readonly podSelector: string | undefined };
}

/** The first of the gates that is not met, or that cannot be any more. */
export interface UnmetGate {
  readonly gate: string;
  /** The target was deleted, or may not be read. */
  readonly isGone: boolean;
  readonly state: { readonly type: "waiting" | "failed"; readonly message: string };
}

/** Requests are not answered: since when, when the last one was not, and why. The API may not be available. */
export interface Outage {
  readonly since: Instant;
  readonly at: Instant;
  readonly message: string;
}

/** After one more request without an answer. */
export const stillUnanswered = (former: Outage | undefined, fault: ApiError, now: Instant): Outage => ({
  since: former?.since ?? now,
  at: now,
  message: messageOf(fault),
});
