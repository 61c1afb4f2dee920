// The arguments of functions: which there are, and how rendered text is read as numbers, lists and maps, as weakly as Kanister does.
import { asObject, type Json, type JsonObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { renderJson, type RenderedJson, type RenderedObject, templateProblems } from "./render-args.ts";
import type { Data, Randomness } from "./templates.ts";
import { isText, type Text, untainted } from "./text.ts";

/**
 * text, texts (a single one is a list of one), integer ("3" is 3), boolean ("true" is true), map (of texts), object (any JSON):
 * may not depend on a Secret. content: a text that may. words: a list that may.
 */
export type ArgType = "text" | "content" | "texts" | "words" | "integer" | "boolean" | "map" | "object";

export interface Arg {
  readonly type: ArgType;
  readonly isRequired?: true;
  readonly about: string;
  /** The name of fields in it whose text is no template of the phase: it is left as it is. */
  readonly verbatim?: string;
}

export type ArgTable = Readonly<Record<string, Arg>>;

/** The TypeScript type of each. */
interface Types {
  readonly text: string;
  readonly content: Text;
  readonly texts: readonly string[];
  readonly words: readonly Text[];
  readonly integer: number;
  readonly boolean: boolean;
  readonly map: Readonly<Record<string, string>>;
  readonly object: JsonObject;
}

export type Args<T extends ArgTable> = {
  readonly [K in keyof T as T[K] extends { readonly isRequired: true } ? K : never]: Types[T[K]["type"]];
} & { readonly [K in keyof T as T[K] extends { readonly isRequired: true } ? never : K]?: Types[T[K]["type"]] };

/** The names that a function does not know, those that it misses, and broken templates: known before anything is rendered. */
export const argProblems = (func: string, table: ArgTable, args: JsonObject): readonly string[] => [
  ...Object.entries(table)
    .filter(([name, { isRequired }]) => isRequired === true && (args[name] ?? null) === null)
    .map(([name]) => `required arg missing: ${name}`),
  ...Object.keys(args)
    .filter((name) => !Object.hasOwn(table, name))
    .map((name) => `argument "${name}" is not supported by ${func}`),
  ...Object.entries(args).flatMap(([name, one]) => templateProblems(one, `args.${name}`, table[name]?.verbatim)),
];

/** Each argument rendered. Left: what is wrong with one, by its path. */
export const renderArgs = (
  table: ArgTable,
  args: JsonObject,
  data: Data,
  randomness: Randomness,
): E.Either<string, RenderedObject> =>
  E.map((entries: readonly (readonly [string, RenderedJson])[]): RenderedObject => Object.fromEntries(entries))(
    E.traverseArray(([name, one]: readonly [string, Json]) =>
      E.map((rendered: RenderedJson) => [name, rendered] as const)(
        renderJson(one, `args.${name}`, data, randomness, table[name]?.verbatim),
      ),
    )(Object.entries(args)),
  );

const SECRET = "must not depend on a Secret: nobody but the process may see it";

type Read<A> = E.Either<string, A>;

/** JSON without Secrets. */
const json = (value: RenderedJson): Read<Json> => {
  if (isText(value)) return E.fromNullable(SECRET)(untainted(value));
  if (Array.isArray(value)) return E.traverseArray(json)(value as readonly RenderedJson[]);
  if (typeof value !== "object" || value === null) return E.right(value);
  return E.map((entries: readonly (readonly [string, Json])[]): Json => Object.fromEntries(entries))(
    E.traverseArray(([name, one]: readonly [string, RenderedJson]) =>
      E.map((read: Json) => [name, read] as const)(json(one)),
    )(Object.entries(value as RenderedObject)),
  );
};

/** Numbers and booleans are text, too. */
const scalar = (value: Json): Read<string> =>
  value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? E.right(`${value ?? ""}`)
    : E.left("must be a text");

const text = (value: RenderedJson): Read<string> => E.flatMap(scalar)(json(value));

const listOf =
  <A>(item: (value: RenderedJson) => Read<A>) =>
  (value: RenderedJson): Read<readonly A[]> =>
    Array.isArray(value)
      ? E.traverseArray(item)(value as readonly RenderedJson[])
      : E.map((one: A): readonly A[] => [one])(item(value));

const word = (value: RenderedJson): Read<Text> =>
  isText(value)
    ? E.right(value)
    : E.map((one: string): Text => ({ pieces: [{ text: one, isTainted: false }] }))(text(value));

const integer = (value: RenderedJson): Read<number> =>
  E.flatMap((one: string) => (/^-?\d+$/u.test(one.trim()) ? E.right(Number(one)) : E.left("must be an integer")))(
    text(value),
  );

const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
  ["", false],
]);

const boolean = (value: RenderedJson): Read<boolean> =>
  E.flatMap((one: string) => E.fromNullable("must be true or false")(TRUTHS.get(one.trim().toLowerCase())))(
    text(value),
  );

const object = (value: RenderedJson): Read<JsonObject> =>
  E.flatMap((one: Json) =>
    typeof one === "object" && one !== null && !Array.isArray(one)
      ? E.right(asObject(one))
      : E.left("must be an object"),
  )(json(value));

const map = (value: RenderedJson): Read<Readonly<Record<string, string>>> =>
  E.flatMap((one: JsonObject) =>
    E.map((entries: readonly (readonly [string, string])[]) => Object.fromEntries(entries))(
      E.traverseArray(([name, field]: readonly [string, Json]) =>
        E.map((read: string) => [name, read] as const)(scalar(field)),
      )(Object.entries(one)),
    ),
  )(object(value));

const READ: { readonly [T in ArgType]: (value: RenderedJson) => Read<Types[T]> } = {
  text,
  content: word,
  texts: listOf(text),
  words: listOf(word),
  integer,
  boolean,
  map,
  object,
};

/** Reads rendered arguments. Left: what is wrong with one, by its name. */
export const readArgs = <T extends ArgTable>(table: T, rendered: RenderedObject): E.Either<string, Args<T>> =>
  E.map((entries: readonly (readonly [string, unknown])[]) => Object.fromEntries(entries) as Args<T>)(
    E.traverseArray(([name, { type }]: readonly [string, Arg]) =>
      E.bimap(
        (problem: string) => `args.${name} ${problem}`,
        (value: unknown) => [name, value] as const,
      )(READ[type](rendered[name] as RenderedJson) as Read<unknown>),
    )(Object.entries(table).filter(([name]) => (rendered[name] ?? null) !== null)),
  );
