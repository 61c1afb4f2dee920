// Finds the volume of a claim, or the content of a VolumeSnapshot, that holds its data.
import { groupOf } from "@janus/api";
import { asObject, type KubeObject } from "@janus/types";
import type { ObjectRef } from "./kube-object.ts";

/** The object that stands for the storage of a claim or snapshot, and how the two name each other. */
interface Backing {
  readonly kind: string;
  readonly plural: string;
  /** The name of that object, if it was not made for this claim or snapshot. */
  readonly nameIn: (object: KubeObject) => unknown;
  /** Its reference to the claim or snapshot. */
  readonly reference: string;
  /** The fate of the storage when the claim or snapshot goes. */
  readonly policy: string;
}

const sourceOf = (object: KubeObject): Readonly<Record<string, unknown>> =>
  asObject(asObject(object["spec"])["source"]);

/** The number of digits of its uid that tell a claim from all others. */
const ENOUGH_OF_UID = 8;

/**
 * A volume that is provisioned for a claim has the uid of that at the end of its name, whole or as so many digits of it as the
 * provisioner was told to take: nobody can know it before. Its age and annotations prove nothing, since a volume with data may be
 * imported from a manifest.
 * https://github.com/kubernetes/kubernetes/blob/v1.36.3/pkg/controller/volume/persistentvolume/pv_controller.go (`getProvisionedVolumeNameForClaim`)
 * https://github.com/kubernetes-csi/external-provisioner#command-line-options (`--volume-name-prefix`, `--volume-name-uuid-length`)
 */
const isNamedAfter = (uid: string, volume: string): boolean => {
  const [, digits = ""] = /-([0-9a-f]+)$/u.exec(volume) ?? [];
  return volume.endsWith(`-${uid}`) || (digits.length >= ENOUGH_OF_UID && uid.replaceAll("-", "").startsWith(digits));
};

const volumeIn = ({ metadata: { uid = "" }, spec }: KubeObject): unknown => {
  const { volumeName } = asObject(spec);
  return typeof volumeName === "string" && uid !== "" && isNamedAfter(uid, volumeName) ? undefined : volumeName;
};

/**
 * Backings by group and kind.
 * https://kubernetes.io/docs/concepts/storage/persistent-volumes/#reclaiming
 * https://kubernetes.io/docs/concepts/storage/volume-snapshots/#static
 * https://kubernetes.io/blog/2024/12/18/kubernetes-1-32-volume-group-snapshot-beta/
 */
const BACKINGS: Readonly<Record<string, Backing>> = {
  "/PersistentVolumeClaim": {
    kind: "PersistentVolume",
    plural: "persistentvolumes",
    nameIn: volumeIn,
    reference: "claimRef",
    policy: "persistentVolumeReclaimPolicy",
  },
  "snapshot.storage.k8s.io/VolumeSnapshot": {
    kind: "VolumeSnapshotContent",
    plural: "volumesnapshotcontents",
    nameIn: (object) => sourceOf(object)["volumeSnapshotContentName"],
    reference: "volumeSnapshotRef",
    policy: "deletionPolicy",
  },
  "groupsnapshot.storage.k8s.io/VolumeGroupSnapshot": {
    kind: "VolumeGroupSnapshotContent",
    plural: "volumegroupsnapshotcontents",
    nameIn: (object) => sourceOf(object)["volumeGroupSnapshotContentName"],
    reference: "volumeGroupSnapshotRef",
    policy: "deletionPolicy",
  },
};

const backingOf = ({ apiVersion, kind }: KubeObject): Backing | undefined => BACKINGS[`${groupOf(apiVersion)}/${kind}`];

/** The PersistentVolume of a claim, or the content of a snapshot of volumes, that was not made for it; undefined if there is none. */
export const priorStorage = (object: KubeObject): ObjectRef | undefined => {
  const backing = backingOf(object);
  const name = backing?.nameIn(object);
  if (backing === undefined || typeof name !== "string" || name === "") return undefined;
  const [group, version = object.apiVersion] = [groupOf(object.apiVersion), object.apiVersion.split("/").at(-1)];
  const { kind, plural } = backing;
  return { resource: { group, version, plural, kind, namespaced: false, statusSubresource: true }, name };
};

const DESTROYING: readonly unknown[] = ["Delete", "Recycle"];

/**
 * The field of this {@link priorStorage} by which the cluster deletes its data with the claim or snapshot; undefined if it keeps it.
 * What names no claim yet counts, too: it is being bound.
 */
export const destroyedWith = (object: KubeObject, storage: KubeObject): string | undefined => {
  const backing = backingOf(object);
  if (backing === undefined) return undefined;
  const { [backing.reference]: reference, [backing.policy]: policy } = asObject(storage["spec"]);
  const { uid = object.metadata.uid, name, namespace } = asObject(reference);
  const { metadata } = object;
  const isOfOther =
    reference !== undefined && (uid !== metadata.uid || name !== metadata.name || namespace !== metadata.namespace);
  return isOfOther || !DESTROYING.includes(policy) ? undefined : backing.policy;
};

/** The kind of claim or snapshot whose storage this object stands for. */
const roleOf = ({ apiVersion, kind }: KubeObject): readonly [ofKind: string, Backing] | undefined => {
  const prefix = `${groupOf(apiVersion)}/`;
  const found = Object.entries(BACKINGS).find(([key, backing]) => backing.kind === kind && key.startsWith(prefix));
  return found === undefined ? undefined : [found[0].slice(prefix.length), found[1]];
};

const CSI_FINALIZER = "external-provisioner.volume.kubernetes.io/finalizer";

/**
 * The field of a volume, or of the content of a snapshot, that a client has created, by which the cluster deletes the data behind it
 * with the object: that was there before the object. Undefined if it keeps the data.
 * https://kubernetes.io/docs/concepts/storage/persistent-volumes/#persistentvolume-deletion-protection-finalizer
 * https://kubernetes.io/docs/concepts/storage/volume-snapshots/#delete
 */
export const destroyedBehind = (object: KubeObject): string | undefined => {
  const [, backing] = roleOf(object) ?? [];
  if (backing === undefined || asObject(object["spec"])[backing.policy] !== "Delete") return undefined;
  const { snapshotHandle, groupSnapshotHandles } = sourceOf(object);
  const isBehind =
    object.kind === "PersistentVolume"
      ? object.metadata.finalizers?.includes(CSI_FINALIZER) === true
      : (snapshotHandle ?? groupSnapshotHandles) !== undefined;
  return isBehind ? backing.policy : undefined;
};

const UNBOUND: readonly unknown[] = ["Released", "Failed"];

/** The claim or snapshot that a volume, or the content of a snapshot, is bound to: as long as that exists, it cannot be deleted. */
export const boundTo = (object: KubeObject): { readonly uid: string; readonly name: string } | undefined => {
  const [ofKind, backing] = roleOf(object) ?? [];
  if (backing === undefined || UNBOUND.includes(asObject(object["status"])["phase"])) return undefined;
  const { uid, namespace, name } = asObject(asObject(object["spec"])[backing.reference]);
  const isComplete = typeof uid === "string" && typeof namespace === "string" && typeof name === "string";
  return isComplete && uid !== "" ? { uid, name: `${ofKind} ${namespace}/${name}` } : undefined;
};
