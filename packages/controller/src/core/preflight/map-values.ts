// Finds what a content has in labels, annotations, a ConfigMap or a Secret that the API server cannot read there.
import { digitsOf, isObject, type Json, type JsonObject, type Resource } from "@janus/types";
import { showPath } from "../merge/show-path.ts";

interface TextMap {
  readonly path: readonly string[];
  /** The field where a plain text belongs, if it does not belong here: these are bytes in base64. */
  readonly plainIn?: string;
}

const OF_ALL: readonly TextMap[] = [{ path: ["metadata", "labels"] }, { path: ["metadata", "annotations"] }];

/** Maps of kinds of the core group. */
const OF_KIND: Readonly<Record<string, readonly TextMap[]>> = {
  ConfigMap: [{ path: ["data"] }, { path: ["binaryData"], plainIn: "data" }],
  Secret: [{ path: ["stringData"] }, { path: ["data"], plainIn: "stringData" }],
};

/** Whether the API server decodes it: it skips line ends, and wants the padding. */
const isBase64 = (text: string): boolean => {
  const digits = text.replaceAll(/[\r\n]/gu, "");
  return digits.length % 4 === 0 && !/[^A-Za-z0-9+/]/u.test(digits.replace(/={1,2}$/u, ""));
};

const typeOf = (value: Json): string => {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number" || digitsOf(value) !== undefined) return "a number";
  return typeof value === "boolean" ? "a boolean" : isObject(value) ? "an object" : "a text";
};

/** The mistake in one value, and what to do; null, which a Patch removes, is right. */
const mistakeIn = (value: Json, { plainIn }: TextMap): string | undefined => {
  if (value === null) return undefined;
  if (typeof value === "string")
    return plainIn === undefined || isBase64(value) ? undefined : `is not base64: put plain text into ${plainIn}`;
  const type = typeOf(value);
  if (plainIn !== undefined) return `is ${type}, not base64: put it into ${plainIn}, as a text in quotes`;
  return `is ${type}: ${type === "a number" || type === "a boolean" ? "put it in quotes" : "it has to be a text"}`;
};

const shown = (path: readonly string[]): string => showPath(path.map((name) => `f:${name}`));

const mistakeAt = (content: JsonObject, map: TextMap): string | undefined => {
  const values = map.path.reduce<Json | undefined>((at, name) => (isObject(at) ? at[name] : undefined), content);
  if (values === undefined || values === null) return undefined;
  if (!isObject(values)) return `${shown(map.path)} is ${typeOf(values)}: it has to be a map of texts`;
  for (const [key, value] of Object.entries(values)) {
    const mistake = mistakeIn(value, map);
    if (mistake !== undefined) return `${shown([...map.path, key])} ${mistake}`;
  }
  return undefined;
};

/**
 * Returns the first mistake, with its field and what to do: the API server says only for some of them which field it is, and nothing is
 * shown of what it says of a Secret.
 *
 * Guarantees: quotes no value; finds nothing in what the API server takes, but lists of bytes, which no Patch can have.
 *
 * @example
 *   .data.password is not base64: put plain text into stringData
 */
export const mapMistake = (
  { group, kind }: Pick<Resource, "group" | "kind">,
  content: JsonObject,
): string | undefined => {
  const maps = [...OF_ALL, ...(group === "" ? (OF_KIND[kind] ?? []) : [])];
  for (const map of maps) {
    const mistake = mistakeAt(content, map);
    if (mistake !== undefined) return mistake;
  }
  return undefined;
};
