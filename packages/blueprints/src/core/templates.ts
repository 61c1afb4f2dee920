// Templates of blueprints as the rest of the core needs them: values, rendered text with marks of Secrets, and problems in a sentence.
import {
  ANY,
  type Dialect,
  fieldsOf,
  fromJson,
  map as mapOf,
  NIL as NOTHING,
  ofBytes,
  parseTemplate,
  type ReadField,
  renderTemplate,
  STRING,
  str,
  struct as structOf,
  taint,
  type Value,
} from "@janus/gotemplate";
import type { Instant } from "@janus/types";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import * as E from "fp-ts/lib/Either.js";
import { templateHint } from "./template-hints.ts";
import { plain, type Text } from "./text.ts";

export { functionGroups, refusedFunctions } from "@janus/gotemplate";

export type Data = Value;
export const NIL: Data = NOTHING;
export const json = fromJson;
export const text = (value: string): Data => str(value);
export const tainted = taint;
export const bytes = (value: Uint8Array): Data => ofBytes(Buffer.from(value).toString("latin1"));
export const map = (all: Readonly<Record<string, Data>>): Data => mapOf(all);
/** A map of texts: a key that it does not have is the empty text where missing keys are zero. */
export const texts = (all: Readonly<Record<string, string>>): Data =>
  mapOf(Object.fromEntries(Object.entries(all).map(([name, value]) => [name, text(value)])), STRING);

/** A field of a struct of Go. embedded: its own fields may be named without it. */
export interface Field {
  readonly name: string;
  readonly value: Data;
  readonly json: string;
  readonly option: "omitempty" | "embedded" | undefined;
}

/** @param json its key in JSON. Default: its name */
export const field = (name: string, value: Data, json = name, option?: Field["option"]): Field => ({
  name,
  value,
  json,
  option,
});

/** @param name of the type, for messages */
export const struct = (name: string, fields: readonly Field[]): Data =>
  structOf(
    {
      kind: "struct",
      name,
      fields: fields.map(({ name: called, value, json: key, option }) => ({
        name: called,
        type: value.is === "struct" ? value.type : ANY,
        json: key,
        ...(option === "omitempty" ? { omits: "empty" as const } : {}),
        ...(option === "embedded" ? { isEmbedded: true } : {}),
      })),
    },
    Object.fromEntries(fields.map(({ name: called, value }) => [called, value])),
  );

/** The source of all that a template gives otherwise each time; the same again gives the same. */
export interface Randomness {
  readonly now: Instant;
  readonly seed: string;
}

/** Bytes that follow from the seed, other ones with each call. */
const drawing = (seed: string): ((count: number) => Uint8Array) => {
  let drawn = 0;
  return (count) => {
    const all = new Uint8Array(count);
    for (let at = 0; at < count; at += 32) {
      all.set(sha256(utf8ToBytes(`${seed}/${drawn}`)).slice(0, count - at), at);
      drawn += 1;
    }
    return all;
  };
};

/** Says why a template cannot be parsed; undefined: it can. @param dialect whether it has functions of kubectl, too */
export const problemOf = (source: string, dialect?: Dialect): string | undefined => {
  const parsed = parseTemplate(source, dialect);
  return E.isLeft(parsed) ? parsed.left.message : undefined;
};

/** The fields of the data that a template reads; none of one that cannot be parsed. */
export const fieldsRead = (source: string): readonly ReadField[] => {
  const parsed = source.includes("{{") ? parseTemplate(source) : undefined;
  return parsed === undefined || E.isLeft(parsed) ? [] : fieldsOf(parsed.right);
};

interface RenderedAs {
  /** The path of the template, so that two draw different numbers. */
  readonly at: string;
  /** The option of Go for missing keys. Default: an error. */
  readonly missingKey?: "error" | "zero";
  /** Default: sprig. */
  readonly dialect?: Dialect;
}

/**
 * @returns Left: what is wrong, in Kanister's words where a key is missing
 */
export const renderText = (
  source: string,
  data: Data,
  { now, seed, at, missingKey = "error", dialect = "sprig" }: Randomness & RenderedAs,
): E.Either<string, Text> => {
  if (!source.includes("{{")) return E.right(plain(source));
  const parsed = parseTemplate(source, dialect);
  if (E.isLeft(parsed)) return E.left(parsed.left.message);
  // oxlint-disable-next-line no-restricted-globals -- the time is handed in
  const moment = new Date(now);
  const rendered = renderTemplate(parsed.right, data, {
    missingKey,
    dialect,
    now: moment,
    random: drawing(`${seed}/${at}`),
  });
  if (E.isRight(rendered)) return E.right({ pieces: rendered.right });
  const { isTainted, key, expression = "", message } = rendered.left;
  if (isTainted)
    return E.left("Failed to render template: what is wrong depends on the value of a Secret, and is not shown");
  return E.left(
    key === undefined
      ? `Failed to render template: ${message}${templateHint(message, expression, data)}`
      : `Failed to render template: "${key}" not found: ${expression}`,
  );
};
