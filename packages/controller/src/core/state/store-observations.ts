import type { SnapshotStore } from "@janus/api";
import type { Version } from "../kubernetes/kube-object.ts";

/** The stores of a snapshot and of those written with it, and the name of the first one. */
export interface SnapshotRef {
  readonly first: string;
  readonly stores: readonly SnapshotStore[];
}

export type StoreData = { readonly data: ReadonlyMap<string, string> } | { readonly broken: string };

/** A snapshot store while stores are being written; "taken": an object of its name exists. */
export type StoreObservation = SnapshotStore | "taken" | "left-over" | { readonly unusable: string };

/** nothing: there is none of this name. theirs: it does not belong to this Transaction. */
export type StoreListing = "nothing" | "theirs" | OurStore;

/** An object with this Transaction's uid. */
export interface OurStore extends Version {
  readonly finalizers: readonly string[];
  /** A later version of the controller wrote it. */
  readonly isLater?: true;
}
