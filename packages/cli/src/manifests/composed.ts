// The type of a Transaction with the manifests that it was made of.
import type { TransactionManifest } from "@janus/authoring";
import type { Located } from "./read-manifests.ts";

/** A Transaction, and the manifests that it was made of. */
export interface Composed {
  readonly manifest: TransactionManifest;
  /** Absent: it was given as a Transaction, so that the order of its changes is its author's. */
  readonly sources?: readonly Located[];
}
