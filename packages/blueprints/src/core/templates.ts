// Templates of blueprints as the rest of the core needs them: rendered text with marks of Secrets, and problems in a sentence.
import * as E from "fp-ts/lib/Either.js";
import type { Json } from "@janus/types";
import type { Text } from "./text.ts";

export type Data = unknown;
export interface Randomness {
  readonly now: number;
  readonly seed: string;
}
export const NIL: Data = undefined;
export const text = (value: string): Data => value;
export const json = (value: Json): Data => value;
export const bytes = (value: Uint8Array): Data => value;
export const map = (all: Readonly<Record<string, Data>>): Data => all;
export const tainted = (value: Data): Data => value;
export const field = (name: string, value: Data, json?: string, option?: "omitempty" | "embedded") => ({
  name,
  value,
  json,
  option,
});
export const struct = (fields: readonly ReturnType<typeof field>[]): Data => fields;
export const problemOf = (_: string): string | undefined => undefined;
export const renderText = (
  value: string,
  _: Data,
  __: Randomness & { readonly at: string; readonly missingKey?: "zero" },
): E.Either<string, Text> => E.right({ pieces: [{ text: value, isTainted: false }] });
