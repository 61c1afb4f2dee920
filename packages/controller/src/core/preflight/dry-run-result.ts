// Keeps the differences that a dry run shows, within limits of size.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { CONCEALED, cut, deletes, type FieldDifference } from "@janus/api";
import { canonical, type Json, type JsonObject, type KubeObject, sizeOf } from "@janus/types";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import type { DryRunResult } from "../state/preflight-observations.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";
import { contentOf, type Difference, differences, settableOf } from "./differences.ts";

/** The most bytes for which a value, and a path, has room in the status. */
const MOST_OF_VALUE = 256;
const MOST_OF_PATH = 512;
/** How much of a long text is shown before its first difference, in characters. */
const MOST_BEFORE = 60;
/** How much of the differences of one change is kept, in bytes. */
const MOST_OF_CHANGE = 8 * 1024;

export const hashOf = (value: unknown): string => bytesToHex(sha256(utf8ToBytes(canonical(value))));

export const bytesOf = (value: unknown): number => utf8ToBytes(JSON.stringify(value)).length;

/** Fields that no user sets in a manifest, or that every manifest names. */
const IDENTITY: readonly string[] = ["apiVersion", "kind"];
const NAMES: readonly string[] = ["name", "namespace"];

/** The fields that a manifest sets, apart from which object it is. */
const setBy = ({ metadata, ...rest }: JsonObject): JsonObject => ({
  ...Object.fromEntries(Object.entries(rest).filter(([name]) => !IDENTITY.includes(name))),
  metadata: Object.fromEntries(
    Object.entries((metadata ?? {}) as JsonObject).filter(([name]) => !NAMES.includes(name)),
  ),
});

const isLowSurrogate = (text: string, at: number): boolean => /^[\uDC00-\uDFFF]/.test(text.slice(at, at + 1));

/**
 * The index from which two texts are shown that are too long to be shown: the line in which they differ first, or shortly before
 * it. Their beginnings would look the same.
 */
const startOf = (before: Json | undefined, after: Json | undefined): number => {
  if (typeof before !== "string" || typeof after !== "string") return 0;
  if (Math.max(bytesOf(before), bytesOf(after)) <= MOST_OF_VALUE) return 0;
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  const start = Math.max(before.lastIndexOf("\n", same - 1) + 1, same - MOST_BEFORE, 0);
  return isLowSurrogate(before, start) || isLowSurrogate(after, start) ? start - 1 : start;
};

/** A value as JSON: of a text, from this character on. */
const shown = (value: Json, isHidden: boolean, start: number): string => {
  if (isHidden) return CONCEALED;
  const isFromStart = typeof value !== "string" || start === 0;
  return cut(isFromStart ? JSON.stringify(value) : `…${JSON.stringify(value.slice(start))}`, MOST_OF_VALUE);
};

const show = ({ path, before, after }: Difference, isHidden: boolean): FieldDifference => {
  const start = isHidden ? 0 : startOf(before, after);
  return {
    path: cut(path, MOST_OF_PATH),
    ...(before === undefined ? {} : { before: shown(before, isHidden, start) }),
    ...(after === undefined ? {} : { after: shown(after, isHidden, start) }),
  };
};

/** The first ones, as many as there is room for. */
export const fitting = (
  diff: readonly FieldDifference[],
  room: number,
): { readonly diff: readonly FieldDifference[]; readonly bytes: number } => {
  let bytes = 0;
  const kept: FieldDifference[] = [];
  for (const one of diff) {
    const more = bytesOf(one) + 1;
    if (bytes + more > room) break;
    bytes += more;
    kept.push(one);
  }
  return { diff: kept, bytes };
};

const name = ({ resource: { group, plural }, namespace = "", name }: ObjectRef): readonly string[] => [
  group,
  plural,
  namespace,
  name,
];

/** The facts that count for the digest instead of each difference, apart from the place and the result. */
const substance = ({ change }: ResolvedItem, before: KubeObject | undefined, isHidden: boolean): unknown => {
  // What is created is in the spec; the API server chooses other values at each dry run.
  if (before === undefined) return [];
  const { uid, resourceVersion } = before.metadata;
  if (isHidden) return [uid, resourceVersion];
  return deletes(change) ? [uid, contentOf(before)] : undefined;
};

/** One by one: there may be hundreds of thousands of them. */
const differencesOf = (
  { change, place: { resource } }: ResolvedItem,
  before: KubeObject | undefined,
  after: KubeObject,
): Iterable<Difference> => {
  if (change.type === "Delete") return [];
  if (change.type === "Create") return differences({ metadata: {} }, setBy(change.content));
  return differences(before === undefined ? undefined : settableOf(before, resource), settableOf(after, resource));
};

const resultOf = ({ change: { type } }: ResolvedItem, found: Iterable<Difference>): DryRunResult["result"] => {
  if (type === "Delete" || type === "Create" || type === "Replace") return type;
  return found[Symbol.iterator]().next().done === true ? "NoChange" : "Change";
};

const jsonOf = ({ path, before = null, after = null }: Difference): string =>
  `[${JSON.stringify(path)},${canonical(before)},${canonical(after)}]`;

/** Characters that are hashed at once: hashing pieces one by one takes longer than joining them first. */
const HASHED_AT_ONCE = 64 * 1024;

/** The hash of a text that is never there as a whole. */
const textHash = () => {
  const hash = sha256.create();
  let text = "";
  const flush = (): void => {
    hash.update(utf8ToBytes(text));
    text = "";
  };
  return {
    add: (piece: string): void => {
      text += piece;
      if (text.length >= HASHED_AT_ONCE) flush();
    },
    end: (): string => {
      flush();
      return bytesToHex(hash.digest());
    },
  };
};

/**
 * The result that the dry run of a change has shown.
 *
 * Guarantees: no value of a sensitive kind is in it, not even hashed. Of any number of differences, those that are shown are in
 *             memory.
 */
export const dryRunResult = (
  item: ResolvedItem,
  before: KubeObject | undefined,
  after: KubeObject,
  isHidden: boolean,
): DryRunResult => {
  const result = resultOf(item, differencesOf(item, before, after));
  const { add, end } = textHash();
  const whole = substance(item, before, isHidden);
  add(`[${canonical(name(item.place))},${canonical(result)},${whole === undefined ? "[" : canonical(whole)}`);
  const first: Difference[] = [];
  let count = 0;
  for (const one of differencesOf(item, before, after)) {
    if (whole === undefined) add(`${count === 0 ? "" : ","}${jsonOf(one)}`);
    if (count < MOST_OF_CHANGE / 16) first.push(one);
    count += 1;
  }
  add(whole === undefined ? "]]" : "]");
  const { diff } = fitting(
    first.map((one) => show(one, isHidden)),
    MOST_OF_CHANGE,
  );
  return {
    result,
    diff,
    more: count - diff.length,
    hash: end(),
    bytes: (before === undefined ? 0 : sizeOf(before)) + sizeOf(after),
  };
};

/** The digest of a result that is known only once an earlier change is applied. */
export const unknownYet = ({ place }: ResolvedItem): string => hashOf([name(place), "DependsOnEarlier"]);
