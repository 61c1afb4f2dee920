// Finds the fields of self that a CEL expression reads, for messages.
import { cut } from "@janus/api";
import { isObject, member } from "@janus/types";
import { type Expression, isTree } from "./cel-expression.ts";
import { print } from "./print.ts";

/** A field of `self`, by the names and indices that lead to it. */
type Path = readonly (string | number)[];

/** The most fields in a message: more make it longer, not clearer. */
const MOST_FIELDS = 4;
const MOST_QUOTED = 64;

const keyOf = ({ exprKind }: Expression): string | number | undefined => {
  if (exprKind.case !== "constExpr") return undefined;
  const { constantKind } = exprKind.value;
  if (constantKind.case === "stringValue") return constantKind.value;
  return constantKind.case === "int64Value" ? Number(constantKind.value) : undefined;
};

/** Undefined of anything but a field of `self`. */
const pathOf = ({ exprKind }: Expression): Path | undefined => {
  if (exprKind.case === "identExpr") return exprKind.value.name === "self" ? [] : undefined;
  if (exprKind.case === "selectExpr") {
    const { operand, field } = exprKind.value;
    const outer = operand === undefined ? undefined : pathOf(operand);
    return outer === undefined ? undefined : [...outer, field];
  }
  if (exprKind.case !== "callExpr" || exprKind.value.function !== "_[_]") return undefined;
  const [operand, index] = exprKind.value.args;
  const outer = operand === undefined ? undefined : pathOf(operand);
  const key = index === undefined ? undefined : keyOf(index);
  return outer === undefined || key === undefined ? undefined : [...outer, key];
};

const isExpression = (value: object): value is Expression => "exprKind" in value;

const pathsIn = (value: unknown): readonly Path[] => {
  if (Array.isArray(value)) return value.flatMap(pathsIn);
  if (!isTree(value)) return [];
  const path = isExpression(value) ? pathOf(value) : undefined;
  return path === undefined ? Object.values(value).flatMap(pathsIn) : path.length === 0 ? [] : [path];
};

/** A loop may call its items `self`. */
const isRenamed = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.some(isRenamed);
  return isTree(value) && (value["iterVar"] === "self" || Object.values(value).some(isRenamed));
};

const IDENTIFIER = /^[A-Za-z_]\w*$/u;

const show = (path: Path): string =>
  path.reduce<string>(
    (text, key) =>
      typeof key === "string" && IDENTIFIER.test(key) ? `${text}.${key}` : `${text}[${JSON.stringify(key)}]`,
    "self",
  );

const find = (path: Path, self: object): unknown =>
  path.reduce<unknown>((value, key) => {
    if (typeof key === "number") return Array.isArray(value) ? value[key] : undefined;
    return isObject(value) ? member(value, key) : undefined;
  }, self);

const describe = (value: unknown): string | undefined => {
  if (value === undefined) return "has no value";
  if (Array.isArray(value)) return value.length === 1 ? "has 1 item" : `has ${value.length} items`;
  if (isObject(value)) return undefined;
  const shown = cut(print(value), MOST_QUOTED);
  return `is ${typeof value === "string" ? JSON.stringify(shown) : shown}`;
};

/**
 * Describes the fields of `self` that an expression looks at, in its order: `self.status.phase is "Pending"`.
 *
 * Guarantees: short; quotes values of the object, so it must not be shown for a Secret.
 */
export const describeFields = (expression: Expression): ((self: object) => string) => {
  const paths = isRenamed(expression) ? [] : pathsIn(expression);
  const fields = [...new Map(paths.map((path) => [show(path), path] as const))];
  return (self) =>
    fields
      .flatMap(([name, path]) => {
        const said = describe(find(path, self));
        return said === undefined ? [] : [`${cut(name, MOST_QUOTED)} ${said}`];
      })
      .slice(0, MOST_FIELDS)
      .join(", ");
};
