// Checks the arguments of a call against the types that the function asks for, as Go does.
import type { Operand } from "../parse/node.ts";
import type { Parameter } from "../functions/go-function.ts";
import { fail } from "../template-error.ts";
import { ANY, BOOL, FLOAT64, INT, isSameType, mapOf, nameOfType, STRING, TIME, type Type } from "../value/type.ts";
import { NIL, NONE, ofBool, ofFloat, ofInt, ofString, typeOf, type Value, zeroOf } from "../value/value.ts";

const TYPES: Readonly<Record<Exclude<Parameter, "any" | "value">, Type>> = {
  string: STRING,
  int: INT,
  float64: FLOAT64,
  bool: BOOL,
  map: mapOf(ANY),
  time: TIME,
};

/** A value that was computed, as an argument. */
export const asArgument = (value: Value, parameter: Parameter): Value => {
  if (parameter === "value") return value;
  if (parameter === "any") return value.is === "none" ? (value.isTainted ? { ...NIL, isTainted: true } : NIL) : value;
  const type = TYPES[parameter];
  const own = typeOf(value);
  if (own === undefined)
    return parameter === "map" ? zeroOf(type) : fail(`a value is missing where ${nameOfType(type)} is expected`);
  if (value.is !== "nil" && isSameType(own, type)) return value;
  if (value.is === "pointer" && isSameType(value.type.element, type))
    return value.to ?? fail(`nil where ${nameOfType(type)} is expected`);
  return fail(`wrong type for value: expected ${nameOfType(type)}, got ${nameOfType(own)}`);
};

/** A literal as an argument; nothing for what is none. */
export const literalArgument = (operand: Operand, parameter: Parameter): Value | undefined => {
  const isFree = parameter === "any" || parameter === "value";
  switch (operand.node) {
    case "nil":
      if (isFree) return parameter === "any" ? NIL : NONE;
      return parameter === "map" ? zeroOf(TYPES.map) : fail(`cannot use nil as ${nameOfType(TYPES[parameter])}`);
    case "bool":
      if (isFree || parameter === "bool") return ofBool(operand.value);
      break;
    case "string":
      if (isFree || parameter === "string") return ofString(operand.value);
      break;
    case "number":
      if (isFree) {
        if (operand.isFloat) return ofFloat(operand.float ?? 0);
        return operand.int === undefined ? fail(`${operand.text} overflows int`) : ofInt(operand.int);
      }
      if (parameter === "int" && operand.int !== undefined) return ofInt(operand.int);
      if (parameter === "float64" && operand.float !== undefined) return ofFloat(operand.float);
      break;
    case "chain":
    case "dot":
    case "field":
    case "function":
    case "pipe":
    case "variable":
    default:
      return undefined;
  }
  return fail(
    `expected ${nameOfType(TYPES[parameter])}, found ${operand.node === "number" ? operand.text : `a ${operand.node}`}`,
  );
};
