// Evaluates a gate on one version of its object.
import { cut } from "@janus/api";
import { findByPath, formatJsonPath, isObject, type JsonPath, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { programOf } from "./cel.ts";
import { type Meter, meter } from "./cel-meter.ts";
import { type Gate, showGate } from "./gate.ts";
import { because, failed, type GateState, met, notYet } from "./gate-state.ts";
import { conditionsOf, describeCondition } from "./object-conditions.ts";
import { print } from "./print.ts";
import { generationAt, objectsAt, textAt, textsAt, valueAt } from "./read-fields.ts";
import { hasFailed, ready } from "./ready.ts";

type Of<Type extends Gate["type"]> = Extract<Gate, { readonly type: Type }>;

/** The length up to which it is readable in a status, beside those of other targets. */
const MAX_MESSAGE = 1024;
const MOST_QUOTED = 128;

/** Whether a condition is older than the latest spec: what it says is of an older one. */
const isOutdated = (object: KubeObject, condition: object): boolean => {
  const generation = generationAt(object, "metadata", "generation");
  const observed =
    generationAt(condition, "observedGeneration") ?? generationAt(object, "status", "observedGeneration");
  return generation !== undefined && observed !== undefined && observed < generation;
};

/** Compares the names and values of conditions as kubectl does. */
const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Leaves out what the object reports of itself: it may quote its values. */
const withoutReport = (state: GateState): GateState => {
  if (state.type === "met") return met;
  return state.type === "failed"
    ? failed("it reports that it has failed")
    : notYet("it reports that it is not ready yet");
};

const evaluateCondition = (gate: Of<"condition">, object: KubeObject): GateState => {
  const found = objectsAt(object, "status", "conditions").find(
    (condition) => same(textAt(condition, "type"), gate.name) && typeof valueAt(condition, "status") === "string",
  );
  if (found !== undefined && isOutdated(object, found))
    return notYet(`condition ${gate.name} is not of the latest generation yet`);
  if (found !== undefined && same(textAt(found, "status"), gate.value)) return met;

  // An object that has failed permanently never meets the gate: a failed Job is never Complete.
  const failure = hasFailed(object);
  if (failure !== undefined) return failure;
  const [reported] = found === undefined ? [] : conditionsOf({ status: { conditions: [found] } });
  return notYet(reported === undefined ? `condition ${gate.name} is not reported yet` : describeCondition(reported));
};

const quote = (value: unknown): string => `"${cut(print(value), MOST_QUOTED)}"`;

/** Undefined if it costs more than the budget has left. */
const valuesAt = (path: JsonPath, object: KubeObject, { pay, isExhausted }: Meter): readonly unknown[] | undefined => {
  try {
    return findByPath(path, object, pay);
  } catch (error) {
    if (isExhausted()) return undefined;
    throw error;
  }
};

const evaluateJsonPath = (gate: Of<"jsonpath">, object: KubeObject, conceals: boolean, budget: Meter): GateState => {
  const { path, value: wanted } = gate;
  const shown = conceals ? "the path" : formatJsonPath(path);
  const values = valuesAt(path, object, budget);
  if (values === undefined) return failed(because(showGate(gate, conceals), "takes too long on this object"));
  const [value, ...more] = values;
  if (value === undefined) return notYet(`${shown} has no value yet`);
  if (more.length > 0) return notYet(`${shown} has ${more.length + 1} values, and must have one`);
  if (wanted === undefined) return met;
  if (isObject(value) || Array.isArray(value))
    return notYet(`${shown} is ${Array.isArray(value) ? "a list" : "an object"}, and must be one value`);
  if (print(value).trim() === wanted.trim()) return met;
  return notYet(conceals ? `${shown} has another value` : `${shown} is ${quote(value)}, not ${quote(wanted)}`);
};

const evaluateCel = (gate: Of<"cel">, object: KubeObject, conceals: boolean, budget: Meter): GateState => {
  const program = programOf(gate);
  // The error was reported when the gate was read; no object can meet it.
  if (E.isLeft(program)) return failed(because(showGate(gate, conceals), conceals ? "" : program.left.message));
  const state = program.right(object, budget);
  if (state.type === "met") return met;
  const expression = cut(gate.expression, MAX_MESSAGE / 2);
  if (state.type === "failed") return failed(because(showGate({ ...gate, expression }, conceals), state.message));
  if (conceals) return notYet("not true yet");
  return notYet(because(`not true yet: ${expression}`, cut(state.message, MAX_MESSAGE / 2)));
};

const evaluateDelete = (object: KubeObject): GateState => {
  if (textAt(object, "metadata", "deletionTimestamp") === "") return notYet("still exists");
  const finalizers = textsAt(object, "metadata", "finalizers");
  return notYet(because("is being deleted", finalizers.length === 0 ? "" : `held by ${finalizers.join(", ")}`));
};

const evaluateFound = (gate: Gate, object: KubeObject, conceals: boolean, budget: Meter): GateState => {
  switch (gate.type) {
    case "ready":
      return conceals ? withoutReport(ready(object)) : ready(object);
    case "create":
      return met;
    case "delete":
      return evaluateDelete(object);
    case "condition":
      return conceals ? withoutReport(evaluateCondition(gate, object)) : evaluateCondition(gate, object);
    case "jsonpath":
      return evaluateJsonPath(gate, object, conceals, budget);
    case "malformed":
      return failed(because("this version of the controller cannot read it", gate.message));
    case "cel":
      return evaluateCel(gate, object, conceals, budget);
  }
};

const evaluateMissing = (gate: Gate): GateState => (gate.type === "delete" ? met : notYet("does not exist"));

/**
 * Whether an object meets a gate.
 *
 * Guarantees: depends on its arguments alone; never throws; the message is for users, and is short.
 * Assumes:    `object` is the latest that the API server has; undefined: it has none.
 *
 * @param conceals whether the message must not quote what gates read of the object. Default: it may.
 * @param budget what it may cost, which it may share with other gates. Default: one of its own
 */
export const evaluate = (
  gate: Gate,
  object: KubeObject | undefined,
  conceals = false,
  budget: Meter = meter(),
): GateState => {
  const state = object === undefined ? evaluateMissing(gate) : evaluateFound(gate, object, conceals, budget);
  return state.type === "met" ? state : { ...state, message: cut(state.message, MAX_MESSAGE) };
};

/** A gate that is not met. */
interface Unmet {
  readonly gate: Gate;
  readonly state: Exclude<GateState, { readonly type: "met" }>;
}

/** The gates whose costs depend on the object. */
const EXPRESSIONS: readonly Gate["type"][] = ["cel", "jsonpath"];

/**
 * The gate that an object does not meet: the first that has failed, else the first that is waited for; undefined if it meets all.
 * An expression is evaluated only where all gates before it are met.
 *
 * Guarantees: those of {@link evaluate}, for all gates together: many expressions cost no more than one.
 */
export const firstUnmet = (
  gates: readonly Gate[],
  object: KubeObject | undefined,
  conceals = false,
): Unmet | undefined => {
  const budget = meter();
  let waiting: Unmet | undefined;
  for (const gate of gates) {
    if (EXPRESSIONS.includes(gate.type) && waiting !== undefined) continue;
    const state = evaluate(gate, object, conceals, budget);
    if (state.type === "failed") return { gate, state };
    if (state.type === "waiting") waiting ??= { gate, state };
  }
  return waiting;
};
