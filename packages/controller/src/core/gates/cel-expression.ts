// Checks the syntax tree of a CEL expression: functions, loops, and a result that can be a boolean.
import { type CelFunc, isCelError, type parse } from "@bufbuild/cel";
import { STEP } from "./cel-meter.ts";
import { foldsWideClass, regexSize } from "./regex-size.ts";

/** The tree that the parser makes of CEL, with all macros written out as loops. */
export type Expression = ReturnType<typeof parse>["expr"];
type Kind<Case extends string> = Extract<Expression["exprKind"], { readonly case: Case }>["value"];
/** The functions that an expression may call, by name; those of one name differ in what they take. */
export type Functions = ReadonlyMap<string, readonly CelFunc[]>;

/** A part that an expression must not have. */
export interface Flaw {
  readonly message: string;
  readonly in: Expression;
}

/** The functions that may be called, and the names that are bound around an expression: flaws are found by them. */
interface Scope {
  readonly functions: Functions;
  readonly names: readonly string[];
}

/** The largest size of a regular expression: more takes long to compile, seconds at a million. */
const MAX_REGEX_SIZE = 2000;

const INT64_LIMIT = 2n ** 63n;

/** The planner of the library deals with these itself. */
const BUILT_IN: readonly string[] = ["_&&_", "_||_", "_?_:_", "_[_]", "@not_strictly_false"];

const first = <A, B>(all: Iterable<A>, find: (one: A) => B | undefined): B | undefined => {
  for (const one of all) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
};

const constantFlaw = ({ constantKind }: Kind<"constExpr">): string | undefined => {
  if (constantKind.case === "bytesValue") return "bytes are not supported";
  if (constantKind.case !== "int64Value") return undefined;
  const isInt64 = constantKind.value >= -INT64_LIMIT && constantKind.value < INT64_LIMIT;
  return isInt64 ? undefined : "an int has 64 bits";
};

const callFlaw = (call: Kind<"callExpr">, { functions }: Scope): string | undefined => {
  if (BUILT_IN.includes(call.function)) return undefined;
  const named = functions.get(call.function);
  if (call.function === "has") return "has takes a field, as in has(self.status.phase)";
  if (named === undefined) return `the function ${call.function} is not supported, or not with this`;
  const isMethod = call.target !== undefined;
  const fits = named.some(
    (one) => (one.target !== undefined) === isMethod && one.arguments.length === call.args.length,
  );
  if (!fits) return `the function ${call.function} is not called like this`;
  if (call.function !== "matches") return undefined;

  const [pattern] = call.args;
  if (pattern?.exprKind.case !== "constExpr" || pattern.exprKind.value.constantKind.case !== "stringValue")
    return "matches takes a regular expression in quotes, so that it can be checked now";
  if (foldsWideClass(pattern.exprKind.value.constantKind.value))
    return "a regular expression that ignores case cannot have classes beyond ASCII: name both cases";
  if (regexSize(pattern.exprKind.value.constantKind.value) > MAX_REGEX_SIZE)
    return `not a regular expression of at most ${MAX_REGEX_SIZE} states: repeat less, as with {100}`;
  const tried = named[0]?.call(0, "", [pattern.exprKind.value.constantKind.value]);
  return isCelError(tried) ? `not a regular expression of RE2: ${tried.message}` : undefined;
};

const loopFlaw = (loop: Kind<"comprehensionExpr">, scope: Scope): Flaw | undefined => {
  const after = { ...scope, names: [...scope.names, loop.accuVar] };
  const within = { ...scope, names: [...after.names, loop.iterVar] };
  return (
    findFlaw(loop.iterRange, scope) ??
    findFlaw(loop.accuInit, scope) ??
    findFlaw(loop.loopCondition, within) ??
    findFlaw(loop.loopStep, within) ??
    findFlaw(loop.result, after)
  );
};

const findFlaw = (expression: Expression | undefined, scope: Scope): Flaw | undefined => {
  if (expression === undefined) return undefined;
  const { exprKind } = expression;
  const flaw = (message: string | undefined): Flaw | undefined =>
    message === undefined ? undefined : { message, in: expression };
  const inAny = (parts: Iterable<Expression | undefined>) => first(parts, (part) => findFlaw(part, scope));
  switch (exprKind.case) {
    case "constExpr":
      return flaw(constantFlaw(exprKind.value));
    case "identExpr":
      return flaw(
        scope.names.includes(exprKind.value.name)
          ? undefined
          : `${exprKind.value.name} is not known: the object is self`,
      );
    case "selectExpr":
      return findFlaw(exprKind.value.operand, scope);
    case "callExpr":
      return inAny([exprKind.value.target, ...exprKind.value.args]) ?? flaw(callFlaw(exprKind.value, scope));
    case "listExpr":
      return inAny(exprKind.value.elements);
    case "structExpr":
      if (exprKind.value.messageName !== "") return flaw("messages are not supported");
      return first(exprKind.value.entries, ({ keyKind, value }) =>
        inAny([keyKind.case === "mapKey" ? keyKind.value : undefined, value]),
      );
    case "comprehensionExpr":
      return loopFlaw(exprKind.value, scope);
    case undefined:
      return flaw("an expression is missing");
  }
};

/** Whether it can be true or false, as far as that can be seen without an object. */
const canBeBoolean = ({ exprKind }: Expression, functions: Functions): boolean => {
  switch (exprKind.case) {
    case "constExpr":
      return exprKind.value.constantKind.case === "boolValue";
    case "listExpr":
    case "structExpr":
      return false;
    case "comprehensionExpr":
      return exprKind.value.accuInit?.exprKind.case !== "listExpr";
    case "callExpr": {
      const named = functions.get(exprKind.value.function);
      if (exprKind.value.function === "_?_:_")
        return exprKind.value.args.slice(1).some((branch) => canBeBoolean(branch, functions));
      return named === undefined || named.some(({ result }) => result.name === "bool");
    }
    case "identExpr":
    case "selectExpr":
    case undefined:
      return true;
  }
};

/** The first thing in an expression over `self` that cannot be evaluated with these functions, or to no use. */
export const flawOf = (expression: Expression, functions: Functions): Flaw | undefined =>
  findFlaw(expression, { functions, names: ["self"] }) ??
  (canBeBoolean(expression, functions) ? undefined : { message: "this is never true or false", in: expression });

/** A part of an expression that has parts itself. */
export const isTree = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/** Gives back what a part gives, and pays for it, and so many steps more. */
const paying = (part: unknown, steps = 0) => ({
  $typeName: "cel.expr.Expr",
  id: 0n,
  exprKind: {
    case: "callExpr",
    value: {
      $typeName: "cel.expr.Expr.Call",
      function: STEP,
      args: [
        part,
        {
          $typeName: "cel.expr.Expr",
          id: 0n,
          exprKind: {
            case: "constExpr",
            value: {
              $typeName: "cel.expr.Constant",
              constantKind: { case: "doubleValue", value: steps },
            },
          },
        },
      ],
    },
  },
});

const LOGICAL: readonly string[] = ["_&&_", "_||_", "_?_:_"];

/** The cost of an operator, a field, a literal or an item of one, also where it makes an error. */
const PART = 1;

/** The cost of a call that passes on an error: the function, which would pay, is not called. */
const PASSED_ON = 0.05;

/**
 * The most that evaluating an expression once costs, apart from the functions that it calls and from the rounds of its loops,
 * which pay themselves.
 */
const stepsOf = (expression: Expression | undefined): number => {
  if (expression === undefined) return 0;
  const { exprKind } = expression;
  const ofAll = (parts: readonly (Expression | undefined)[]) => parts.reduce((sum, part) => sum + stepsOf(part), 0);
  switch (exprKind.case) {
    case "selectExpr":
      return PART + stepsOf(exprKind.value.operand);
    case "callExpr": {
      const { function: name, target, args } = exprKind.value;
      return (LOGICAL.includes(name) ? PART * (args.length - 1) : PASSED_ON) + ofAll([target, ...args]);
    }
    case "listExpr":
      return PART * (1 + exprKind.value.elements.length) + ofAll(exprKind.value.elements);
    case "structExpr": {
      const parts = exprKind.value.entries.flatMap(({ keyKind, value }) => [
        keyKind.case === "mapKey" ? keyKind.value : undefined,
        value,
      ]);
      return PART * (1 + parts.length) + ofAll(parts);
    }
    case "comprehensionExpr": {
      const { iterRange, accuInit, result } = exprKind.value;
      return ofAll([iterRange, accuInit, result]);
    }
    case "constExpr":
    case "identExpr":
    case undefined:
      return 0;
  }
};

type Loop = Kind<"comprehensionExpr">;

const isLoop = (value: object): value is Loop => "loopStep" in value;

const rewritten = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(rewritten);
  if (!isTree(value)) return value;
  const parts = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, rewritten(part)]));
  if (isLoop(value)) {
    const steps = stepsOf(value.loopCondition) + stepsOf(value.loopStep);
    // The condition of a loop is never an error, so that each round pays.
    return { ...parts, iterRange: paying(parts["iterRange"]), loopCondition: paying(parts["loopCondition"], steps) };
  }
  const { args } = parts;
  return parts["function"] === "_[_]" && Array.isArray(args)
    ? { ...parts, args: [paying(args[0]), ...args.slice(1)] }
    : parts;
};

/**
 * The same expression, in which each round of a loop pays for all that it evaluates, and so does what goes through a list or a map
 * without calling a function: the beginning of a loop, and an index. What is in no loop is evaluated once, and costs no more than
 * reading it did.
 */
export const withSteps = (expression: Expression): Expression => rewritten(expression) as Expression;
