// Renders templates.
import * as E from "fp-ts/lib/Either.js";
import { LIMITS, type Limits } from "./execute/context.ts";
import { execute, type Piece } from "./execute/execute.ts";
import type { MissingKey } from "./execute/fields.ts";
import { type Dialect, functionsOf } from "./functions/table.ts";
import type { Template } from "./parse/node.ts";
import { lineOf } from "./parse/parser.ts";
import { Failure, type TemplateError } from "./template-error.ts";
import { completeLength, textOf } from "./value/bytes.ts";
import type { Value } from "./value/value.ts";

/** Neighbours differ in whether they are tainted; no text is empty. */
export type Rendered = readonly { readonly text: string; readonly isTainted: boolean }[];

export interface RenderOptions {
  /** What is done where a map has no such key: an error, the zero value of its elements, or (as Go does) no value. */
  readonly missingKey?: MissingKey;
  readonly now: Date;
  /** So many random bytes. */
  readonly random: (count: number) => Uint8Array;
  readonly limits?: Partial<Limits>;
  /** That it was parsed with. Default: sprig. */
  readonly dialect?: Dialect;
}

/** Characters that were cut in two between pieces belong to the tainted one. */
const withWholeCharacters = (pieces: readonly Piece[]): readonly Piece[] => {
  const whole = pieces.map((piece) => ({ ...piece }));
  whole.forEach((piece, n) => {
    if (piece.isTainted) return;
    const [before, after] = [whole[n - 1], whole[n + 1]];
    if (before !== undefined) {
      const rest = piece.text.replace(/^[\u0080-\u00bf]+/u, "");
      before.text += piece.text.slice(0, piece.text.length - rest.length);
      piece.text = rest;
    }
    if (after !== undefined) {
      const end = completeLength(piece.text);
      after.text = piece.text.slice(end) + after.text;
      piece.text = piece.text.slice(0, end);
    }
  });
  return whole.filter(({ text }) => text !== "");
};

/**
 * Applies a template to data.
 *
 * Guarantees: never throws, ends within the limits, and leaves the data as they are; the same arguments give the same result.
 *             Of two sets of data that differ only in tainted values, all text that is not tainted is the same, taken together, if
 *             both can be rendered. How many tainted pieces there are, and whether there is an error, may depend on tainted values.
 */
export const renderTemplate = (
  template: Template,
  data: Value,
  options: RenderOptions,
): E.Either<TemplateError, Rendered> => {
  try {
    const limits = { ...LIMITS, ...options.limits };
    const pieces = execute(template, functionsOf(options.dialect ?? "sprig"), data, {
      ...options,
      missingKey: options.missingKey ?? "default",
      limits,
    });
    return E.right(withWholeCharacters(pieces).map(({ text, isTainted }) => ({ text: textOf(text), isTainted })));
  } catch (error) {
    // Go's stacks grow, ours do not.
    const failure = error instanceof RangeError ? new Failure("it is nested too deep", { isTainted: true }) : error;
    if (!(failure instanceof Failure)) throw error;
    const { key, action, isTainted, message } = failure;
    const line = lineOf(template.text, failure.position ?? 0);
    const expression = action === undefined ? undefined : textOf(template.text.slice(...action));
    return E.left({
      message: key === undefined ? `template, line ${line}: ${message}` : `${message}: ${expression}`,
      line,
      isTainted,
      ...(key === undefined ? {} : { key }),
      ...(expression === undefined ? {} : { expression }),
    });
  }
};

/** All of it, tainted or not. */
export const textOfRendered = (rendered: Rendered): string => rendered.map(({ text }) => text).join("");
