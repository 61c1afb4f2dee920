// Renders the args of a phase: each string alone, keys included, as Kanister does.
import type { Json, JsonObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { type Data, problemOf, type Randomness, renderText } from "./templates.ts";
import { isText, plain, type Text, untainted } from "./text.ts";

/** JSON in which each string is a {@link Text}. */
export type RenderedJson = null | boolean | number | Text | readonly RenderedJson[] | RenderedObject;
export interface RenderedObject {
  readonly [key: string]: RenderedJson;
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

/** The strings of a value with their paths, such as `args.command[2]`, but for those of fields that are left as they are. */
export const stringsOf = (value: Json, path: string, verbatim?: string): readonly (readonly [string, string])[] => {
  if (typeof value === "string") return [[path, value]];
  if (typeof value !== "object" || value === null) return [];
  if (isList(value)) return value.flatMap((item, index) => stringsOf(item, `${path}[${index}]`, verbatim));
  return Object.entries(value).flatMap(([name, one]) => [
    [`${path} (a key)`, name] as const,
    ...(name === verbatim ? [] : stringsOf(one, `${path}.${name}`, verbatim)),
  ]);
};

/** Says what is wrong with its templates, before anything is known of their data. */
export const templateProblems = (value: Json, path: string, verbatim?: string): readonly string[] =>
  stringsOf(value, path, verbatim).flatMap(([at, text]) => {
    const problem = problemOf(text);
    return problem === undefined ? [] : [`${at}: ${problem}`];
  });

/**
 * @param path such as `args`
 * @param verbatim the name of fields whose text is left as it is
 */
export const renderJson = (
  value: Json,
  path: string,
  data: Data,
  randomness: Randomness,
  verbatim?: string,
): E.Either<string, RenderedJson> => {
  if (typeof value === "string")
    return E.mapLeft((problem: string) => `${path}: ${problem}`)(renderText(value, data, { ...randomness, at: path }));
  if (typeof value !== "object" || value === null) return E.right(value);
  if (isList(value))
    return E.traverseArray(([index, item]: readonly [number, Json]) =>
      renderJson(item, `${path}[${index}]`, data, randomness, verbatim),
    )([...value.entries()]);
  return renderObject(value, path, data, randomness, verbatim);
};

export const renderObject = (
  value: JsonObject,
  path: string,
  data: Data,
  randomness: Randomness,
  verbatim?: string,
): E.Either<string, RenderedObject> =>
  E.map((entries: readonly (readonly [string, RenderedJson])[]): RenderedObject => Object.fromEntries(entries))(
    E.traverseArray(([name, one]: readonly [string, Json]) =>
      E.flatMap((key: string) =>
        E.map((rendered: RenderedJson) => [key, rendered] as const)(
          name === verbatim && typeof one === "string"
            ? E.right(plain(one))
            : renderJson(one, `${path}.${key}`, data, randomness, verbatim),
        ),
      )(
        E.flatMap((text: Text) => E.fromNullable(`${path}: a key must not depend on a Secret`)(untainted(text)))(
          E.mapLeft((problem: string) => `${path} (a key): ${problem}`)(
            renderText(name, data, { ...randomness, at: `${path}.${name}` }),
          ),
        ),
      ),
    )(Object.entries(value)),
  );

/** The parts that depend on Secrets. */
export const secretsIn = (value: RenderedJson): readonly string[] => {
  if (isText(value)) return value.pieces.flatMap(({ text, isTainted }) => (isTainted ? [text] : []));
  return typeof value === "object" && value !== null
    ? Object.values(value as Readonly<Record<string, RenderedJson>>).flatMap(secretsIn)
    : [];
};
