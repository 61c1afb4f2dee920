// The objects of the model.
import type { KubeObject } from "@janus/types";
import type { ObjectRef } from "@janus/controller/core";

/** All objects of the API server, and how often one was written: resourceVersions and uids come from that. */
export interface World {
  readonly objects: ReadonlyMap<string, KubeObject>;
  readonly revision: number;
}

/** The key of an object, the same in any version of its kind. */
export const placeKey = ({ resource: { group, kind }, namespace = "", name }: ObjectRef): string =>
  JSON.stringify([group, kind, namespace, name]);

export const objectAt = ({ objects }: World, place: ObjectRef): KubeObject | undefined => objects.get(placeKey(place));

/** The next version of an object. */
export const versioned = ({ revision }: World, object: KubeObject): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion: String(revision + 1) },
});

/** The world with this object there, or none. */
export const stored = ({ objects, revision }: World, key: string, object: KubeObject | undefined): World => {
  const next = new Map(objects);
  if (object === undefined) next.delete(key);
  else next.set(key, object);
  return { objects: next, revision: revision + 1 };
};

/** A uid that no other object has. */
export const nextUid = ({ revision }: World): string =>
  `00000000-0000-4000-8000-${String(revision + 1).padStart(12, "0")}`;
