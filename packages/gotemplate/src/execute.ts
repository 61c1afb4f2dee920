// Executes a template: a bounded number of steps, and a mark on every piece of text that depends on a Secret.
import * as E from "fp-ts/lib/Either.js";
import type { Branch, Command, Node, Pipeline, Statement, Template } from "./ast.ts";
import { functions, type FunctionContext, isLazy } from "./functions/index.ts";
import { Fault } from "./fault.ts";
import { printTop } from "./printed.ts";
import {
  type Field,
  hasTaint,
  int,
  isTrue,
  NIL,
  sortedEntries,
  taintedIf,
  text,
  typeName,
  type Value,
} from "./value.ts";

/** A piece of rendered text. */
export interface Piece {
  readonly text: string;
  /** It depends on a Secret. */
  readonly isTainted: boolean;
}

export interface RenderOptions {
  /** What becomes of a key that a map does not have. Default, as Go: `<no value>`, which is `zero` here. */
  readonly missingKey: "error" | "zero";
  /** In ms since the epoch. */
  readonly now: number;
  /** Bytes that look random, and are the same for the same seed. */
  readonly seed: string;
}

/** Why a template cannot be rendered. */
export interface RenderError {
  readonly message: string;
  /** The key that a map does not have, and the expression that names it. */
  readonly missing?: { readonly key: string; readonly expression: string };
}

const MOST_STEPS = 200_000;
/** In characters. */
const MOST_OUTPUT = 2 ** 20;
/** Of templates that call each other. */
const DEEPEST = 100;

type Flow = "goes on" | "break" | "continue";

interface Variable {
  readonly name: string;
  value: Value;
}

/** Whether a break or continue in it leaves the loop that it stands in. */
const leavesLoop = (statements: readonly Statement[]): boolean =>
  statements.some((one) => {
    if (one.type === "break" || one.type === "continue") return true;
    if (one.type === "if" || one.type === "with") return leavesLoop(one.body) || leavesLoop(one.otherwise);
    return one.type === "range" && leavesLoop(one.otherwise);
  });

/** The variables that are assigned in it. */
const assigned = (statements: readonly Statement[]): readonly string[] =>
  statements.flatMap((one) => {
    if (one.type === "action") return one.pipeline.isAssignment ? one.pipeline.declared : [];
    if (one.type !== "if" && one.type !== "with" && one.type !== "range") return [];
    return [
      ...(one.pipeline.isAssignment ? one.pipeline.declared : []),
      ...assigned(one.body),
      ...assigned(one.otherwise),
    ];
  });

const fieldOf = (fields: readonly Field[], name: string): Value | undefined => {
  const own = fields.find((one) => one.name === name);
  if (own !== undefined) return own.value;
  for (const { option, value } of fields) {
    const promoted = option === "embedded" && value.kind === "struct" ? fieldOf(value.value, name) : undefined;
    if (promoted !== undefined) return promoted;
  }
  return undefined;
};

const missing = (key: string, expression: string): Fault =>
  new Fault(`map has no entry for key "${key}"`, { key, expression });

const shownPath = (names: readonly string[]): string => `{{ .${names.join(".")} }}`;

/**
 * Guarantees: text that is not marked is the same whatever the values of Secrets are, up to the text at which it fails.
 *             A template that loops or grows ends with an error.
 */
export const execute = (
  { body, defined }: Template,
  data: Value,
  { missingKey, now, seed }: RenderOptions,
): E.Either<RenderError, readonly Piece[]> => {
  const pieces: Piece[] = [];
  let steps = 0;
  let length = 0;
  let depth = 0;
  /** It was decided on a Secret that this is executed. */
  let isControlled = false;
  let variables: Variable[] = [];
  const context: FunctionContext = { now, seed, drawn: 0, spend: (cost) => step(cost) };

  const step = (cost = 1): void => {
    steps += cost;
    if (steps > MOST_STEPS) throw new Fault("the template takes too long: it loops, or its data are too large");
  };

  const write = (shown: string, isSecret: boolean): void => {
    length += shown.length;
    if (length > MOST_OUTPUT) throw new Fault("the template makes more than 1 MiB of text");
    const isTainted = isSecret || isControlled;
    const last = pieces.at(-1);
    if (last !== undefined && last.isTainted === isTainted)
      pieces[pieces.length - 1] = { text: last.text + shown, isTainted };
    else if (shown !== "" || isTainted) pieces.push({ text: shown, isTainted });
  };

  const member = (of: Value, name: string, expression: string): Value => {
    const mark = of.isTainted === true;
    switch (of.kind) {
      case "struct": {
        const found = fieldOf(of.value, name);
        if (found === undefined) throw new Fault(`there is no field ${name} in ${expression}`);
        return taintedIf(mark, found);
      }
      case "map": {
        const found = of.value.get(name);
        if (found !== undefined) return taintedIf(mark, found);
        if (missingKey === "error") throw missing(name, expression);
        return taintedIf(mark, NIL);
      }
      case "nil":
        throw missing(name, expression);
      default:
        throw new Fault(`a ${typeName(of)} has no field ${name} in ${expression}`);
    }
  };

  const path = (start: Value, names: readonly string[], expression: string): Value =>
    names.reduce((value, name) => member(value, name, expression), start);

  const variable = (name: string): Variable => {
    const found = variables.findLast((one) => one.name === name);
    if (found === undefined) throw new Fault(`undefined variable ${name}`);
    return found;
  };

  const evaluate = (node: Node, dot: Value): Value => {
    step();
    switch (node.type) {
      case "dot":
        return dot;
      case "nil":
        throw new Fault("nil is not a command");
      case "boolean":
        return { kind: "bool", value: node.value };
      case "number":
        return node.isInteger ? int(node.value) : { kind: "float", value: node.value };
      case "string":
        return text(node.value);
      case "field":
        return path(dot, node.path, shownPath(node.path));
      case "variable":
        return path(variable(node.name).value, node.path, `{{ ${[node.name, ...node.path].join(".")} }}`);
      case "chain":
        return path(evaluate(node.of, dot), node.path, `{{ (…).${node.path.join(".")} }}`);
      case "pipeline":
        return pipe(node.pipeline, dot);
      case "identifier":
        return call(node.name, [], dot, undefined);
    }
  };

  /** An argument: nil may be one. */
  const argument = (node: Node, dot: Value): Value => (node.type === "nil" ? NIL : evaluate(node, dot));

  const call = (name: string, args: readonly Node[], dot: Value, last: Value | undefined): Value => {
    step();
    const found = functions[name];
    if (found === undefined) throw new Fault(`function "${name}" not defined`);
    if (isLazy(found))
      return found.lazy(
        args.map((one) => () => argument(one, dot)),
        last,
      );
    const values = [...args.map((one) => argument(one, dot)), ...(last === undefined ? [] : [last])];
    const [least, most] = found.arity;
    if (values.length < least || values.length > most)
      throw new Fault(
        `wrong number of arguments for ${name}: ${values.length} instead of ${least === most ? least : `${least} or more`}`,
      );
    try {
      const result = found.call(values, context);
      return found.keepsMarks === true ? result : taintedIf(values.some(hasTaint), result);
    } catch (error) {
      if (error instanceof Fault && error.missing === undefined && !error.message.startsWith("the template"))
        throw new Fault(`${name}: ${error.message}`);
      throw error;
    }
  };

  const command = ({ args: [first, ...rest] }: Command, dot: Value, last: Value | undefined): Value => {
    if (first === undefined) throw new Fault("empty command");
    if (first.type === "identifier") return call(first.name, rest, dot, last);
    if (rest.length > 0 || last !== undefined) {
      if (first.type === "pipeline" && rest.length === 0 && last === undefined) return evaluate(first, dot);
      throw new Fault(
        first.type === "field" || first.type === "variable" || first.type === "chain"
          ? `${first.path.at(-1) ?? ("name" in first ? first.name : "")} is not a function: methods of Go's values cannot be called`
          : "a constant is no function",
      );
    }
    return evaluate(first, dot);
  };

  const pipe = ({ commands, declared, isAssignment }: Pipeline, dot: Value): Value => {
    let value: Value | undefined;
    for (const one of commands) value = command(one, dot, value);
    const result = value ?? NIL;
    for (const name of declared) declare(name, result, isAssignment);
    return result;
  };

  const declare = (name: string, value: Value, isAssignment: boolean): void => {
    const marked = taintedIf(isControlled, value);
    if (isAssignment) variable(name).value = marked;
    else variables.push({ name, value: marked });
  };

  /** Executes with the knowledge that a Secret has decided on it. */
  const controlled = <A>(isSecret: boolean, run: () => A): A => {
    const before = isControlled;
    isControlled = before || isSecret;
    const result = run();
    isControlled = before;
    return result;
  };

  /** What was assigned under a condition tells of the condition, whether it was met or not. */
  const taintAssigned = (isSecret: boolean, statements: readonly Statement[]): void => {
    if (!isSecret) return;
    for (const name of assigned(statements)) {
      const found = variables.findLast((one) => one.name === name);
      if (found !== undefined) found.value = taintedIf(true, found.value);
    }
  };

  const scoped = <A>(run: () => A): A => {
    const before = variables.length;
    const result = run();
    variables = variables.slice(0, before);
    return result;
  };

  /** Set when a loop may have ended for the value of a Secret: all that follows in it depends on that. */
  let isLoopTainted = false;

  const conditional = (type: "if" | "with", { pipeline, body: then, otherwise }: Branch, dot: Value): Flow =>
    scoped(() => {
      const value = pipe({ ...pipeline, declared: type === "if" || type === "with" ? pipeline.declared : [] }, dot);
      const isSecret = hasTaint(value);
      const branch = isTrue(value) ? then : otherwise;
      const inner = type === "with" && isTrue(value) ? value : dot;
      const flow = controlled(isSecret, () => statements(branch, inner));
      taintAssigned(isSecret, [...then, ...otherwise]);
      if ((isSecret || isControlled) && (leavesLoop(then) || leavesLoop(otherwise))) isLoopTainted = true;
      return flow;
    });

  const items = (value: Value): readonly (readonly [Value, Value])[] => {
    const mark = value.isTainted === true;
    switch (value.kind) {
      case "list":
        return value.value.map((one, at) => [taintedIf(mark, int(at)), taintedIf(mark, one)]);
      case "map":
        return sortedEntries(value.value).map(([name, one]) => [taintedIf(mark, text(name)), taintedIf(mark, one)]);
      case "bytes":
        return [...value.value].map((one, at) => [taintedIf(mark, int(at)), taintedIf(mark, int(one))]);
      case "int":
        step(Math.max(0, value.value));
        return Array.from({ length: Math.max(0, value.value) }, (_, at) => [
          taintedIf(mark, int(at)),
          taintedIf(mark, int(at)),
        ]);
      case "nil":
        return [];
      default:
        throw new Fault(`range cannot iterate over a ${typeName(value)}`);
    }
  };

  const loop = ({ pipeline, body: each, otherwise }: Branch, dot: Value): Flow =>
    scoped(() => {
      const { declared, isAssignment } = pipeline;
      const value = pipe({ ...pipeline, declared: [] }, dot);
      const all = items(value);
      const isSecret = value.isTainted === true;
      if (all.length === 0) {
        const flow = controlled(isSecret, () => statements(otherwise, dot));
        taintAssigned(isSecret, [...each, ...otherwise]);
        return flow;
      }
      const outer = isLoopTainted;
      isLoopTainted = false;
      controlled(isSecret, () => {
        for (const [key, item] of all) {
          step();
          const flow = scoped(() => {
            if (isLoopTainted) isControlled = true;
            const [first, second] = declared;
            if (first !== undefined && second !== undefined) {
              declare(first, key, isAssignment);
              declare(second, item, isAssignment);
            } else if (first !== undefined) declare(first, value.kind === "int" ? key : item, isAssignment);
            return statements(each, item);
          });
          if (flow === "break") break;
        }
      });
      taintAssigned(isSecret || isLoopTainted, [...each, ...otherwise]);
      isLoopTainted = outer;
      return "goes on";
    });

  const statements = (all: readonly Statement[], dot: Value): Flow => {
    for (const one of all) {
      step();
      // Within a loop that a Secret may have ended.
      if (isLoopTainted) isControlled = true;
      switch (one.type) {
        case "text":
          write(one.text, false);
          break;
        case "action": {
          const value = pipe(one.pipeline, dot);
          if (one.pipeline.declared.length === 0) write(printTop(value), hasTaint(value));
          break;
        }
        case "if":
        case "with": {
          const flow = conditional(one.type, one, dot);
          if (flow !== "goes on") return flow;
          break;
        }
        case "range":
          loop(one, dot);
          break;
        case "template": {
          const called = defined.get(one.name);
          if (called === undefined) throw new Fault(`template "${one.name}" not defined`);
          depth += 1;
          if (depth > DEEPEST) throw new Fault(`the template calls itself more than ${DEEPEST} times`);
          const outer = variables;
          const inner = one.pipeline === undefined ? NIL : pipe(one.pipeline, dot);
          variables = [{ name: "$", value: inner }];
          statements(called, inner);
          variables = outer;
          depth -= 1;
          break;
        }
        case "break":
        case "continue":
          return one.type;
      }
    }
    return "goes on";
  };

  variables = [{ name: "$", value: data }];
  return E.tryCatch(
    () => {
      statements(body, data);
      return pieces;
    },
    (error) => {
      if (error instanceof Fault)
        return { message: error.message, ...(error.missing === undefined ? {} : { missing: error.missing }) };
      if (error instanceof RangeError) return { message: "the template or its data are nested too deep" };
      throw error;
    },
  );
};
