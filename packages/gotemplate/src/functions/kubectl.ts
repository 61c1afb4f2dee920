// The functions that kubectl has for its output formats go-template and go-template-file, beside those of Go.
import * as E from "fp-ts/lib/Either.js";
import { fail } from "../template-error.ts";
import { itemsOf, NIL, ofBool, ofString, type Value } from "../value/value.ts";
import { decodeBase64 } from "./encodings.ts";
import { type FunctionTable, text } from "./go-function.ts";

/** What is at an index; nothing where there is none, whatever the value is. */
const at = (value: Value, index: Value): Value => {
  if (value.is === "map") {
    const isKey = index.is === "string" || index.is === "nil" || index.is === "none";
    return isKey ? (value.entries?.map.get(text(index)) ?? NIL) : NIL;
  }
  const items = value.is === "string" ? [...value.value].map(ofString) : (itemsOf(value) ?? []);
  return index.is === "int" ? (items[Number(index.value)] ?? NIL) : NIL;
};

/** Source: https://pkg.go.dev/k8s.io/cli-runtime/pkg/printers#NewGoTemplatePrinter */
export const KUBECTL: FunctionTable = {
  // Whether `index` would find something other than nil, where that would be an error, too.
  exists: {
    parameters: ["any"],
    rest: "any",
    taintedBy: "deep",
    call: ([item = NIL, ...indexes]) => {
      const found = indexes.reduce(at, item);
      // Without an index nothing is looked for.
      return ofBool(indexes.length === 0 || (found.is !== "nil" && found.is !== "none"));
    },
  },
  base64decode: {
    parameters: ["string"],
    call: ([encoded]) => {
      const decoded = decodeBase64(text(encoded));
      return E.isRight(decoded) ? ofString(decoded.right) : fail(`base64 decode failed: ${decoded.left}`);
    },
  },
};
