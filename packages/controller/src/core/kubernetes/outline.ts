// Reduces an object to the fields that are still needed once its snapshot is written.
import { claimSpec } from "./deleted-claims.ts";
import { jobOutline } from "./finished-job.ts";
import { ACCOUNT_ANNOTATIONS } from "./implicit-owners.ts";
import { asObject, type KubeObject, type ObjectMeta } from "@janus/types";

const only = (object: object, ...keys: readonly string[]): object =>
  Object.fromEntries(Object.entries(object).filter(([key]) => keys.includes(key)));

const ofAccount = (annotations: ObjectMeta["annotations"] = {}): NonNullable<ObjectMeta["annotations"]> =>
  Object.fromEntries(Object.entries(annotations).filter(([name]) => ACCOUNT_ANNOTATIONS.includes(name)));

/** The versions that a CustomResourceDefinition has, and whether objects are stored in them. */
export const versionsOf = (object: unknown): readonly { readonly name: string; readonly storage: boolean }[] => {
  const { versions } = asObject(asObject(object)["spec"]);
  return Array.isArray(versions)
    ? versions
        .map(asObject)
        .map(({ name, storage }) => ({ name: typeof name === "string" ? name : "", storage: storage === true }))
    : [];
};

/** The requested storage of a PersistentVolumeClaim. */
export const storageOf = (object: unknown): unknown =>
  asObject(asObject(asObject(asObject(object)["spec"])["resources"])["requests"])["storage"];

/** The fate of a PersistentVolume when its claim is gone, whether it is, and which claim it is. */
export const reclaimOf = (
  object: unknown,
): { readonly policy: unknown; readonly phase: unknown; readonly claimRef: unknown } => {
  const { spec, status } = asObject(object);
  const { persistentVolumeReclaimPolicy: policy, claimRef } = asObject(spec);
  return { policy, claimRef, phase: asObject(status)["phase"] };
};

/**
 * The part of a target that is remembered after its snapshot is written: everything that is still needed before the first change
 * (its identity and version, its owners, whether it is being deleted, and what makes a change irreversible).
 */
export const outline = (object: KubeObject): KubeObject => {
  const { apiVersion, kind, metadata, immutable, type } = object;
  const isSecret = apiVersion === "v1" && kind === "Secret";
  const storage = storageOf(object);
  const claims = claimSpec(object);
  const { policy: persistentVolumeReclaimPolicy, claimRef, phase } = reclaimOf(object);
  const isVolume = apiVersion === "v1" && kind === "PersistentVolume";
  const versions = kind === "CustomResourceDefinition" ? versionsOf(object) : [];
  return {
    apiVersion,
    kind,
    metadata: {
      ...only(
        metadata,
        "namespace",
        "name",
        "uid",
        "resourceVersion",
        "ownerReferences",
        "finalizers",
        "deletionTimestamp",
      ),
      ...(isSecret ? { annotations: ofAccount(metadata.annotations) } : {}),
    },
    ...(isSecret ? { type } : {}),
    ...(immutable === undefined ? {} : { immutable }),
    ...(storage === undefined ? {} : { spec: { resources: { requests: { storage } } } }),
    ...(versions.length === 0 ? {} : { spec: { versions } }),
    ...(claims === undefined ? {} : { spec: claims }),
    ...(isVolume ? { spec: { persistentVolumeReclaimPolicy, claimRef }, status: { phase } } : {}),
    ...jobOutline(object),
  };
};
