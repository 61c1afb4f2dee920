// The observations of targets and their gates.
import { type ApiError, type KubeObject, messageOf, type Instant } from "@janus/types";
import type { SilentPod } from "../gates/pods.ts";

/** outline: of the object, only what is asked of it once its snapshot is written; see `outline.ts`. */
export type TargetObservation =
  | { readonly type: "absent"; readonly object?: undefined; readonly at: Instant }
  | { readonly type: "read" | "outline"; readonly object: KubeObject; readonly at: Instant };

/** Observations by this process of a target that is waited for. */
export interface GateObservations {
  /** When a watch last reported that it has changed. */
  readonly changedAt?: Instant | undefined;
  /** Why it may not be read. */
  readonly unreadable?: string | undefined;
  readonly unanswered?: Outage | undefined;
  /** The judgement of its gates by the last live read; the object itself may have been dropped since. */
  readonly judged?: JudgedGates | undefined;
  /** The explanation of what is wrong with it, and when that was looked at, beside the target itself. */
  readonly explained?: Explanation | undefined;
  /** The target as it was when it had finished: a Job may delete itself then. */
  readonly finished?: KubeObject | undefined;
}

/** Why a target does not meet its gates, by what is seen beside it: its Pods, and Events. */
export interface Explanation {
  readonly at: Instant;
  readonly message: string;
  /** Its Events are still to be looked at. */
  readonly pod?: SilentPod;
  /** Set if it counts as ready by that. */
  readonly isReady?: true;
}

/** Whether a target meets its gates, as it was when it was read. */
export interface JudgedGates {
  readonly at: Instant;
  /** Undefined: it was absent. */
  readonly resourceVersion: string | undefined;
  /** Undefined: it meets all of them. */
  readonly unmet?: UnmetGate;
  /** Evidence to look at beside it; undefined if that would say no more. */
  readonly explainable?: Explainable;
}

/** A target, by its kind and name, and where it is to be seen what is wrong with it. */
export interface Explainable {
  readonly object: KubeObject;
  readonly by:
    | { readonly type: "itself" }
    | { readonly type: "pods"; readonly labelSelector: string }
    /** unscheduled: a claim that no Pod is scheduled for; its Events say whether it waits just for that. */
    | { readonly type: "events"; readonly uid: string; readonly isUnscheduled: boolean };
}

/** The first of the gates that is not met, or that cannot be any more. */
export interface UnmetGate {
  readonly gate: string;
  /**
   * A state that does not change any more by waiting: it may not be read; conflict: another client has deleted the target, or
   * changed what the Transaction has set.
   */
  readonly final?: "unreadable" | "conflict";
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
