// The kinds whose data is lost when an object is deleted, even if it is created again.
import type { KubeObject } from "@janus/types";
import { groupOf } from "./target.ts";

/**
 * Group by kind. Their contents, or the storage behind them, are deleted with them, and no write restores that.
 * https://kubernetes.io/docs/concepts/storage/volume-snapshots/#delete
 * https://kubernetes.io/blog/2024/12/18/kubernetes-1-32-volume-group-snapshot-beta/
 */
const IRREPLACEABLE: Readonly<Record<string, string>> = {
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
export const isIrreplaceable = ({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">): boolean =>
  Object.hasOwn(IRREPLACEABLE, kind) && groupOf(apiVersion) === IRREPLACEABLE[kind];

/** The kind of a resource such as `persistentvolumeclaims`, if its objects are not the same when they are created again. */
export const irreplaceableKind = (group: string, plural: string): string | undefined =>
  Object.keys(IRREPLACEABLE).find((kind) => IRREPLACEABLE[kind] === group && `${kind.toLowerCase()}s` === plural);
