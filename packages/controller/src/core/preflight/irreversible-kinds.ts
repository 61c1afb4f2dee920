import type { Change, Transaction } from "@janus/api";

/**
 * Group by kind. Their contents, or the storage behind them, are deleted with them, and no write restores that.
 * https://kubernetes.io/docs/concepts/storage/volume-snapshots/#delete
 * https://kubernetes.io/blog/2024/12/18/kubernetes-1-32-volume-group-snapshot-beta/
 */
const IRREVERSIBLE: Readonly<Record<string, string>> = {
  Namespace: "",
  PersistentVolume: "",
  PersistentVolumeClaim: "",
  CustomResourceDefinition: "apiextensions.k8s.io",
  VolumeSnapshot: "snapshot.storage.k8s.io",
  VolumeSnapshotContent: "snapshot.storage.k8s.io",
  VolumeGroupSnapshot: "groupsnapshot.storage.k8s.io",
  VolumeGroupSnapshotContent: "groupsnapshot.storage.k8s.io",
};

/** Whether an object of this kind is not the same when it is created again. */
export const isOfIrreversibleKind = ({ apiVersion, kind }: Pick<Change["target"], "apiVersion" | "kind">): boolean =>
  Object.hasOwn(IRREVERSIBLE, kind) && apiVersion.split("/").slice(0, -1).join("/") === IRREVERSIBLE[kind];

/** Whether it is a deletion that cannot be undone. */
export const isIrreversible = (change: Change | undefined): boolean =>
  change?.type === "Delete" && isOfIrreversibleKind(change.target);

/** The first irreversible deletion among this many changes; all of them are at the end of the list. */
export const firstIrreversible = ({ spec }: Transaction, count: number): Change | undefined =>
  spec.changes.slice(0, count).find(isIrreversible);

/** How messages say so. */
export const cannotBeUndone = ({ kind, name }: Change["target"]): string =>
  `the deletion of ${kind} ${name} cannot be undone`;
