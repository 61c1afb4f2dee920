// Lists the fields in which two objects differ.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import {
  asObject,
  equal,
  isObject,
  type Json,
  type JsonObject,
  type KubeObject,
  member,
  type Resource,
  without,
} from "@janus/types";

/** A field with its value in each of two objects, as far as it has one. */
export interface Difference {
  readonly path: string;
  readonly before?: Json | undefined;
  readonly after?: Json | undefined;
}

/** Metadata that the API server itself sets with every write. */
const OF_SERVER: readonly string[] = [
  "managedFields",
  "resourceVersion",
  "generation",
  "uid",
  "creationTimestamp",
  "selfLink",
];

/** The content of an object: without what the API server writes about it, and without its status. */
export const contentOf = (object: KubeObject): JsonObject => {
  const { metadata, ...content } = asObject(object);
  return {
    ...without(content, ["status"]),
    metadata: without(metadata, OF_SERVER),
  };
};

/** The same with a status that is no subresource: a change sets it as any other field. */
export const settableOf = (
  object: KubeObject,
  { statusSubresource }: Pick<Resource, "statusSubresource">,
): JsonObject => {
  const status = statusSubresource ? undefined : member(asObject(object), "status");
  return { ...contentOf(object), ...(status === undefined ? {} : { status }) };
};

/** A path of this length or more is shortened before anything is added to it, in characters: it is repeated for each field below. */
const MOST_OF_PATH = 256;
const KEPT_OF_PATH = 96;

/** The beginning, and a hash of the whole in place of its end: no two of one object are the same. */
const shortened = (path: string): string =>
  path.length < MOST_OF_PATH ? path : `${path.slice(0, KEPT_OF_PATH)}…${bytesToHex(sha256(utf8ToBytes(path)))}`;

const field = (path: string, name: string): string =>
  /^[A-Za-z_][\w-]*$/u.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;

/** The elements by name, if each has one of its own, as containers have. */
const byName = (list: readonly Json[]): ReadonlyMap<string, Json> | undefined => {
  const named = new Map<string, Json>();
  for (const one of list) {
    const name = isObject(one) ? member(one, "name") : undefined;
    if (typeof name !== "string" || named.has(name)) return undefined;
    named.set(name, one);
  }
  return named;
};

const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

/** Whether those that both have come in the same order: init containers run in theirs. */
const inSameOrder = (a: ReadonlyMap<string, Json>, b: ReadonlyMap<string, Json>): boolean =>
  equal(
    [...a.keys()].filter((key) => b.has(key)),
    [...b.keys()].filter((key) => a.has(key)),
  );

/** The values of two objects at each field of either, but for the same values. */
function* fields(path: string, before: JsonObject, after: JsonObject): Generator<Difference> {
  for (const name of [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()) {
    const [a, b] = [member(before, name), member(after, name)];
    if (a !== b) yield { path: field(path, name), before: a, after: b };
  }
}

/** The same of each element of two lists. */
function* elements(path: string, before: readonly Json[], after: readonly Json[]): Generator<Difference> {
  const [a, b] = [byName(before), byName(after)];
  if (a === undefined || b === undefined || !inSameOrder(a, b))
    for (let at = 0; at < Math.max(before.length, after.length); at += 1) {
      if (before[at] !== after[at]) yield { path: `${path}[${at}]`, before: before[at], after: after[at] };
    }
  else
    for (const name of new Set([...a.keys(), ...b.keys()]))
      yield { path: `${path}[name=${JSON.stringify(name)}]`, before: a.get(name), after: b.get(name) };
}

const isFilled = (value: Json | undefined): boolean =>
  (isObject(value) && Object.keys(value).length > 0) || (isList(value) && value.length > 0);

/** The values of both, part by part, where either has any; undefined where they can only be compared as a whole. */
const parts = ({ path, before, after }: Difference): Iterator<Difference> | undefined => {
  if (!isFilled(before) && !isFilled(after)) return undefined;
  if ((before === undefined || isObject(before)) && (after === undefined || isObject(after)))
    return fields(shortened(path), before ?? {}, after ?? {});
  if ((before === undefined || isList(before)) && (after === undefined || isList(after)))
    return elements(shortened(path), before ?? [], after ?? []);
  return undefined;
};

/**
 * Every field in which two values differ, down to the last one that has no fields of its own. Elements of a list are
 * compared by name where all have one and keep their order, otherwise by place.
 *
 * Guarantees: looks at each part of them once, and only when that is asked for: of an object with a million fields, no list
 *             of its fields is made.
 */
export function* differences(before: Json | undefined, after: Json | undefined): Generator<Difference> {
  const open: Iterator<Difference>[] = [[{ path: "", before, after }].values()];
  for (let innermost = open.at(-1); innermost !== undefined; innermost = open.at(-1)) {
    const next = innermost.next();
    if (next.done === true) open.pop();
    else {
      const inner = parts(next.value);
      if (inner !== undefined) open.push(inner);
      else if (!equal(next.value.before, next.value.after)) yield next.value;
    }
  }
}
