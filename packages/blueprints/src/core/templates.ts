// Templates of blueprints as the rest of the core needs them: rendered text with marks of Secrets, and problems in a sentence.
import {
  bytes,
  field,
  fromJson,
  map as mapOf,
  NIL as NOTHING,
  parseTemplate,
  renderTemplate,
  struct,
  tainted,
  text,
  type Value,
} from "@janus/gotemplate";
import * as E from "fp-ts/lib/Either.js";
import type { Instant } from "@janus/types";
import { plain, type Text } from "./text.ts";

export type Data = Value;
export const NIL: Data = NOTHING;
export const json = fromJson;
export const map = (all: Readonly<Record<string, Data>>): Data => mapOf(Object.entries(all));
export { bytes, field, struct, tainted, text };

/** What makes a template give something else each time; the same again gives the same. */
export interface Randomness {
  readonly now: Instant;
  readonly seed: string;
}

/** Undefined: it can be parsed. */
export const problemOf = (source: string): string | undefined => {
  const parsed = parseTemplate(source);
  return E.isLeft(parsed) ? parsed.left : undefined;
};

/**
 * @param at the path of the template, so that two draw different numbers
 * @returns Left: what is wrong, in Kanister's words where a key is missing
 */
export const renderText = (
  source: string,
  data: Data,
  { now, seed, at }: Randomness & { readonly at: string },
): E.Either<string, Text> => {
  if (!source.includes("{{")) return E.right(plain(source));
  return E.flatMap((template: Parameters<typeof renderTemplate>[0]) =>
    E.bimap(
      ({
        message,
        missing,
      }: {
        readonly message: string;
        readonly missing?: { readonly key: string; readonly expression: string };
      }) =>
        missing === undefined
          ? `Failed to render template: ${message}`
          : `Failed to render template: "${missing.key}" not found: ${missing.expression}`,
      (pieces: Text["pieces"]): Text => ({ pieces }),
    )(renderTemplate(template, data, { missingKey: "error", now, seed: `${seed}/${at}` })),
  )(parseTemplate(source));
};
