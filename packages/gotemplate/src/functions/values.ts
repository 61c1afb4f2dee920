// The functions of sprig for defaults, types and JSON.
import { toJson } from "../format/json.ts";
import { Failure } from "../template-error.ts";
import { isDeepEqual } from "../value/compare.ts";
import { isTrue } from "../value/truth.ts";
import { nameOfType, type Type } from "../value/type.ts";
import { NIL, ofBool, ofString, typeOf, type Value } from "../value/value.ts";
import { textOf } from "../value/bytes.ts";
import { type FunctionTable, text } from "./go-function.ts";

const typeName = (value: Value): string => {
  const type = value.is === "nil" ? undefined : typeOf(value);
  return type === undefined ? "<nil>" : nameOfType(type);
};

const KINDS: Readonly<Record<string, string>> = { any: "invalid", time: "struct", pointer: "ptr", semver: "struct" };
const kindName = (value: Value): string => {
  const type: Type | undefined = typeOf(value);
  return type === undefined ? "invalid" : (KINDS[type.kind] ?? type.kind);
};

export const VALUES: FunctionTable = {
  default: {
    parameters: ["any"],
    rest: "any",
    taintedBy: "last",
    call: ([fallback = NIL, given]) => (given === undefined || !isTrue(given) ? fallback : given),
  },
  empty: { parameters: ["any"], taintedBy: "all", call: ([value = NIL]) => ofBool(!isTrue(value)) },
  coalesce: { parameters: [], rest: "any", taintedBy: "all", call: (args) => args.find(isTrue) ?? NIL },
  ternary: {
    parameters: ["any", "any", "bool"],
    taintedBy: "last",
    call: ([yes = NIL, no = NIL, condition]) => (condition?.is === "bool" && condition.value ? yes : no),
  },
  toJson: { parameters: ["any"], call: ([value = NIL], context) => ofString(toJson(value, "", context) ?? "") },
  toPrettyJson: { parameters: ["any"], call: ([value = NIL], context) => ofString(toJson(value, "  ", context) ?? "") },
  typeOf: { parameters: ["any"], taintedBy: "all", call: ([value = NIL]) => ofString(typeName(value)) },
  typeIs: {
    parameters: ["string", "any"],
    taintedBy: "all",
    call: ([name, value = NIL]) => ofBool(text(name) === typeName(value)),
  },
  typeIsLike: {
    parameters: ["string", "any"],
    taintedBy: "all",
    call: ([name, value = NIL]) => ofBool([text(name), `*${text(name)}`].includes(typeName(value))),
  },
  kindOf: { parameters: ["any"], taintedBy: "all", call: ([value = NIL]) => ofString(kindName(value)) },
  kindIs: {
    parameters: ["string", "any"],
    taintedBy: "all",
    call: ([name, value = NIL]) => ofBool(text(name) === kindName(value)),
  },
  deepEqual: { parameters: ["any", "any"], call: ([a = NIL, b = NIL], { spend }) => ofBool(isDeepEqual(a, b, spend)) },
  fail: {
    parameters: ["string"],
    call: ([message]) => {
      throw new Failure(textOf(text(message)));
    },
  },
};
