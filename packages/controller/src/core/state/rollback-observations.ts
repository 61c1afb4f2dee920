// The observations of the rollback of one change.
import type { KubeObject, Instant } from "@janus/types";
import type { Listing, Owned } from "./listings.ts";

/** Observations by this process of the rollback of one change. */
export interface RollbackObservations {
  /** When it was restored, where the journal does not record it yet. */
  readonly restoredAt?: Instant | undefined;
  /** Requests that were not answered, or refused for now: one after the other. */
  readonly failedAttempt?: FailedAttempt | undefined;
  /** Why the API server rejects it, and when it did. */
  readonly refusal?: Refusal | undefined;
  /** The objects in a Namespace, or of a kind, that the change has created. */
  readonly contents?: Contents | undefined;
  /** The volume, or the content of a snapshot, that is behind what the change has created. */
  readonly storage?: StorageBehind | undefined;
  /** How many PUTs it took so far. */
  readonly puts?: number | undefined;
  /** The state to roll back to, where the API server does not accept all former values (see `server-mutations.ts`). */
  readonly goal?: KubeObject | undefined;
  /** When the last PUT was sent. */
  readonly goalAt?: Instant | undefined;
  /** The API server has rejected former values beside those that others have set; see `ChangeMade` in `merged-field.ts`. */
  readonly yieldsToOthers?: true | undefined;
  /** The addresses and ports that a Service that is created again cannot have again. */
  readonly taken?: readonly Allocation[] | undefined;
  /** Why the target cannot be looked at in the end, of a change that was never made. */
  readonly unseen?: string | undefined;
}

export interface Refusal {
  readonly why: string;
  readonly at: Instant;
}

export interface FailedAttempt {
  readonly at: Instant;
  readonly count: number;
  readonly message: string;
}

/** As far as it could be listed: since when, and when it was listed last. */
export interface Contents extends Listing {
  readonly owned: readonly Owned[];
}

/** Absent if there is none; or why it cannot be read, and since when. */
export interface StorageBehind {
  readonly readAt: Instant;
  readonly since: Instant;
  readonly object: KubeObject | undefined;
  readonly fault: string | undefined;
}

/** Objects with owners that created objects may have adopted, as far as they could be listed. */
export interface Adoptable extends Listing {
  /** The namespace and the kinds. */
  readonly scope: string;
  readonly owned: readonly Owned[];
}

/** Values that the API server allocates to a Service, and may not be able to allocate again. */
export type Allocation = "addresses" | "ports";
