// The functions of sprig for regular expressions.
import { compileRegexp, findAll, findMatch, type Match, type Regexp } from "../regexp/program.ts";
import { Failure } from "../template-error.ts";
import { STRING } from "../value/type.ts";
import { ofBool, ofList, ofString } from "../value/value.ts";
import type { Context } from "../execute/context.ts";
import { count, type FunctionTable, text } from "./go-function.ts";
import { ofStrings } from "./strings.ts";

const group = (source: string, match: Match, index: number): string => {
  const [from = -1, to = -1] = match.slice(index * 2, index * 2 + 2);
  return from < 0 ? "" : source.slice(from, to);
};

/** What $1, ${1} and ${name} stand for. */
const expanded = (template: string, source: string, match: Match, { names }: Regexp): string =>
  template.replaceAll(
    /\$(?:(\$)|\{(\w+)\}|(\w+))/gu,
    (_, dollar: string | undefined, braced: string | undefined, bare: string | undefined) => {
      if (dollar !== undefined) return "$";
      const name = braced ?? bare ?? "";
      if (/^[0-9]+$/u.test(name) && (name === "0" || !name.startsWith("0")))
        return Number(name) < names.length ? group(source, match, Number(name)) : "";
      const index = names.indexOf(name);
      return index > 0 ? group(source, match, index) : "";
    },
  );

const replaced = (regexp: Regexp, source: string, context: Context, by: (match: Match) => string): string => {
  let out = "";
  let last = 0;
  for (let at = 0; at <= source.length; ) {
    const match = findMatch(regexp, source, at, context.spend);
    if (match === undefined) break;
    const [start = 0, end = 0] = match;
    out += source.slice(last, start);
    // No empty match right behind another one.
    if (end > last || start === 0) out += by(match);
    context.claim(out.length);
    last = end;
    const { size } = { size: sizeAt(source, at) };
    if (at + size > end) at += size;
    else if (at + 1 > end) at++;
    else at = end;
  }
  return out + source.slice(last);
};
const sizeAt = (source: string, at: number): number => {
  const first = source.charCodeAt(at);
  if (!(first >= 0xc2)) return at < source.length ? 1 : 0;
  return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
};

const split = (
  pattern: string,
  regexp: Regexp,
  source: string,
  most: number,
  context: Context,
): readonly string[] | undefined => {
  if (most === 0) return undefined;
  if (pattern !== "" && source === "") return [""];
  const parts: string[] = [];
  let begin = 0;
  let end = 0;
  for (const match of findAll(regexp, source, most, context.spend)) {
    if (most > 0 && parts.length === most - 1) break;
    end = match[0] ?? 0;
    if (match[1] !== 0) parts.push(source.slice(begin, end));
    begin = match[1] ?? 0;
  }
  if (end !== source.length) parts.push(source.slice(begin));
  return parts;
};

export const REGULAR_EXPRESSIONS: FunctionTable = {
  regexMatch: {
    parameters: ["string", "string"],
    call: ([pattern, source], { spend }) => {
      try {
        return ofBool(findMatch(compileRegexp(text(pattern)), text(source), 0, spend) !== undefined);
      } catch (error) {
        // sprig ignores what is wrong with the expression.
        if (error instanceof Failure && error.message.startsWith("regular expression ")) return ofBool(false);
        throw error;
      }
    },
  },
  regexFindAll: {
    parameters: ["string", "string", "int"],
    call: ([pattern, source, most], { spend }) => {
      const found = findAll(compileRegexp(text(pattern)), text(source), count(most), spend);
      return found.length === 0
        ? ofList(undefined, STRING)
        : ofStrings(found.map((match) => group(text(source), match, 0)));
    },
  },
  regexFind: {
    parameters: ["string", "string"],
    call: ([pattern, source], { spend }) =>
      ofString(group(text(source), findMatch(compileRegexp(text(pattern)), text(source), 0, spend) ?? [-1, -1], 0)),
  },
  regexReplaceAll: {
    parameters: ["string", "string", "string"],
    call: ([pattern, source, by], context) => {
      const regexp = compileRegexp(text(pattern));
      return ofString(
        replaced(regexp, text(source), context, (match) => expanded(text(by), text(source), match, regexp)),
      );
    },
  },
  regexReplaceAllLiteral: {
    parameters: ["string", "string", "string"],
    call: ([pattern, source, by], context) =>
      ofString(replaced(compileRegexp(text(pattern)), text(source), context, () => text(by))),
  },
  regexSplit: {
    parameters: ["string", "string", "int"],
    call: ([pattern, source, most], context) => {
      const parts = split(text(pattern), compileRegexp(text(pattern)), text(source), count(most), context);
      return parts === undefined ? ofList(undefined, STRING) : ofStrings(parts);
    },
  },
};
