// The model of the API server: the answer to one request.
import * as E from "fp-ts/lib/Either.js";
import {
  type ApiError,
  asObject,
  equal,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  type Instant,
  toTimestamp,
} from "@janus/types";
import type { Call, ObjectRef } from "@janus/controller/core";
import { type Denied, isDenied } from "./denied.ts";
import { applied, written } from "./field-managers.ts";
import { kindNamed, type ServedKind, servedKind } from "./served-kinds.ts";
import { changedObject, createdObject } from "./written-object.ts";
import { objectAt, placeKey, stored, versioned, type World } from "./world.ts";

/** One request, as the API server sees it. */
export interface Request {
  readonly call: Call;
  readonly dryRun: boolean;
  /** The user, and what they may not do. Default: they may do everything. */
  readonly user?: { readonly name: string; readonly denied: readonly Denied[] };
  readonly now: Instant;
}

/** The answer, and the objects afterwards: a dry run, and whatever is refused, leaves them as they are. */
export interface Reply {
  readonly answer: E.Either<ApiError, KubeObject>;
  readonly world: World;
}

type NotFound = "object" | "other" | "path";

export const refused = (code: number, reason: string, message: string, notFound?: NotFound): ApiError => ({
  type: "refused",
  code,
  reason,
  message,
  causes: [],
  ...(notFound === undefined ? {} : { notFound }),
});

const VERBS = {
  get: "get",
  create: "create",
  update: "update",
  apply: "patch",
  mergePatch: "patch",
  delete: "delete",
} as const satisfies Record<Call["verb"], string>;

/** The verb in RBAC. */
export const verbOf = ({ verb }: Call): string => VERBS[verb];

const qualified = ({ resource: { plural, group } }: ObjectRef): string =>
  group === "" ? plural : `${plural}.${group}`;

const absent = (place: ObjectRef): ApiError =>
  refused(404, "NotFound", `${qualified(place)} "${place.name}" not found`, "object");

const forbidden = (place: ObjectRef, verb: string, user: string): ApiError => {
  const { resource, namespace, name } = place;
  const where = namespace === undefined ? "at the cluster scope" : `in the namespace "${namespace}"`;
  const what = `resource "${resource.plural}" in API group "${resource.group}" ${where}`;
  const named = verb === "create" ? "" : ` "${name}"`;
  const message = `${qualified(place)}${named} is forbidden: User "${user}" cannot ${verb} ${what}`;
  return refused(403, "Forbidden", message);
};

/** https://www.rfc-editor.org/rfc/rfc7386 */
export const mergePatched = (value: Json | undefined, patch: Json): Json => {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(asObject(value)));
  for (const [name, inner] of Object.entries(patch))
    if (inner === null) merged.delete(name);
    else merged.set(name, mergePatched(merged.get(name), inner));
  return Object.fromEntries(merged);
};

/** Kubernetes removes its own finalizers at once here; those of others stay. */
const isOwnFinalizer = (name: string): boolean =>
  /^([\w.-]+\.)?kubernetes\.io\/|^(foregroundDeletion|orphan|kubernetes)$/.test(name);

const finalizersLeft = ({ metadata: { finalizers = [] } }: KubeObject): readonly string[] =>
  finalizers.filter((name) => !isOwnFinalizer(name));

/** The world without the object; of a Namespace, without the objects in it. */
const removed = (world: World, key: string, { kind, apiVersion, metadata }: KubeObject): World => {
  const next = stored(world, key, undefined);
  if (kind !== "Namespace" || apiVersion !== "v1") return next;
  const left = [...next.objects].filter(([, object]) => object.metadata.namespace !== metadata.name);
  return { ...next, objects: new Map(left) };
};

const isGone = (object: KubeObject): boolean =>
  object.metadata.deletionTimestamp !== undefined && finalizersLeft(object).length === 0;

/** The version of the object that a write was decided on, as the write gives it. */
const preconditionsOf = (call: Call): { readonly uid?: unknown; readonly resourceVersion?: unknown } => {
  if (call.verb === "delete") return call.preconditions;
  return "body" in call ? asObject((call.body as JsonObject)["metadata"]) : {};
};

/** The model of the API server. */
export interface ApiServer {
  /** Custom kinds without a CustomResourceDefinition. */
  readonly assumed: readonly ServedKind[];
  /** Namespaces that are there without an object. */
  readonly namespaces: ReadonlySet<string>;
}

const hasNamespace = ({ namespaces }: ApiServer, { objects }: World, namespace: string | undefined): boolean =>
  namespace === undefined || namespaces.has(namespace) || objects.has(JSON.stringify(["", "Namespace", "", namespace]));

const text = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);

/** The answer to a SelfSubjectAccessReview. */
const reviewed = (server: ApiServer, world: World, body: object, user: Request["user"]): KubeObject => {
  const asked = asObject(asObject((body as JsonObject)["spec"])["resourceAttributes"]);
  const [verb = "", group = "", resource = "", namespace, name] = [
    "verb",
    "group",
    "resource",
    "namespace",
    "name",
  ].map((field) => text(asked[field]));
  const kind = kindNamed(world, server.assumed, group, resource);
  const place = {
    ...(kind === undefined ? {} : { kind: kind.resource.kind }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
  const allowed = !isDenied(user?.denied ?? [], verb, place);
  return { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", metadata: {}, status: { allowed } };
};

const withoutVersion = ({ metadata, ...object }: KubeObject): object => {
  const { resourceVersion: _, ...rest } = metadata;
  return { ...object, metadata: rest };
};

/** The result of the write to a live object. */
const rewritten = (
  live: KubeObject,
  call: Extract<Call, { verb: "update" | "apply" | "mergePatch" }>,
  kind: ServedKind,
  now: Instant,
): KubeObject => {
  if (call.verb === "mergePatch") {
    const { status, metadata, ...rest } = call.body as JsonObject;
    const { uid: _, resourceVersion: __, ...others } = asObject(metadata);
    const own = kind.resource.statusSubresource || status === undefined ? rest : { ...rest, status };
    const patch: JsonObject = call.subresource === "status" ? { status: status ?? {} } : { ...own, metadata: others };
    return mergePatched(live as unknown as Json, patch) as unknown as KubeObject;
  }
  const { apiVersion = live.apiVersion } = call.body as Partial<KubeObject>;
  const author = { manager: call.manager, apiVersion, time: toTimestamp(now) };
  return changedObject(live, (call.verb === "update" ? written : applied)(live, call.body, kind.type, author), kind);
};

/** Answers one request, as far as the model goes (docs/testing.md). */
export const respond = (server: ApiServer, world: World, request: Request): Reply => {
  const { call, dryRun, user, now } = request;
  const { place } = call;
  const unchanged = (answer: Reply["answer"]): Reply => ({ answer, world });
  const refuse = (error: ApiError): Reply => unchanged(E.left(error));
  const changedTo = (answer: KubeObject, next: () => World): Reply => ({
    answer: E.right(answer),
    world: dryRun ? world : next(),
  });
  if (call.verb === "create" && place.resource.kind === "SelfSubjectAccessReview")
    return unchanged(E.right(reviewed(server, world, call.body, user)));
  const { group, version } = place.resource;
  const kind = servedKind(world, server.assumed, group === "" ? version : `${group}/${version}`, place.resource.kind);
  if (kind === undefined)
    return refuse(refused(404, "NotFound", "the server could not find the requested resource", "path"));
  const verb = verbOf(call);
  const { resource, ...at } = place;
  if (user !== undefined && isDenied(user.denied, verb, { kind: resource.kind, ...at }))
    return refuse(forbidden(place, verb, user.name));
  const key = placeKey(place);
  const live = objectAt(world, place);
  if (call.verb === "create") {
    if (live !== undefined)
      return refuse(refused(409, "AlreadyExists", `${qualified(place)} "${place.name}" already exists`));
    if (!hasNamespace(server, world, place.namespace))
      return refuse(refused(404, "NotFound", `namespaces "${place.namespace}" not found`, "other"));
    const { apiVersion } = call.body as KubeObject;
    const author = { manager: call.manager, apiVersion, time: toTimestamp(now) };
    const object = createdObject(world, place, call.body, written(undefined, call.body, kind.type, author), kind, now);
    return changedTo(object, () => stored(world, key, object));
  }
  if (live === undefined) return refuse(absent(place));
  if (call.verb === "get") return unchanged(E.right(live));
  const { uid = live.metadata.uid, resourceVersion = live.metadata.resourceVersion } = preconditionsOf(call);
  if (uid !== live.metadata.uid || resourceVersion !== live.metadata.resourceVersion)
    return refuse(
      refused(
        409,
        "Conflict",
        `Operation cannot be fulfilled on ${qualified(place)} "${place.name}": the object has been modified; please apply your changes to the latest version and try again`,
      ),
    );
  if (call.verb === "delete") {
    const status: KubeObject = { apiVersion: "v1", kind: "Status", metadata: {} };
    if (finalizersLeft(live).length === 0) return changedTo(status, () => removed(world, key, live));
    if (live.metadata.deletionTimestamp !== undefined) return unchanged(E.right(live));
    const metadata = { ...live.metadata, deletionTimestamp: toTimestamp(now), finalizers: finalizersLeft(live) };
    const going = versioned(world, { ...live, metadata });
    return changedTo(going, () => stored(world, key, going));
  }
  const next = rewritten(live, call, kind, now);
  if (equal(withoutVersion(next), withoutVersion(live))) return unchanged(E.right(live));
  const object = versioned(world, next);
  return changedTo(object, () => (isGone(object) ? removed(world, key, object) : stored(world, key, object)));
};
