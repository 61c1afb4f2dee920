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
  /** What is wrong with a workload, and when its Pods were looked at for that. */
  readonly explained?: { readonly at: Instant; readonly message: string } | undefined;
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
