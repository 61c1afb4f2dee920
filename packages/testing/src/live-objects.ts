// Puts the objects of a test into the model, with metadata as if they had existed before.
import { asObject, type KubeObject, type Instant, toTimestamp } from "@janus/types";
import { written } from "./api-server/field-managers.ts";
import type { ServedKind } from "./api-server/served-kinds.ts";
import { nextUid, placeKey, stored, versioned, type World } from "./api-server/world.ts";
import type { SimulatedObject } from "./simulation.ts";

/** The manager of the fields of live objects that do not name one. */
const MANAGER = "kubectl";
/** They are from a day before, in ms. */
const AGE = 86_400_000;

const isList = (object: SimulatedObject): object is SimulatedObject & { readonly items: readonly SimulatedObject[] } =>
  Array.isArray((object as Partial<SimulatedObject> | undefined)?.["items"]) && object.kind.endsWith("List");

/** Splits the lists that `kubectl get -o yaml` prints of several objects into single ones. */
export const flattened = (objects: readonly SimulatedObject[]): readonly SimulatedObject[] =>
  objects.flatMap((object) => (isList(object) ? object.items : [object]));

/** Adds an object that was there before the Transaction, with what it says of itself: uid, versions, managers, status. */
export const withLive = (
  world: World,
  given: SimulatedObject,
  { resource, type }: ServedKind,
  defaultNamespace: string,
  now: Instant,
): World => {
  const object = given as unknown as KubeObject;
  const { apiVersion, kind, metadata } = object;
  const namespace = resource.namespaced ? (metadata.namespace ?? defaultNamespace) : undefined;
  const { managedFields: sent = [], labels, annotations, finalizers, ownerReferences, ...identity } = metadata;
  const time = toTimestamp(now - AGE);
  const { content, managedFields: first } = written(
    undefined,
    { ...object, metadata: { labels, annotations, finalizers, ownerReferences } },
    type,
    { manager: MANAGER, apiVersion, time },
  );
  const managedFields = sent.length > 0 ? sent : first;
  const { metadata: kept, status: _, ...fields } = content;
  const complete: KubeObject = {
    apiVersion,
    kind,
    ...fields,
    ...(object["status"] === undefined ? {} : { status: object["status"] }),
    metadata: {
      uid: nextUid(world),
      creationTimestamp: time,
      ...(resource.statusSubresource ? { generation: 1 } : {}),
      ...identity,
      ...asObject(kept),
      ...(namespace === undefined ? {} : { namespace }),
      ...(managedFields.length === 0 ? {} : { managedFields }),
    },
  };
  const key = placeKey({ resource, ...(namespace === undefined ? {} : { namespace }), name: given.metadata.name });
  if (world.objects.has(key)) throw new TypeError(`liveObjects has ${kind} ${given.metadata.name} twice`);
  return stored(world, key, metadata.resourceVersion === undefined ? versioned(world, complete) : complete);
};

const OF_SERVER: readonly string[] = ["uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"];

/** The object without status and what the API server sets in the metadata. */
export const printed = ({ apiVersion, kind, metadata, ...fields }: KubeObject): SimulatedObject => {
  const { status: _, ...rest } = fields;
  const kept = Object.entries(metadata).filter(([name]) => !OF_SERVER.includes(name));
  return { apiVersion, kind, metadata: { name: metadata.name ?? "", ...Object.fromEntries(kept) }, ...rest };
};
