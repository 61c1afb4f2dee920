// Parses a gate in the syntax of kubectl wait --for.
import * as E from "fp-ts/lib/Either.js";
import { programOf } from "./cel.ts";
import { formatJsonPath, type JsonPath, parseJsonPath, type SyntaxMistake } from "@janus/types";

/** A gate, which the target of a change has to meet before the next change begins, in the syntax of `kubectl wait --for`. */
export type Gate =
  | { readonly type: "ready" | "create" | "delete" }
  | { readonly type: "condition"; readonly name: string; readonly value: string }
  /** Without a value: there is one, whatever it is. */
  | { readonly type: "jsonpath"; readonly path: JsonPath; readonly value?: string }
  | { readonly type: "cel"; readonly expression: string }
  /** This version of the controller does not read it. */
  | { readonly type: "malformed"; readonly text: string; readonly message: string };

/** Longer than any readable expression; the cost of an expression grows with it. */
export const MAX_GATE_LENGTH = 1024;

const DEFAULT_CONDITION = "True";

const mistake = (message: string, position: number): E.Either<SyntaxMistake, never> => E.left({ message, position });

/** Parses from after `condition=`. */
const parseCondition = (text: string, start: number): E.Either<SyntaxMistake, Gate> => {
  const equals = text.indexOf("=", start);
  const name = text.slice(start, equals === -1 ? undefined : equals);
  if (name === "") return mistake("the type of the condition is missing, as in condition=Ready", start + 1);
  if (equals === -1) return E.right({ type: "condition", name, value: DEFAULT_CONDITION });
  const value = text.slice(equals + 1);
  return value === ""
    ? mistake("the status of the condition is missing, as in condition=Ready=False", equals + 2)
    : E.right({ type: "condition", name, value });
};

/** Parses from after `jsonpath=`. */
const parseJsonPathGate = (text: string, start: number): E.Either<SyntaxMistake, Gate> => {
  const path = parseJsonPath(text, start);
  if (E.isLeft(path)) return path;
  const { value: steps, next } = path.right;
  if (next === text.length) return E.right({ type: "jsonpath", path: steps });
  if (text[next] !== "=") return mistake(`= or the end expected instead of ${text.charAt(next)}`, next + 1);
  const value = text.slice(next + 1).replaceAll(/^['"]+|['"]+$/g, "");
  if (value.trim() === "") return mistake("the value is missing, as in jsonpath={.status.phase}=Running", next + 2);
  if (value.startsWith("=")) return mistake("one = expected instead of two", next + 2);
  return E.right({ type: "jsonpath", path: steps, value });
};

/** Parses from after `cel=`. */
const parseCel = (text: string, start: number): E.Either<SyntaxMistake, Gate> => {
  const expression = text.slice(start);
  const gate = { type: "cel", expression } as const;
  const program = programOf(gate);
  if (E.isRight(program)) return E.right(gate);
  return mistake(program.left.message, start + program.left.position);
};

const WITH_ARGUMENT: Readonly<Record<string, (text: string, start: number) => E.Either<SyntaxMistake, Gate>>> = {
  "condition=": parseCondition,
  "jsonpath=": parseJsonPathGate,
  "cel=": parseCel,
};

/**
 * Reads a gate.
 *
 * Guarantees: what it takes can be evaluated, within bounds; `parseGate(formatGate(gate))` is the same gate.
 * Errors: what is wrong, and where.
 */
export const parseGate = (text: string): E.Either<SyntaxMistake, Gate> => {
  if (text.length > MAX_GATE_LENGTH) return mistake(`longer than ${MAX_GATE_LENGTH} characters`, MAX_GATE_LENGTH + 1);
  if (text === "ready" || text === "create" || text === "delete") return E.right({ type: text });
  for (const [prefix, parse] of Object.entries(WITH_ARGUMENT))
    if (text.startsWith(prefix)) return parse(text, prefix.length);
  return mistake("ready, condition=NAME, jsonpath={PATH}, cel=EXPRESSION, create or delete expected", 1);
};

export const formatGate = (gate: Gate): string => {
  switch (gate.type) {
    case "condition":
      return `condition=${gate.name}${gate.value === DEFAULT_CONDITION ? "" : `=${gate.value}`}`;
    case "jsonpath":
      return `jsonpath=${formatJsonPath(gate.path)}${gate.value === undefined ? "" : `=${gate.value}`}`;
    case "malformed":
      return gate.text;
    case "cel":
      return `cel=${gate.expression}`;
    case "ready":
    case "create":
    case "delete":
      return gate.type;
  }
};

/** Whether nothing is compared in it: what a path is filtered by may be a value. */
const isWithoutValues = (path: JsonPath): boolean => path.every((step) => step.type !== "filter");

/**
 * How messages name a gate.
 *
 * @param conceals whether it must not show values that it is compared with: they may be those of a Secret
 */
export const showGate = (gate: Gate, conceals: boolean): string => {
  if (!conceals) return formatGate(gate);
  if (gate.type === "cel") return "cel=…";
  if (gate.type !== "jsonpath") return gate.type === "malformed" ? "…" : formatGate(gate);
  const path = isWithoutValues(gate.path) ? formatJsonPath(gate.path) : "{…}";
  return `jsonpath=${path}${gate.value === undefined ? "" : "=…"}`;
};

export const showGates = (gates: readonly Gate[], conceals: boolean): string =>
  gates.map((gate) => showGate(gate, conceals)).join(", ");
