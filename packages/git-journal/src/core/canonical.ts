/**
 * Writes objects as YAML: the same bytes for the same object.
 *
 * The form is ours and not that of a library, whose next version would rewrite every file of every repository.
 */
import { digitsOf, isDeeperThan, isObject, type Json, type JsonObject } from "@janus/types";

/** Characters that YAML 1.1 or 1.2 does not allow as they are, or takes for the end of a line. */
const NEEDS_ESCAPE = /[^\n\u0020-\u007E\u00A0-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}]/u;
const ESCAPED = /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/gu;

const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(ESCAPED, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The beginning of a plain text: a letter, a digit, or what begins paths, names of variables, and flags. */
const BEGINS_PLAIN = /^(?:[\p{L}\d/_$(;^]|\.[\p{L}/]|--?\p{L})/u;
const ENDS_PLAIN = /: |:$| #| $/u;

/** Numbers, dates and times, in all dialects, and texts that are made of the same characters. */
const LIKE_NUMBER = /^[\d.][\d.,_:xXoOtTzZa-fA-F+\- ]*$/u;
const WORD = /^(?:y|n|yes|no|true|false|on|off|null|\.inf|\.nan|-?e[-+]?\d+)$/iu;

/** Whether YAML 1.1 and 1.2 both read the text back without quotes. */
const isPlain = (text: string): boolean =>
  BEGINS_PLAIN.test(text) &&
  !ENDS_PLAIN.test(text) &&
  !LIKE_NUMBER.test(text) &&
  !WORD.test(text) &&
  !text.includes("\n") &&
  !NEEDS_ESCAPE.test(text);

const onOneLine = (text: string): string => (isPlain(text) ? text : quoted(text));

/** Whether a literal block gives the text back, in all dialects, without an empty line at its end. */
const isBlock = (text: string): boolean =>
  text.includes("\n") &&
  /^\S/u.test(text) &&
  !text.endsWith("\n\n") &&
  !/\n[\t ]+(?:\n|$)/u.test(text) &&
  !NEEDS_ESCAPE.test(text.replaceAll("\t", " "));

const indented = (text: string, indent: string): string =>
  text
    .split("\n")
    .map((line) => (line === "" ? "" : indent + line))
    .join("\n");

/** Writes a number, with the dot that YAML 1.1 demands before an exponent. */
const numeral = (value: number): string => JSON.stringify(value).replace(/^(-?\d+)e/u, "$1.0e");

/** Writes what follows a key or a dash, from the space on; `indent` is that of the line. */
const after = (value: Json, indent: string): string => {
  if (typeof value === "string") {
    if (!isBlock(value)) return ` ${onOneLine(value)}\n`;
    const isEnded = value.endsWith("\n");
    return ` |${isEnded ? "" : "-"}\n${indented(isEnded ? value.slice(0, -1) : value, `${indent}  `)}\n`;
  }
  if (typeof value === "number") return ` ${numeral(value)}\n`;
  if (Array.isArray(value)) return value.length === 0 ? " []\n" : `\n${itemsOf(value, indent)}`;
  if (isObject(value)) return Object.keys(value).length === 0 ? " {}\n" : `\n${fieldsOf(value, `${indent}  `)}`;
  return ` ${digitsOf(value) ?? JSON.stringify(value)}\n`;
};

/** Writes the lines of a list or an object that is not empty; undefined: it is none. */
const linesOf = (value: Json, indent: string): string | undefined => {
  if (Array.isArray(value)) return value.length === 0 ? undefined : itemsOf(value, indent);
  return isObject(value) && Object.keys(value).length > 0 ? fieldsOf(value, indent) : undefined;
};

/** Writes items in the column of their key; a list or an object in an item begins on the line of its dash. */
const itemsOf = (items: readonly Json[], indent: string): string =>
  items
    .map((item) => {
      const inner = `${indent}  `;
      const lines = linesOf(item, inner);
      return `${indent}-${lines === undefined ? after(item, indent) : ` ${lines.slice(inner.length)}`}`;
    })
    .join("");

/** The most bytes of a simple key: YAML demands `?` before longer ones. */
const LONGEST_KEY = 1000;

const field = (name: string, value: Json, indent: string): string => {
  const key = onOneLine(name);
  return Buffer.byteLength(key) > LONGEST_KEY
    ? `${indent}? ${key}\n${indent}:${after(value, indent)}`
    : `${indent}${key}:${after(value, indent)}`;
};

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The names of its fields in the order of the file: these first. */
const namesOf = (object: JsonObject, first: readonly string[]): readonly string[] => [
  ...first.filter((name) => Object.hasOwn(object, name)),
  ...Object.keys(object)
    .filter((name) => !first.includes(name))
    .toSorted(byCodeUnit),
];

const fieldsOf = (object: JsonObject, indent: string, first: readonly string[] = []): string =>
  namesOf(object, first)
    .map((name) =>
      name === "metadata" && first === OBJECT && isObject(object[name])
        ? `metadata:${Object.keys(object[name]).length === 0 ? " {}\n" : `\n${fieldsOf(object[name], "  ", METADATA)}`}`
        : field(name, object[name] ?? null, indent),
    )
    .join("");

const OBJECT = ["apiVersion", "kind", "metadata"];
const METADATA = ["name", "namespace", "labels", "annotations"];

/** The levels up to which the indentation is a small part of the largest object. */
const SHALLOW = 10;
/** The most bytes of indentation of a file. */
const MOST_INDENTATION = 8 * 1024 * 1024;

/** Returns about how many bytes of indentation the lines of a value have. */
const indentation = (value: Json, depth: number): number => {
  if (typeof value === "string") return value.includes("\n") ? value.split("\n").length * 2 * depth : 0;
  const parts = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : [];
  return parts.reduce<number>((sum, part) => sum + 2 * depth + indentation(part, depth + 1), 0);
};

/** Whether the file would be many times as large as the object: a short list deep inside has long lines. */
export const isIndentedTooFar = (object: JsonObject): boolean =>
  isDeeperThan(object, SHALLOW) && indentation(object, 0) > MOST_INDENTATION;

/**
 * Writes the text of an object's file.
 *
 * Guarantees: readers of YAML 1.1 and of 1.2, and kubectl, read the object from it; equal objects have equal texts, in whatever
 *             order their fields are.
 * Assumes:    it is not nested deeper than the stack.
 */
export const canonicalYaml = (object: JsonObject): string => fieldsOf(object, "", OBJECT);

type Scalar = null | boolean | number | string;

/** JSON whose objects are Maps, with their fields in the order of a file. */
export type Ordered = Scalar | readonly Ordered[] | ReadonlyMap<string, Ordered>;

const ordered = (value: Json, first: readonly string[] = []): Ordered => {
  if (isObject(value)) {
    const inner = (name: string) => (name === "metadata" && first === OBJECT ? METADATA : []);
    return new Map(namesOf(value, first).map((name) => [name, ordered(value[name] ?? null, inner(name))]));
  }
  return Array.isArray(value) ? value.map((item) => ordered(item)) : (value as Scalar);
};

/** The object with its fields in the order in which {@link canonicalYaml} writes them. */
export const inOrder = (object: JsonObject): Ordered => ordered(object, OBJECT);
