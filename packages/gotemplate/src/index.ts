// Go's text/template with the functions of sprig: parsing, and rendering with marks of Secrets. Pure.
import type * as E from "fp-ts/lib/Either.js";
import type { Template } from "./ast.ts";
import { functions } from "./functions/index.ts";
import { parse } from "./parser.ts";

export type { Template } from "./ast.ts";
export { execute as renderTemplate, type Piece, type RenderError, type RenderOptions } from "./execute.ts";
export {
  bool,
  bytes,
  field,
  type Field,
  float,
  fromJson,
  int,
  list,
  map,
  NIL,
  struct,
  tainted,
  text,
  type Value,
} from "./value.ts";

/** Left: what is wrong, such as `template, line 3: unexpected "}" in operand`. */
export const parseTemplate = (source: string): E.Either<string, Template> =>
  parse(source, (name) => Object.hasOwn(functions, name));
