import type { Instant } from "../kubernetes/time.ts";

/** An object that names owners, or that others name as theirs, as far as the ServiceAccount may see it. */
export interface Owned {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  /** Their uids. */
  readonly owners: readonly string[];
  /** Those of them that are not of any namespace; absent where there is none. */
  readonly clusterOwners?: readonly string[];
  readonly tiedTo?: string;
  readonly callName?: string;
}

/** A kind of which it is not known what the targets of deletions own. */
export interface Unlisted {
  /** As kubectl takes it: `pods.metrics.k8s.io`. */
  readonly resource: string;
  readonly why: string;
  /** Its server may answer yet. */
  readonly mayComeYet: boolean;
}

/** The kinds that could not be listed in a namespace, or everywhere: since when, and when it was tried last. */
export interface Listing {
  readonly since: Instant;
  readonly readAt: Instant;
  readonly unlisted: readonly Unlisted[];
}
