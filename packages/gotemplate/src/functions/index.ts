// All functions of templates by name: those of Go, and those of sprig, which hide Go's of the same name.
import { builtins } from "./builtins.ts";
import { collections } from "./collections.ts";
import { dates } from "./dates.ts";
import { encodings } from "./encodings.ts";
import type { FunctionTable } from "./function.ts";
import { numbers } from "./numbers.ts";
import { regularExpressions } from "./regular-expressions.ts";
import { strings } from "./strings.ts";

export { type FunctionContext, isLazy } from "./function.ts";

export const functions: FunctionTable = {
  ...builtins,
  ...strings,
  ...numbers,
  ...collections,
  ...dates,
  ...encodings,
  ...regularExpressions,
};
