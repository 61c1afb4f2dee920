import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { CONCEALED, cut, type FieldDifference } from "@janus/api";
import { isRight } from "fp-ts/lib/Either.js";
import { canonical, type Json, type JsonObject, type KubeObject, sizeOf } from "@janus/types";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import type { DryRunResult } from "../state/preflight-observations.ts";
import { preflightIn, withPreflight } from "../state/observations.ts";
import type { Settings } from "../state/reconcile-context.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";
import { isSensitive } from "../state/sensitive-kinds.ts";
import { contentOf, type Difference, differences, settableOf } from "./differences.ts";
import type { KeepDryRun } from "./preflight.ts";

/** As much as a value, and a path, has room for in the status, in bytes. */
const MOST_OF_VALUE = 256;
const MOST_OF_PATH = 512;
/** How much of a long text is shown before its first difference, in characters. */
const MOST_BEFORE = 60;
/** How much of the differences of one change is kept, in bytes. */
const MOST_OF_CHANGE = 8 * 1024;

export const hashOf = (value: unknown): string => bytesToHex(sha256(utf8ToBytes(canonical(value))));

export const bytesOf = (value: unknown): number => utf8ToBytes(JSON.stringify(value)).length;

/** What no user sets in a manifest, or what every manifest names. */
const IDENTITY: readonly string[] = ["apiVersion", "kind"];
const NAMES: readonly string[] = ["name", "namespace"];

/** What a manifest sets, apart from which object it is. */
const setBy = ({ metadata, ...rest }: JsonObject): JsonObject => ({
  ...Object.fromEntries(Object.entries(rest).filter(([name]) => !IDENTITY.includes(name))),
  metadata: Object.fromEntries(
    Object.entries((metadata ?? {}) as JsonObject).filter(([name]) => !NAMES.includes(name)),
  ),
});

const isLowSurrogate = (text: string, at: number): boolean => /^[\uDC00-\uDFFF]/.test(text.slice(at, at + 1));

/**
 * Where two texts are shown from if they are too long to be shown: from the line in which they differ first, or shortly before
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

/** As many of the first ones as there is room for. */
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

/** What counts for the digest, apart from the place and the result. */
const substance = (
  { change }: ResolvedItem,
  before: KubeObject | undefined,
  found: readonly Difference[],
  isHidden: boolean,
): unknown => {
  // What is created is in the spec; the API server chooses other values at each dry run.
  if (before === undefined) return [];
  const { uid, resourceVersion } = before.metadata;
  if (isHidden) return [uid, resourceVersion];
  return change.type === "Delete"
    ? [uid, contentOf(before)]
    : found.map(({ path, before, after }) => [path, before, after]);
};

const resultOf = ({ change: { type } }: ResolvedItem, found: readonly Difference[]): DryRunResult["result"] => {
  if (type === "Delete" || type === "Create") return type;
  return found.length === 0 ? "NoChange" : "Change";
};

/**
 * What the dry run of a change has shown.
 *
 * Guarantees: no value of a sensitive kind is in it, not even hashed.
 */
export const dryRunResult = (
  item: ResolvedItem,
  before: KubeObject | undefined,
  after: KubeObject,
  isHidden: boolean,
): DryRunResult => {
  const { change, place } = item;
  const found =
    change.type === "Delete"
      ? []
      : change.type === "Create"
        ? differences({ metadata: {} }, setBy(change.content))
        : differences(
            before === undefined ? undefined : settableOf(before, place.resource),
            settableOf(after, place.resource),
          );
  const result = resultOf(item, found);
  const { diff } = fitting(
    found.slice(0, MOST_OF_CHANGE / 16).map((one) => show(one, isHidden)),
    MOST_OF_CHANGE,
  );
  return {
    result,
    diff,
    more: found.length - diff.length,
    hash: hashOf([name(place), result, substance(item, before, found, isHidden)]),
    bytes: (before === undefined ? 0 : sizeOf(before)) + sizeOf(after),
  };
};

/** What is known only once an earlier change is applied. */
export const unknownYet = ({ place }: ResolvedItem): string => hashOf([name(place), "DependsOnEarlier"]);

/** Keeps what the dry run of a change shows. */
export const keepingResult =
  (settings: Settings): KeepDryRun =>
  (dryRun, item, { object }) => ({
    ...dryRun,
    onAnswer: (known, answer, ...when) => {
      const learned = dryRun.onAnswer(known, answer, ...when);
      const { trial } = preflightIn(learned, item.index);
      // After a conflict it is read and tried again.
      if (trial === undefined) return learned;
      const shown = isRight(answer)
        ? dryRunResult(item, object, answer.right, isSensitive(item.place, settings))
        : undefined;
      return withPreflight(learned, item.index, { trial: { ...trial, shown } });
    },
  });
