// Parses templates.
import * as E from "fp-ts/lib/Either.js";
import { type Dialect, functionsOf, refusal } from "./functions/table.ts";
import type { FunctionTable } from "./functions/go-function.ts";
import type { Template } from "./parse/node.ts";
import { type Lookup, lineOf, parse } from "./parse/parser.ts";
import { Failure, type TemplateError } from "./template-error.ts";
import { bytesOf } from "./value/bytes.ts";

const lookupIn =
  (functions: FunctionTable): Lookup =>
  (name) => {
    const fn = functions[name];
    if (fn !== undefined) return fn.changesMaps === true ? "changes maps" : "known";
    const refused = refusal(name);
    return refused === undefined ? undefined : { refused };
  };

/** Finds all that is wrong with a template before it is used, functions that do not exist included. Never throws. */
export const parseTemplate = (text: string, dialect: Dialect = "sprig"): E.Either<TemplateError, Template> => {
  try {
    return E.right(parse(text, lookupIn(functionsOf(dialect))));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const line = lineOf(bytesOf(text), error.position ?? 0);
    return E.left({ message: `template, line ${line}: ${error.message}`, line, isTainted: false });
  }
};
