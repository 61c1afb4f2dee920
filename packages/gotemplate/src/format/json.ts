// Writes values as JSON, as Go's encoding/json does.
import type { Context } from "../execute/context.ts";
import { JSON_LAYOUT, formatTime } from "../time/format-time.ts";
import { bytesOfRune, INVALID_RUNE, runeAt } from "../value/bytes.ts";
import { isNilOfType } from "../value/compare.ts";
import { isTrue } from "../value/truth.ts";
import type { Field } from "../value/type.ts";
import { sortedEntries, type StructValue, type Value } from "../value/value.ts";
import { versionText } from "../value/version.ts";

const NAMED: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

const unicodeEscape = (rune: number): string => `\\u${rune.toString(16).padStart(4, "0")}`;

/** A string; <, > and & are escaped, as for HTML. */
const ofText = (bytes: string): string => {
  // eslint-disable-next-line no-control-regex
  if (/^[ !#-%'-;=?-[\]-~]*$/u.test(bytes)) return `"${bytes}"`;
  let out = '"';
  for (let at = 0; at < bytes.length; ) {
    const { rune, size } = runeAt(bytes, at);
    const char = bytes.charAt(at);
    if (rune < 0x80)
      out += NAMED[char] ?? (rune < 0x20 || char === "<" || char === ">" || char === "&" ? unicodeEscape(rune) : char);
    else if (rune === INVALID_RUNE && size === 1) out += "\\ufffd";
    else out += rune === 0x2028 || rune === 0x2029 ? unicodeEscape(rune) : bytesOfRune(rune);
    at += size;
  }
  return `${out}"`;
};

/** As JavaScript does, but for exponents of one digit, and negative zero. */
const ofFloat = (value: number): string => {
  const size = Math.abs(value);
  if (Object.is(value, -0)) return "-0";
  if (size !== 0 && (size < 1e-6 || size >= 1e21)) return value.toExponential();
  return String(value);
};

const isZero = (value: Value): boolean => {
  if (value.is === "struct") return value.fields.every(isZero);
  if (value.is === "time") return value.value.seconds === -62_135_596_800n && value.value.nanos === 0;
  if (value.is === "list" || value.is === "map" || value.is === "bytes") return isNilOfType(value);
  return !isTrue(value);
};
const isOmitted = (field: Field, value: Value): boolean =>
  (field.omits === "empty" && value.is !== "struct" && value.is !== "time" && !isTrue(value)) ||
  (field.omits === "zero" && isZero(value));

/** What has no JSON: not a number, a value that contains itself. */
class NoJson extends Error {}

const fieldsOf = (value: StructValue): readonly (readonly [string, Value])[] =>
  value.type.fields.flatMap((field, n): readonly (readonly [string, Value])[] => {
    const own = value.fields[n] as Value;
    if (field.isEmbedded === true && field.json === undefined) {
      const inner = own.is === "pointer" ? own.to : own;
      if (inner?.is === "struct") return fieldsOf(inner);
      if (own.is === "pointer") return [];
    }
    return field.json === "-" || isOmitted(field, own) ? [] : [[field.json ?? field.name, own]];
  });

const DEPTH = 200;

/** As json.Marshal; nothing where that fails. With an indent as json.MarshalIndent. */
export const toJson = (value: Value, indent: string, context: Pick<Context, "spend" | "claim">): string | undefined => {
  let size = 0;
  const counted = (text: string): string => {
    size += text.length;
    context.claim(size);
    return text;
  };
  const wrapped = (open: string, close: string, parts: readonly string[], depth: number): string => {
    if (parts.length === 0) return open + close;
    if (indent === "") return `${open}${parts.join(",")}${close}`;
    const line = `\n${indent.repeat(depth + 1)}`;
    size += parts.length * line.length;
    return `${open}${line}${parts.join(`,${line}`)}\n${indent.repeat(depth)}${close}`;
  };
  const write = (one: Value, depth: number): string => {
    context.spend(0.05);
    if (depth > DEPTH) throw new NoJson();
    switch (one.is) {
      case "bool":
        return counted(String(one.value));
      case "int":
        return counted(one.value.toString());
      case "float":
        if (!Number.isFinite(one.value)) throw new NoJson();
        return counted(ofFloat(one.value));
      case "string":
        return counted(ofText(one.value));
      case "bytes":
        return one.value === undefined ? "null" : counted(`"${Buffer.from(one.value, "latin1").toString("base64")}"`);
      case "list":
        return one.items === undefined
          ? "null"
          : wrapped(
              "[",
              "]",
              one.items.map((item) => write(item, depth + 1)),
              depth,
            );
      case "map":
        if (one.entries === undefined) return "null";
        return members(sortedEntries(one), depth);
      case "struct":
        return members(fieldsOf(one), depth);
      case "pointer":
        return one.to === undefined ? "null" : write(one.to, depth);
      case "time":
        return counted(`"${formatTime(one.value, JSON_LAYOUT)}"`);
      case "semver":
        return counted(ofText(versionText(one.value)));
      case "nil":
      case "none":
      default:
        return counted("null");
    }
  };
  const members = (entries: readonly (readonly [string, Value])[], depth: number): string =>
    wrapped(
      "{",
      "}",
      entries.map(([key, item]) => `${counted(ofText(key))}:${indent === "" ? "" : " "}${write(item, depth + 1)}`),
      depth,
    );
  try {
    return write(value, 0);
  } catch (error) {
    if (error instanceof NoJson) return undefined;
    throw error;
  }
};
