// Executes a template, as Go's text/template does, and tells which parts of its output depend on tainted values.
import type { GoFunction } from "../functions/go-function.ts";
import type { Command, Operand, Pipe, Statement, Template } from "../parse/node.ts";
import { Failure, fail } from "../template-error.ts";
import { isDeeplyTainted } from "../value/deep-taint.ts";
import { isTrue } from "../value/truth.ts";
import {
  type Entries,
  isTainted,
  NIL,
  NONE,
  ofBool,
  ofFloat,
  ofInt,
  ofString,
  sortedEntries,
  taint,
  taintIf,
  type Value,
} from "../value/value.ts";
import { nameOfType, type Type } from "../value/type.ts";
import { typeOf } from "../value/value.ts";
import { codesOf, textOf } from "../value/bytes.ts";
import { asArgument, literalArgument } from "./call.ts";
import { type Context, type Limits, meter } from "./context.ts";
import { fieldOf, type MissingKey } from "./fields.ts";
import { printer } from "../format/printer.ts";

/** A part of the output, in bytes. */
export interface Piece {
  text: string;
  isTainted: boolean;
}

export interface Options {
  readonly missingKey: MissingKey;
  readonly now: Date;
  readonly random: (bytes: number) => Uint8Array;
  readonly limits: Limits;
}

interface Variable {
  readonly name: string;
  value: Value;
}

type Signal = "next" | "break" | "continue";

const isMissing = (value: Value | undefined): value is undefined => value === undefined;

const refuseArguments = (command: readonly Operand[], final: Value | undefined): void => {
  if (command.length > 1 || final !== undefined) fail("an argument is given to what is no function");
};

/** What is iterated over: pairs of index or key, and element. */
const elementsOf = (value: Value, variableCount: number): Iterable<readonly [Value, Value]> => {
  const held = value.is === "pointer" ? (value.to ?? fail("range over nil")) : value;
  switch (held.is) {
    case "none":
      return [];
    case "nil":
      return fail("range over nil");
    case "list":
      return (held.items ?? []).map((item, n) => [ofInt(n), item] as const);
    case "bytes":
      return codesOf(held.value ?? "").map(
        (code, n) => [ofInt(n), { is: "int", type: { kind: "uint8" }, value: BigInt(code) }] as const,
      );
    case "map":
      return sortedEntries(held).map(([key, item]) => [ofString(key), item] as const);
    case "int": {
      if (variableCount > 1) return fail("a number can be ranged over with one variable only");
      const { type, value: end } = held;
      return (function* () {
        for (let n = 0n; n < end; n++) yield [NONE, { is: "int", type, value: n }] as const;
      })();
    }
    case "bool":
    case "float":
    case "pointer":
    case "semver":
    case "string":
    case "struct":
    case "time":
    default:
      return fail(`range can't iterate over ${nameOfType(typeOf(value) as Type)}`);
  }
};

/**
 * Throws a Failure.
 *
 * Guarantees: the data are afterwards as they were before; of two sets of data that differ in tainted values only, the text that
 * is not tainted is the same, if both can be rendered.
 */
export const execute = (
  template: Template,
  functions: Readonly<Record<string, GoFunction>>,
  given: Value,
  options: Options,
): readonly Piece[] => {
  const data = given.is === "nil" ? taintIf(isTainted(given), NONE) : given;
  const { limits, missingKey } = options;
  const pieces: Piece[] = [];
  const undo: (() => void)[] = [];
  const { spend, claim } = meter(limits);
  let written = 0;
  let variables: Variable[] = [{ name: "$", value: data }];
  /** What is done now happens, or not, depending on tainted values. */
  let isImplicit = false;
  let isRestTainted = false;
  /** A loop was left, or went on, depending on tainted values. */
  let isLoopTainted = false;
  let depth = 0;
  let action: readonly [number, number] = [0, 0];
  let position = 0;

  const isNowTainted = (): boolean => isImplicit || isLoopTainted || isRestTainted;

  const context: Context = {
    ...options,
    spend,
    claim,
    change: (entries: Entries, change) => {
      const before = { map: new Map(entries.map), isTainted: entries.isTainted };
      spend(entries.map.size / 16);
      undo.push(() => Object.assign(entries, before));
      entries.map = new Map(entries.map);
      change(entries.map);
      if (isNowTainted()) entries.isTainted = true;
    },
    taintRest: () => {
      isRestTainted = true;
    },
    isTainted: isNowTainted,
  };
  const { print } = printer(context);

  const write = (text: string, isMarked: boolean): void => {
    if (text === "") return;
    written += text.length;
    if (written > limits.output) fail(`the output is longer than ${limits.output} bytes`);
    const last = pieces.at(-1);
    const isPieceTainted = isMarked || isNowTainted();
    if (last !== undefined && last.isTainted === isPieceTainted) last.text += text;
    else pieces.push({ text, isTainted: isPieceTainted });
  };

  /** Variables that a branch may have changed tell which branch it was. */
  const taintVariables = (names: readonly string[]): void => {
    for (const variable of variables) if (names.includes(variable.name)) variable.value = taint(variable.value);
  };
  /** Does what depends on a condition. */
  const under = <A>(condition: boolean, body: () => A): A => {
    const before = isImplicit;
    isImplicit ||= condition;
    // Which maps a branch would have changed that is not taken, nobody knows.
    if (condition && template.changesMaps) isRestTainted = true;
    const result = body();
    isImplicit = before;
    return result;
  };

  const find = (name: string): Variable => {
    for (let n = variables.length - 1; n >= 0; n--) {
      const variable = variables[n];
      if (variable?.name === name) return variable;
    }
    return fail(`undefined variable ${textOf(name)}`);
  };
  const assign = (name: string, value: Value): void => {
    find(name).value = taintIf(isNowTainted(), value);
  };
  const declare = (name: string, value: Value): void => {
    variables.push({ name, value: taintIf(isNowTainted(), value) });
  };

  const chainOf = (start: Value, names: readonly string[], hasArguments: boolean): Value => {
    let value = start;
    let isNothing = false;
    names.forEach((name) => {
      spend(1);
      isNothing = value.is === "none";
      value = fieldOf(value, name, missingKey);
    });
    // Go takes no offence where there is nothing anyway.
    if (hasArguments && !isNothing) fail(`${textOf(names.at(-1) ?? "")} is no function, but has arguments`);
    return value;
  };

  const argument = (dot: Value, operand: Operand, parameter: GoFunction["parameters"][number]): Value =>
    literalArgument(operand, parameter) ?? asArgument(evaluate(dot, operand), parameter);

  /** `and` and `or` evaluate no more than they need. */
  const shortCircuit = (dot: Value, isOr: boolean, args: readonly Operand[], final: Value | undefined): Value => {
    let value: Value = NONE;
    let isMarked = false;
    for (const operand of args) {
      value = under(isMarked, () => argument(dot, operand, "value"));
      if (isTrue(value) === isOr) return taintIf(isMarked, value);
      if (isTainted(value) && !isMarked) {
        isMarked = true;
        // What follows is evaluated or not: whatever it assigns to.
        taintVariables(args.some((one) => one.node === "pipe") ? variables.map(({ name }) => name) : []);
      }
    }
    return taintIf(isMarked, final ?? value);
  };

  const call = (dot: Value, name: string, words: readonly Operand[], final: Value | undefined): Value => {
    spend(1);
    const args = words.slice(1);
    const given = args.length + (final === undefined ? 0 : 1);
    const fn = functions[name] ?? fail(`function "${textOf(name)}" not defined`);
    const { parameters, rest } = fn;
    if (rest === undefined ? given !== parameters.length : given < parameters.length)
      fail(
        `wrong number of args for ${name}: want ${rest === undefined ? "" : "at least "}${parameters.length}, got ${given}`,
      );
    if (name === "and" || name === "or") return shortCircuit(dot, name === "or", args, final);
    const parameterAt = (n: number): GoFunction["parameters"][number] => parameters[n] ?? rest ?? "any";
    const values = args.map((operand, n) => argument(dot, operand, parameterAt(n)));
    if (final !== undefined) values.push(asArgument(final, parameterAt(args.length)));
    return invoke(name, fn, values);
  };

  const isMarkedBy = ({ taintedBy = "deep" }: GoFunction, values: readonly Value[]): boolean => {
    switch (taintedBy) {
      case "deep":
        return values.some((value) => isDeeplyTainted(value, spend));
      case "all":
        return values.some(isTainted);
      case "first":
        return values[0] !== undefined && isTainted(values[0]);
      case "last":
        return values.length > 0 && isTainted(values.at(-1) ?? NIL);
      case "none":
      default:
        return false;
    }
  };
  const invoke = (name: string, fn: GoFunction, values: readonly Value[]): Value => {
    const isMarked = isMarkedBy(fn, values);
    try {
      const result = fn.call(values, context);
      if (result.is === "string") claim(result.value.length);
      return taintIf(isMarked, result);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      error.message = `${name}: ${error.message}`;
      error.isTainted ||= isMarked || values.some((value) => isDeeplyTainted(value, () => {}));
      throw error;
    }
  };

  const evaluate = (dot: Value, operand: Operand, words: readonly Operand[] = [operand], final?: Value): Value => {
    position = operand.at;
    const hasArguments = words.length > 1 || !isMissing(final);
    switch (operand.node) {
      case "field":
        return chainOf(dot, operand.names, hasArguments);
      case "variable": {
        const { value } = find(operand.name);
        if (operand.names.length > 0) return chainOf(value, operand.names, hasArguments);
        refuseArguments(words, final);
        return value;
      }
      case "chain": {
        if (operand.of.node === "nil") return fail("nil has no fields");
        const value = operand.of.node === "pipe" ? pipeline(dot, operand.of) : evaluate(dot, operand.of);
        return chainOf(value, operand.names, hasArguments);
      }
      case "function":
        return call(dot, operand.name, words, final);
      case "pipe":
        refuseArguments(words, final);
        return pipeline(dot, operand);
      case "dot":
        refuseArguments(words, final);
        return dot;
      case "nil":
        return fail("nil is not a command");
      case "bool":
        refuseArguments(words, final);
        return ofBool(operand.value);
      case "string":
        refuseArguments(words, final);
        return ofString(operand.value);
      case "number":
      default:
        refuseArguments(words, final);
        if (operand.isFloat) return ofFloat(operand.float ?? 0);
        return operand.int === undefined ? fail(`${operand.text} overflows int`) : ofInt(operand.int);
    }
  };

  const command = (dot: Value, { words }: Command, final: Value | undefined): Value => {
    spend(1);
    return evaluate(dot, words[0], words, final);
  };

  const pipeline = (dot: Value, pipe: Pipe): Value => {
    let value: Value | undefined;
    for (const one of pipe.commands) {
      value = command(dot, one, value);
      // An interface that holds nothing is no value.
      if (value.is === "nil") value = taintIf(isTainted(value), NONE);
    }
    const result = value ?? NONE;
    for (const name of pipe.variables) {
      if (pipe.isAssignment) assign(name, result);
      else declare(name, result);
    }
    return result;
  };

  const topPipeline = (dot: Value, pipe: Pipe): Value => {
    ({ action } = pipe);
    return pipeline(dot, pipe);
  };

  /** Forgets the variables that are declared in it. */
  const scoped = (body: () => Signal): Signal => {
    const count = variables.length;
    const signal = body();
    variables.length = Math.min(variables.length, count);
    return signal;
  };

  const printed = (value: Value): string => {
    if (value.is === "string") return value.value;
    if (value.is === "none") return "<no value>";
    const shown = value.is === "pointer" ? (value.to ?? value) : value;
    return print([shown]);
  };

  const branch = (dot: Value, one: Statement & { readonly node: "if" | "with" }): Signal =>
    scoped(() => {
      const value = topPipeline(dot, one.pipe);
      const isMarked = isTainted(value);
      if (isMarked) taintVariables(one.assigned);
      const signal = under(isMarked, () => {
        if (isTrue(value)) return run(one.node === "with" ? value : dot, one.body);
        return one.otherwise === undefined ? "next" : run(dot, one.otherwise);
      });
      if (isMarked) taintVariables(one.assigned);
      if (isMarked && one.leaves) isLoopTainted = true;
      return signal;
    });

  const loop = (dot: Value, one: Statement & { readonly node: "range" }): Signal =>
    scoped(() => {
      const value = topPipeline(dot, one.pipe);
      const { variables: names, isAssignment } = one.pipe;
      const isMarked = isTainted(value);
      if (isMarked) taintVariables(one.assigned);
      const outer = { isLoopTainted, isImplicit };
      isImplicit ||= isLoopTainted;
      isLoopTainted = false;
      const mark = variables.length;
      let signal: Signal = "next";
      let isEmpty = true;
      under(isMarked, () => {
        for (const [index, element] of elementsOf(value, names.length)) {
          isEmpty = false;
          spend(1);
          const item = taintIf(isMarked, element);
          const key = taintIf(isMarked, index);
          if (names.length > 0 && isAssignment) {
            const [first, second] = names;
            assign(first ?? "", second === undefined ? item : key);
            if (second !== undefined) assign(second, item);
          } else if (names.length > 0) {
            const element = variables[mark - 1];
            if (element !== undefined) element.value = taintIf(isNowTainted(), item);
            const position = variables[mark - 2];
            if (names.length > 1 && position !== undefined) position.value = taintIf(isNowTainted(), key);
          }
          signal = run(item, one.body);
          variables.length = mark;
          if (signal === "break") break;
        }
        signal = "next";
      });
      if (isLoopTainted) taintVariables(one.assigned);
      ({ isLoopTainted, isImplicit } = outer);
      if (isEmpty && one.otherwise !== undefined) {
        const { otherwise } = one;
        signal = under(isMarked, () => run(dot, otherwise));
        // As in Go, where the loop that has ended catches it.
        if (signal === "break") signal = "next";
      }
      if (isMarked) taintVariables(one.assigned);
      if (isMarked && one.leaves) isLoopTainted = true;
      return signal;
    });

  const callTemplate = (dot: Value, one: Statement & { readonly node: "template" }): void => {
    const body = template.defined.get(one.name) ?? fail(`template "${textOf(one.name)}" not defined`);
    const argumentValue = one.pipe === undefined ? NONE : topPipeline(dot, one.pipe);
    if (++depth > limits.depth) fail(`templates call each other more than ${limits.depth} deep`);
    const outer = variables;
    variables = [{ name: "$", value: argumentValue }];
    run(argumentValue, body);
    variables = outer;
    depth--;
  };

  const run = (dot: Value, list: readonly Statement[]): Signal => {
    for (const one of list) {
      spend(1);
      position = one.at;
      let signal: Signal = "next";
      switch (one.node) {
        case "text":
          write(one.text, false);
          break;
        case "action": {
          const value = topPipeline(dot, one.pipe);
          if (one.pipe.variables.length === 0) write(printed(value), isDeeplyTainted(value, spend));
          break;
        }
        case "if":
        case "with":
          signal = branch(dot, one as Statement & { readonly node: "if" | "with" });
          break;
        case "range":
          signal = loop(dot, one as Statement & { readonly node: "range" });
          break;
        case "template":
          callTemplate(dot, one);
          break;
        case "break":
        case "continue":
        default:
          signal = one.node;
      }
      if (signal !== "next") return signal;
    }
    return "next";
  };

  try {
    run(data, template.main);
    return pieces;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    error.position ??= position;
    error.isTainted ||= isNowTainted();
    error.action = action;
    throw error;
  } finally {
    for (const back of undo.toReversed()) back();
  }
};
