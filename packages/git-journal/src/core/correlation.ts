/**
 * Finds out who made a change that a watch has shown, by what an admission webhook has seen before.
 *
 * A wrong author is worse than none.
 */
import { asObject, equal, type Instant, isKubeObject, type JsonObject, type KubeObject, member } from "@janus/types";
import type { Operation } from "../api/watch-rule.ts";
import { fingerprint } from "./file-content.ts";
import { type ObjectIdentity, objectPath, ROOT } from "./path.ts";
import { isTooDeep, sanitised } from "./sanitise.ts";

/** A request that a webhook has seen. It may have been refused afterwards. */
export interface Entry {
  readonly user: string;
  /** The uid of the object, also of one that is created. */
  readonly uid: string;
  /** The version that the request was made on; undefined: it creates the object. */
  readonly resourceVersion: string | undefined;
  readonly at: Instant;
}

export interface KeyedEntry {
  readonly key: string;
  readonly entry: Entry;
}

/** The key under which a request and the change that it makes meet. */
export const changeKey = (place: ObjectIdentity, operation: Operation, content: string): string =>
  `${objectPath(ROOT, place)}:${operation}:${content}`;

/** The key of a request to the scale of an object. */
export const scaleKey = (place: ObjectIdentity, replicas: number): string =>
  `${objectPath(ROOT, place)}:scale:${replicas}`;

const text = (object: JsonObject, name: string): string => {
  const value = member(object, name);
  return typeof value === "string" ? value : "";
};

const OPERATIONS: ReadonlySet<string> = new Set<Operation>(["CREATE", "UPDATE", "DELETE"]);
const isOperation = (operation: string): operation is Operation => OPERATIONS.has(operation);

const contentOf = (object: KubeObject | undefined): string | undefined =>
  object === undefined || isTooDeep(object) ? undefined : fingerprint(sanitised(object));

/** Whether the request changes nothing that is written, as two equal hashes would tell, but sooner. */
const changesNothing = (object: KubeObject | undefined, old: KubeObject | undefined): boolean =>
  object !== undefined && old !== undefined && !isTooDeep(old) && equal(sanitised(object), sanitised(old));

const scaleEntry = (
  place: ObjectIdentity,
  request: JsonObject,
  entry: Omit<Entry, "uid" | "resourceVersion">,
): KeyedEntry | undefined => {
  const { metadata, spec } = asObject(request["object"]);
  const { replicas = 0 } = asObject(spec);
  const before = asObject(asObject(request["oldObject"])["metadata"]);
  if (typeof replicas !== "number" || request["operation"] !== "UPDATE") return undefined;
  const uid = text(asObject(metadata), "uid");
  return { key: scaleKey(place, replicas), entry: { ...entry, uid, resourceVersion: text(before, "resourceVersion") } };
};

/**
 * Makes the entry of an AdmissionRequest; undefined: it changes nothing, or cannot be read.
 * https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#request
 */
export const entryOf = (request: JsonObject, now: Instant): KeyedEntry | undefined => {
  const { group, version, resource } = asObject(request["resource"]);
  const operation = text(request, "operation");
  const user = text(asObject(request["userInfo"]), "username");
  if (request["dryRun"] === true || user === "" || !isOperation(operation)) return undefined;
  const [object, old] = ["object", "oldObject"].map((field) => {
    const value = request[field];
    return isKubeObject(value) ? value : undefined;
  });
  const subject = operation === "DELETE" ? old : object;
  // A request that deletes a collection has no name, and one that creates with generateName only that of the object.
  const name = subject?.metadata.name ?? old?.metadata.name ?? text(request, "name");
  if (name === "" || typeof version !== "string" || typeof resource !== "string") return undefined;
  const namespace = text(request, "namespace");
  const isNamespaced = namespace !== "" && !(resource === "namespaces" && group === "");
  const place = {
    group: typeof group === "string" ? group : "",
    version,
    resource,
    ...(isNamespaced ? { namespace } : {}),
    name,
  };
  const subResource = text(request, "subResource");
  if (subResource === "scale") return scaleEntry(place, request, { user, at: now });
  const uid = subject?.metadata.uid ?? "";
  if (subResource !== "" || uid === "") return undefined;
  const content = contentOf(subject);
  if (content === undefined || (operation === "UPDATE" && changesNothing(object, old))) return undefined;
  return {
    key: changeKey(place, operation, content),
    entry: { user, uid, resourceVersion: old?.metadata.resourceVersion, at: now },
  };
};

/** The change of an object that a watch has shown. */
export interface SeenChange {
  readonly place: ObjectIdentity;
  readonly operation: Operation;
  /** The fingerprint of the object, sanitised; of a deletion, that of its last version. */
  readonly content: string;
  /** `spec.replicas`, which a request to its scale may have set. */
  readonly replicas: number | undefined;
  readonly uid: string;
  /** The version that the watch has shown before; undefined: none. */
  readonly resourceVersion: string | undefined;
}

const scaleOf = ({ place, operation, replicas }: SeenChange): string | undefined =>
  operation === "UPDATE" && replicas !== undefined ? scaleKey(place, replicas) : undefined;

/** The keys of requests that may have made a change. */
export const keysOf = (change: SeenChange): readonly string[] => {
  const scale = scaleOf(change);
  return [changeKey(change.place, change.operation, change.content), ...(scale === undefined ? [] : [scale])];
};

export type Attribution =
  | { readonly type: "hit"; readonly key: string; readonly entry: Entry }
  | { readonly type: "miss"; readonly reason: "NoRequest" | "SeveralUsers" };

const newest = (entries: readonly Entry[]): Entry | undefined => entries.at(-1);

const one = (key: string, entries: readonly Entry[]): Attribution | undefined => {
  const entry = newest(entries);
  if (entry === undefined) return undefined;
  return entries.every(({ user }) => user === entry.user)
    ? { type: "hit", key, entry }
    : { type: "miss", reason: "SeveralUsers" };
};

/**
 * Finds out who made a change.
 *
 * Guarantees: only a request for this content, with exactly the uid and the version that the change was made on, names its user: who
 *             has sent one for another version has not made this change. Of several such requests all must be of one user. Versions
 *             are only compared for equality.
 * Assumes:    where the request that made the change was not seen, nobody else has tried exactly the same on the same version in vain.
 *
 * @param entries those under a key, the oldest first
 */
export const attributed = (change: SeenChange, entries: (key: string) => readonly Entry[]): Attribution => {
  const { place, operation, content, uid, resourceVersion } = change;
  const key = changeKey(place, operation, content);
  const isExact = (entry: Entry): boolean => entry.uid === uid && entry.resourceVersion === resourceVersion;
  const scale = scaleOf(change);
  const scaled = scale === undefined ? [] : entries(scale).filter(isExact);
  const exact = entries(key).filter(isExact);
  if (exact.length > 0 && scaled.length > 0 && [...exact, ...scaled].some(({ user }) => user !== exact[0]?.user))
    return { type: "miss", reason: "SeveralUsers" };
  return one(key, exact) ?? one(scale ?? key, scaled) ?? { type: "miss", reason: "NoRequest" };
};
