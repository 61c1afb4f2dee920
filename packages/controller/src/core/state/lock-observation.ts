// The observation of a lock.
import type { Version } from "../kubernetes/kube-object.ts";
import type { Instant } from "@janus/types";

/** A lock is renewed after this part of its duration. */
export const RENEWED_AFTER = 1 / 4;

/** A lock as this process last observed it. */
export type LockObservation =
  | {
      readonly type: "held";
      readonly version: Version;
      readonly until: Instant;
      /** When it is renewed; undefined: at once, since it is not known for how long it is valid. */
      readonly renewAt?: Instant;
      /** The Lease was written since, perhaps by us: it is read before it is written again. */
      readonly stale?: true;
      /** When a failed renewal is retried. */
      readonly retryAt?: Instant;
      /** The time since when its renewals are rejected. */
      readonly refusedSince?: Instant;
    }
  /** A Lease exists; its holder has to be read. */
  | { readonly type: "taken" }
  /** There was no Lease when it was read. */
  | { readonly type: "free" }
  | {
      readonly type: "theirs";
      readonly holder: string;
      readonly version: Version;
      readonly readAt: Instant;
      readonly unchangedSince: Instant;
      readonly expires: Instant;
      /**
       * The state of its holder, if that is a Transaction. foreign: a Transaction without this target, so that
       * another client wrote the Lease.
       */
      readonly holderState?: "untouched" | "active" | "rolling-back" | "finished" | "foreign";
      /** Its holder was requested to yield. */
      readonly yieldRequested?: true;
    }
  | { readonly type: "lost"; readonly why: string }
  | { readonly type: "impossible"; readonly why: string };
