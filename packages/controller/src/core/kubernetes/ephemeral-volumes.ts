// Finds the PersistentVolumeClaims of a Pod's generic ephemeral volumes.
import { asObject, type KubeObject } from "@janus/types";
import { deletedClaims, type DeletedClaims } from "./stateful-set-claims.ts";

const isPod = ({ apiVersion, kind }: KubeObject): boolean => apiVersion === "v1" && kind === "Pod";

const ephemeralIn = (pod: KubeObject): readonly string[] => {
  const { volumes } = asObject(pod["spec"]);
  return Array.isArray(volumes)
    ? volumes
        .map(asObject)
        .flatMap(({ name, ephemeral }) => (ephemeral !== undefined && typeof name === "string" ? [name] : []))
    : [];
};

/** The part of the spec of a Pod that {@link claimsOfPod} looks at. */
export const ephemeralSpec = (object: KubeObject): object | undefined => {
  const names = isPod(object) ? ephemeralIn(object) : [];
  return names.length === 0 ? undefined : { volumes: names.map((name) => ({ name, ephemeral: {} })) };
};

/**
 * The claims of volumes that go with a Pod: those of its generic ephemeral volumes.
 * https://kubernetes.io/docs/concepts/storage/ephemeral-volumes/#persistentvolumeclaim-naming
 */
export const claimsOfPod = (object: KubeObject): DeletedClaims | undefined => {
  const names = isPod(object) ? ephemeralIn(object).map((volume) => `${object.metadata.name}-${volume}`) : [];
  return names.length === 0 ? undefined : deletedClaims(names, names.length, (name) => names.includes(name));
};
