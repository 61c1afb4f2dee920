// Evaluates the conditions of Wait (JSONPath in a Go template) and of WaitV2 (a Go template).
import {
  asObject,
  digitsOf,
  findByPath,
  type Instant,
  type JsonPath,
  type KubeObject,
  parseJsonPath,
} from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { json, NIL, problemOf, renderText, tainted } from "./templates.ts";
import { REDACTED, revealed, type Text } from "./text.ts";
import type { Evaluated, Language } from "./wait-conditions.ts";

const LONGEST = 200;

const isSecret = ({ apiVersion, kind }: KubeObject): boolean => apiVersion === "v1" && kind === "Secret";

const shorten = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

const shown = (object: KubeObject, text: string): string => (isSecret(object) ? REDACTED : `"${shorten(text.trim())}"`);

const evaluated = (object: KubeObject, rendered: E.Either<string, Text>, what?: string): Evaluated => {
  if (E.isLeft(rendered))
    return { isMet: false, shown: isSecret(object) ? "the condition cannot be evaluated" : shorten(rendered.left) };
  const text = revealed(rendered.right);
  return { isMet: text.trim() === "true", shown: what ?? `the condition is ${shown(object, text)}` };
};

/** A path as it stands in the text. */
const PATH = /\{\s*\$([^}]*)\}/gmu;

const parsedPath = (path: string): E.Either<string, JsonPath> => {
  const text = path.trim();
  if (text === "" || text === ".") return E.right([]);
  return E.bimap(
    ({ message, position }: { readonly message: string; readonly position: number }) =>
      `JSONPath {$${text}}: ${message} (character ${position})`,
    ({ value }: { readonly value: JsonPath }) => value,
  )(
    E.filterOrElse(
      ({ next }: { readonly value: JsonPath; readonly next: number }) => next === text.length + 2,
      () => ({ message: "a path expected", position: 1 }),
    )(parseJsonPath(`{${text}}`, 0)),
  );
};

/** Prints a value as kubectl prints what a path leads to. */
const printed = (value: unknown): string => {
  const digits = digitsOf(value);
  if (digits !== undefined) return digits;
  if (value === null) return "<nil>";
  return typeof value === "object" ? JSON.stringify(value) : (value as string | number | boolean).toString();
};

/** A path that may lead to nothing; any other that does is an error of kubectl's. */
const mayBeEmpty = (path: JsonPath): boolean => path.some(({ type }) => type === "all" || type === "filter");

/** Reads the values of a path; undefined: the object has no such field. */
const valueAt = (path: JsonPath, object: KubeObject): string | undefined => {
  const values = findByPath(path, object);
  return values.length === 0 && !mayBeEmpty(path) ? undefined : values.map(printed).join(" ");
};

const rendering = (now: Instant) => ({ now, seed: "", at: "condition", missingKey: "zero" as const });

/** Each path is replaced by its value, then the text is a template without data. */
export const pathsInTemplate = (now: Instant): Language => ({
  problem: (text) => {
    for (const [, path = ""] of text.matchAll(PATH)) {
      const parsed = parsedPath(path);
      if (E.isLeft(parsed)) return parsed.left;
    }
    // A number may stand wherever a value does.
    return problemOf(text.replaceAll(PATH, "0"));
  },
  evaluate: (text, object) => {
    const values = new Map<string, string | undefined>();
    for (const [whole, path = ""] of text.matchAll(PATH)) {
      const parsed = parsedPath(path);
      values.set(whole, E.isLeft(parsed) ? undefined : valueAt(parsed.right, object));
    }
    const what = [...values]
      .map(([path, value]) => `${path} is ${value === undefined ? "not there" : shown(object, value)}`)
      .join(", ");
    if ([...values.values()].includes(undefined)) return { isMet: false, shown: what };
    const replaced = text.replaceAll(PATH, (whole) => values.get(whole) ?? "");
    return evaluated(object, renderText(replaced, NIL, rendering(now)), what === "" ? undefined : what);
  },
});

/** The text is a template of the object, as for kubectl's output format go-template. */
export const templateOfObject = (now: Instant): Language => ({
  problem: (text) => problemOf(text, "kubectl"),
  evaluate: (text, object) => {
    const data = json(asObject(object));
    return evaluated(
      object,
      renderText(text, isSecret(object) ? tainted(data) : data, { ...rendering(now), dialect: "kubectl" }),
    );
  },
});
