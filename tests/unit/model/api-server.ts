import type { Call, ApiError, ObjectRef } from "@janus/controller";
import * as E from "fp-ts/lib/Either.js";
import {
  asObject,
  equal,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  type ManagedFieldsEntry,
} from "@janus/types";
import { apply, post, put } from "../core/server.ts";

/**
 * The API server as the protocol sees it: objects as versions, uids, marks and a few fields, and preconditions on all of
 * them. No more Kubernetes than that.
 */
export interface World {
  readonly objects: ReadonlyMap<string, KubeObject>;
  /** Writes of each object so far: versions and uids come from here, so that what happens elsewhere does not change them. */
  readonly writes: ReadonlyMap<string, number>;
}

export interface Request {
  readonly call: Call;
  readonly dryRun: boolean;
  readonly by: string;
}

export interface Reply {
  readonly answer: E.Either<ApiError, KubeObject>;
  readonly world: World;
}

export const keyOf = ({ resource, namespace = "", name }: ObjectRef): string => `${resource.kind} ${namespace}/${name}`;

/** Only objects of this kind have field owners; everything else is opaque. */
export const TARGET_KIND = "Widget";

const refused = (code: number, reason: string, message: string): E.Either<ApiError, KubeObject> =>
  E.left({ type: "refused", code, reason, message, causes: [], ...(code === 404 ? { notFound: "object" } : {}) });

export const stored = (world: World, key: string, object: KubeObject | undefined): World => {
  const objects = new Map(world.objects);
  if (object === undefined) objects.delete(key);
  else objects.set(key, object);
  return { objects, writes: new Map(world.writes).set(key, (world.writes.get(key) ?? 0) + 1) };
};

const nextVersion = (world: World, key: string): string => String((world.writes.get(key) ?? 0) + 1);

/** Times are of no matter here, and would tell apart what is the same. */
export const untimed = (entry: ManagedFieldsEntry): ManagedFieldsEntry => {
  const { time: _, ...rest } = entry;
  return rest;
};

const timeless = (object: KubeObject): KubeObject => {
  const { managedFields, ...metadata } = object.metadata;
  if (managedFields === undefined) return object;
  return { ...object, metadata: { ...metadata, managedFields: managedFields.map(untimed) } };
};

/** What the server keeps of a write: of the metadata what it manages itself, and the status where it is no part of it. */
const kept = (live: KubeObject, next: KubeObject): KubeObject => {
  const { uid, namespace, deletionTimestamp } = live.metadata;
  const { status: _, ...rest } = next;
  return timeless({
    ...rest,
    ...(live["status"] === undefined ? {} : { status: live["status"] }),
    apiVersion: live.apiVersion,
    kind: live.kind,
    metadata: {
      ...next.metadata,
      ...(uid === undefined ? {} : { uid }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    },
  });
};

const withVersion = (object: KubeObject, resourceVersion: string): KubeObject => ({
  ...object,
  metadata: { ...object.metadata, resourceVersion },
});

export const withoutStatus = (object: KubeObject): KubeObject => {
  const { status: _, ...rest } = object;
  return rest;
};

const isTarget = (key: string): boolean => key.startsWith(`${TARGET_KIND} `);

const created = (
  world: World,
  key: string,
  { body, place, manager }: Extract<Call, { verb: "create" }>,
  by: string,
) => {
  const sent = body as KubeObject;
  const metadata = {
    ...sent.metadata,
    name: place.name,
    ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
    uid: `${by}'s ${key} #${nextVersion(world, key)}`,
    resourceVersion: nextVersion(world, key),
  };
  if (!isTarget(key)) return { ...sent, metadata };
  const { managedFields, ...plain } = metadata;
  const empty: KubeObject = { apiVersion: sent.apiVersion, kind: sent.kind, metadata: { name: place.name } };
  const object = { ...withoutStatus(sent), metadata: plain };
  const next = managedFields === undefined ? post(object, manager) : put(empty, { ...object, metadata }, manager);
  return withVersion(kept({ ...object, metadata: plain }, next), plain.resourceVersion);
};

/** RFC 7386. */
const mergePatched = (at: Json | undefined, patch: Json): Json => {
  if (!isObject(patch)) return patch;
  const merged: Record<string, Json> = { ...asObject(at) };
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete merged[name];
    else merged[name] = mergePatched(merged[name], value);
  return merged;
};

const changed = (live: KubeObject, call: Extract<Call, { verb: "update" | "apply" | "mergePatch" }>): KubeObject => {
  if (call.verb === "mergePatch") {
    const { status, ...rest } = call.body as JsonObject;
    const metadata = asObject(rest["metadata"]);
    const { uid: _, resourceVersion: __, ...more } = metadata;
    const patch: JsonObject = call.subresource === "status" ? { status: status ?? {} } : { ...rest, metadata: more };
    return mergePatched(live as unknown as Json, patch) as unknown as KubeObject;
  }
  const { namespace: _, ...metadata } = live.metadata;
  const bare = { ...withoutStatus(live), metadata };
  const next = (call.verb === "update" ? put : apply)(bare, withoutStatus(call.body as KubeObject), call.manager);
  return kept(live, next);
};

/** What a write says about the object that it was decided on. */
export const preconditionsOf = (call: Call): { readonly uid?: string; readonly resourceVersion?: string } => {
  if (call.verb === "delete") return call.preconditions;
  if (call.verb === "get" || call.verb === "create") return {};
  return asObject((call.body as JsonObject)["metadata"]);
};

/** Answers one request. A dry run, and whatever is refused, leaves the world as it is. */
export const respond = (world: World, { call, dryRun, by }: Request): Reply => {
  const key = keyOf(call.place);
  const live = world.objects.get(key);
  const unchanged = (answer: Reply["answer"]): Reply => ({ answer, world });
  const changedTo = (answer: KubeObject, next: KubeObject | undefined): Reply => ({
    answer: E.right(answer),
    world: dryRun ? world : stored(world, key, next),
  });
  if (call.place.resource.kind === "SelfSubjectAccessReview")
    return unchanged(E.right({ apiVersion: "v1", kind: "", metadata: {}, status: { allowed: true } }));
  if (call.verb === "create") {
    if (live !== undefined) return unchanged(refused(409, "AlreadyExists", `${key} already exists`));
    const object = created(world, key, call, by);
    return changedTo(object, object);
  }
  if (live === undefined) return unchanged(refused(404, "NotFound", `${key} not found`));
  if (call.verb === "get") return unchanged(E.right(live));
  const { uid = live.metadata.uid, resourceVersion = live.metadata.resourceVersion } = preconditionsOf(call);
  if (uid !== live.metadata.uid || resourceVersion !== live.metadata.resourceVersion)
    return unchanged(refused(409, "Conflict", `${key} is another one, or has been modified`));
  const version = nextVersion(world, key);
  if (call.verb === "delete") {
    if ((live.metadata.finalizers ?? []).length === 0)
      return changedTo({ apiVersion: "v1", kind: "Status", metadata: {} }, undefined);
    if (live.metadata.deletionTimestamp !== undefined) return unchanged(E.right(live));
    const going = { ...live, metadata: { ...live.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    return changedTo(withVersion(going, version), withVersion(going, version));
  }
  const next = changed(live, call);
  if (
    equal(
      { ...next, metadata: { ...next.metadata, resourceVersion: "" } },
      { ...live, metadata: { ...live.metadata, resourceVersion: "" } },
    )
  )
    return unchanged(E.right(live));
  const object = withVersion(next, version);
  const gone = object.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).length === 0;
  return changedTo(object, gone ? undefined : object);
};
