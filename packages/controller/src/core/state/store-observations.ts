// The observations of snapshot stores.
import type { SnapshotStore } from "@janus/api";
import type { Version } from "../kubernetes/kube-object.ts";

/** The stores of a snapshot and of those written with it, and the name of the first one. */
export interface SnapshotRef {
  readonly first: string;
  readonly stores: readonly SnapshotStore[];
  /** The resourceVersion of the target that is in it. */
  readonly of: string | undefined;
}

export type StoreData =
  | { readonly type: "data"; readonly data: ReadonlyMap<string, string> }
  | { readonly type: "broken"; readonly why: string };

/**
 * A snapshot store while stores are being written.
 *
 * taken: an object of its name exists, which has to be read.
 * left-over: it is that of another Transaction, or of a former process.
 */
export type StoreObservation =
  | { readonly type: "written"; readonly store: SnapshotStore }
  | { readonly type: "taken" }
  | { readonly type: "left-over" }
  | { readonly type: "unusable"; readonly why: string };

/** absent: there is none of this name. theirs: it does not belong to this Transaction. */
export type StoreListing = { readonly type: "absent" } | { readonly type: "theirs" } | OurStore;

/** An object with this Transaction's uid. */
export interface OurStore extends Version {
  readonly type: "ours";
  readonly finalizers: readonly string[];
  /** A later version of the controller wrote it. */
  readonly isLater?: true;
}
