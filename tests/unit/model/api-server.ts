// The API server of packages/testing as the model has it: each object with versions and uids of its own, and no times.
import { API_VERSION } from "@janus/api";
import type { Call, ObjectRef } from "@janus/controller";
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { applied, written } from "../../../packages/testing/src/api-server/field-managers.ts";
import { customType } from "../../../packages/testing/src/api-server/field-type.ts";
import * as server from "../../../packages/testing/src/api-server/respond.ts";
import { assumedKind } from "../../../packages/testing/src/api-server/served-kinds.ts";
import { placeKey, versioned } from "../../../packages/testing/src/api-server/world.ts";
import { changedObject } from "../../../packages/testing/src/api-server/written-object.ts";

/** All objects, by {@link keyOf}. */
export interface World {
  readonly objects: ReadonlyMap<string, KubeObject>;
  /** Writes of each object so far: versions and uids come from here, so that what happens elsewhere does not change them. */
  readonly writes: ReadonlyMap<string, number>;
}

/** One request, and who makes it. */
export interface Request {
  readonly call: Call;
  readonly dryRun: boolean;
  readonly by: string;
}

export type Reply = Pick<server.Reply, "answer"> & { readonly world: World };

export const keyOf = ({ resource, namespace = "", name }: ObjectRef): string => `${resource.kind} ${namespace}/${name}`;

/** As in `tests/crash/widgets.ts`. */
const TARGETS = {
  ...assumedKind("example.com/v1", "Widget", "widgets", true),
  type: customType({ properties: { data: { additionalProperties: {} } } }),
};
export const TARGET_KIND = TARGETS.resource.kind;

const SERVER: server.ApiServer = {
  assumed: [TARGETS, assumedKind(API_VERSION, "Transaction", "transactions", true)],
  namespaces: new Set(["shop", "janus-system"]),
};
/** 2026-01-01T00:00:00Z. */
const NOW = 1_767_225_600_000;

export const stored = (world: World, key: string, object: KubeObject | undefined): World => {
  const objects = new Map(world.objects);
  if (object === undefined) objects.delete(key);
  else objects.set(key, object);
  return { objects, writes: new Map(world.writes).set(key, (world.writes.get(key) ?? 0) + 1) };
};

/** Times are of no matter here, and would tell apart what is the same. */
const timeless = (object: KubeObject): KubeObject => {
  const { creationTimestamp: _, managedFields, ...metadata } = object.metadata;
  const entries = managedFields?.map(({ time: __, ...entry }) => entry);
  return { ...object, metadata: { ...metadata, ...(entries === undefined ? {} : { managedFields: entries }) } };
};

const author = (manager: string) => ({ manager, apiVersion: "example.com/v1", time: "" });

/** A target with its fields managed by who has created it. */
export const managed = (target: KubeObject, manager: string): KubeObject =>
  timeless(changedObject(target, written(undefined, target, TARGETS.type, author(manager)), TARGETS));

/** A target when somebody has written it in this way. */
export const rewritten = (
  live: KubeObject,
  how: "update" | "apply",
  body: object,
  manager: string,
  version: string,
): KubeObject => {
  const result = (how === "update" ? written : applied)(live, body, TARGETS.type, author(manager));
  const world = { objects: new Map(), revision: Number(version) - 1 };
  return timeless(versioned(world, changedObject(live, result, TARGETS)));
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
  const at = placeKey(call.place);
  const live = world.objects.get(key);
  const before = {
    objects: new Map(live === undefined ? [] : [[at, live]]),
    revision: world.writes.get(key) ?? 0,
  };
  const { answer, world: after } = server.respond(SERVER, before, { call, dryRun, now: NOW });
  if (E.isLeft(answer) || answer.right === live) return { answer, world };
  const object = timeless(answer.right);
  const uid = call.verb === "create" ? `${by}'s ${key} #${before.revision + 1}` : object.metadata.uid;
  const told = uid === undefined ? object : { ...object, metadata: { ...object.metadata, uid } };
  if (after === before) return { answer: E.right(told), world };
  return { answer: E.right(told), world: stored(world, key, after.objects.has(at) ? told : undefined) };
};
