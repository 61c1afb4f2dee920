// The observation of an owner: there, gone or unknown.
import type { Instant } from "@janus/types";

/** Whether the object of this uid exists; unknown: the ServiceAccount may not read it, or its kind is not served. */
export interface OwnerObservation {
  readonly is: "there" | "gone" | "unknown";
  readonly readAt: Instant;
}
