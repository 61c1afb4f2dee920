// The observations of the change that is being applied.
import type { Instant } from "@janus/types";
import type { Outage } from "./target-observations.ts";

/** Observations by this process in the turn of a change, in this order. */
export interface ForwardObservations {
  /** The times since when it has been asked again what the preflight could not find out, and when that was last. */
  readonly lateCheck?: { readonly since: Instant; readonly at: Instant } | undefined;
  /** Its field managers were folded, or cannot be; see `fold-managers.ts`. */
  readonly isFolded?: true | undefined;
  /**
   * The write was answered as if nothing were served at its path: that is no attempt. But a proxy may say so of what it has
   * passed on, and of a Delete, unlike any other write, the target does not tell.
   */
  readonly metUnserved?: true | undefined;
  /** The outcome of the write that makes the change, until that is recorded; undefined: none was sent. */
  readonly write?: Write | undefined;
  /** The reads fail that show what has become of it: of its target, or of its snapshot. */
  readonly unread?: Outage | undefined;
  /** The trace of the change in its target, where only that tells how far the changes have come, and when it was read. */
  readonly trace?: Traced | undefined;
}

/** The trace of a change in its target, as it was read then. `unclear`: only a comparison with the snapshot tells. */
export interface Traced {
  readonly at: Instant;
  readonly of: Trace | { readonly type: "unclear" };
}

/**
 * The trace of a change in its target, which tells how far the changes have come in a window that another process has opened, or where
 * the journal was lost.
 *
 * in: it has our mark. gone: the target of a Delete is absent. never: it is in the recorded version, so that the change was not made.
 * nothing: nothing of the change is there, whether or not it was made. open: it may be there, without our mark.
 */
export type Trace =
  | { readonly type: "in"; readonly created?: string }
  | { readonly type: "gone" | "never" | "nothing" }
  | { readonly type: "open"; readonly why: string };

/**
 * made: the change is in, with the uid of what it created. `isUnmarked`: the answer does not bear our mark, so that its target would
 *       not tell. Of any attempt, the outcome has to be looked up in the target.
 * aborted: it must not or cannot be made, so that nothing more is sent, nor looked up.
 */
export type Write = SentWrite | { readonly type: "aborted"; readonly cause: AbortCause; readonly sent?: SentWrite };

export type SentWrite = Attempt | { readonly type: "made"; readonly created?: string; readonly isUnmarked?: true };

/**
 * unanswered: the write may have been applied; so may one of a former leader, sent before this process took
 *             over.
 * refused: the API server rejected the write.
 * accepted: a deletion that finalizers delay.
 */
export type Attempt =
  | { readonly type: "unanswered"; readonly sent: Instant }
  | {
      readonly type: "refused";
      readonly sent: Instant;
      readonly code: number;
      readonly message: string;
      /** Set if the target was absent or modified. */
      readonly moved?: true;
      /** When the same write was sent before without a response. It may have been applied, or may still be. */
      readonly unanswered?: Instant;
    }
  | { readonly type: "accepted"; readonly sent: Instant };

/** The write that was sent of a change, whether or not it is aborted since. */
export const sentWrite = (write: Write | undefined): SentWrite | undefined =>
  write?.type === "aborted" ? write.sent : write;

/** The write with its outcome, if that is known; otherwise, one that was sent by then may have been applied. */
export const inDoubtSince = (write: Write | undefined, sent: Instant): Write => {
  const unanswered: Attempt = { type: "unanswered", sent };
  if (write?.type === "aborted") return { ...write, sent: write.sent ?? unanswered };
  return write ?? unanswered;
};

/** When a write was last sent that may have been applied without a response. */
export const unansweredSince = (write: SentWrite | undefined): Instant | undefined => {
  if (write?.type === "unanswered") return write.sent;
  return write?.type === "refused" ? write.unanswered : undefined;
};

export interface AbortCause {
  readonly reason:
    | "CommitFailed"
    | "ConflictDetected"
    | "LockRenewalFailed"
    | "Timeout"
    | "Deleted"
    | "RollbackRequested"
    | "GateFailed";
  readonly message: string;
  /** The fate of the change at the cursor. */
  readonly fate: "not-sent" | "rejected" | "unknown" | "applied";
  /** The gates that were not met, and how their targets were last, by change. */
  readonly unmetGates?: ReadonlyMap<number, string>;
  /** Names what cannot be read, so that the fate is unknown. */
  readonly unread?: string;
}
