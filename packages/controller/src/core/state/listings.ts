// The result of listing objects with owners, and the kinds that could not be listed.
import type { Instant } from "@janus/types";

/** An object with owners, or that others name as their owner, as far as the ServiceAccount may see it. */
export interface Owned {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  /** The uids of its owners. */
  readonly owners: readonly string[];
  /** The owners that are not of any namespace; absent where there is none. */
  readonly clusterOwners?: readonly string[];
  readonly tiedTo?: string;
  readonly callName?: string;
  /** Nothing brings it back: it is a volume, or something else of a kind whose deletion cannot be undone. */
  readonly isIrreplaceable?: true;
  /** When it was created. */
  readonly createdAt?: string;
}

/** A kind that could not be listed, so that dependents of that kind are unknown. */
export interface Unlisted {
  /** The resource as kubectl takes it: `pods.metrics.k8s.io`. */
  readonly resource: string;
  readonly why: string;
  /** Its server may still answer. */
  readonly mayComeYet: boolean;
  /** The ServiceAccount may not list it: an access review says so, too. */
  readonly isDenied?: true;
  /** Some of its objects were examined: there are too many. */
  readonly isPartial?: true;
}

/** The kinds that could not be listed in a namespace, or everywhere: since when, and when they were listed last. */
export interface Listing {
  readonly since: Instant;
  readonly readAt: Instant;
  readonly unlisted: readonly Unlisted[];
}
