// Computes the object that a write stores, with metadata and managers.
import { equal, type JsonObject, type KubeObject, type ObjectMeta, type Instant, toTimestamp } from "@janus/types";
import type { ObjectRef } from "@janus/controller/core";
import { contentOf, type Written } from "./field-managers.ts";
import { nextUid, versioned, type World } from "./world.ts";
import type { ServedKind } from "./served-kinds.ts";

const isGenerational = ({ resource }: ServedKind): boolean => resource.statusSubresource;

/** The part whose changes raise the generation: neither metadata nor status. */
const specOf = (object: object): JsonObject => {
  const { metadata: _, status: __, ...spec } = contentOf(object);
  return spec;
};

const withManagers = ({ metadata, ...object }: KubeObject, { managedFields }: Written): KubeObject => {
  const { managedFields: _, ...rest } = metadata;
  return { ...object, metadata: managedFields.length === 0 ? rest : { ...rest, managedFields } };
};

/** The object that a POST creates. */
export const createdObject = (
  world: World,
  place: ObjectRef,
  body: object,
  result: Written,
  kind: ServedKind,
  now: Instant,
) => {
  const { status, ...content } = result.content;
  const { generateName } = (body as KubeObject).metadata;
  const object: KubeObject = {
    apiVersion: (body as KubeObject).apiVersion,
    kind: place.resource.kind,
    ...content,
    ...(status === undefined || kind.resource.statusSubresource ? {} : { status }),
    metadata: {
      ...(content["metadata"] as ObjectMeta),
      name: place.name,
      ...(generateName === undefined ? {} : { generateName }),
      ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
      uid: nextUid(world),
      creationTimestamp: toTimestamp(now),
      ...(isGenerational(kind) ? { generation: 1 } : {}),
    },
  };
  return versioned(world, withManagers(object, result));
};

/** The live object with what was written: of the metadata, and of a status that is a subresource, what it had. */
export const changedObject = (live: KubeObject, result: Written, kind: ServedKind): KubeObject => {
  const { status, metadata, ...content } = result.content;
  const { labels: _, annotations: __, finalizers: ___, ownerReferences: ____, ...identity } = live.metadata;
  const kept = kind.resource.statusSubresource ? live["status"] : status;
  const next: KubeObject = {
    apiVersion: live.apiVersion,
    kind: live.kind,
    ...content,
    ...(kept === undefined ? {} : { status: kept }),
    metadata: { ...identity, ...(metadata as ObjectMeta) },
  };
  const { generation } = live.metadata;
  const isNew = generation !== undefined && !equal(specOf(next), specOf(live));
  return withManagers(isNew ? { ...next, metadata: { ...next.metadata, generation: generation + 1 } } : next, result);
};
