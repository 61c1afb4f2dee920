// Parses a template into its syntax tree, and refuses what Go's parser refuses.
import * as E from "fp-ts/lib/Either.js";
import type { Command, Node, Pipeline, Statement, Template } from "./ast.ts";
import { type Token, tokens, type TokenType } from "./lexer.ts";
import { unquoted } from "./quoted.ts";

/** Thrown within this file only: a parser reads easier with one way out. */
class Problem extends Error {}

const fail = (line: number, what: string): never => {
  throw new Problem(`template, line ${line}: ${what}`);
};

/** The depth of what is nested, which nobody writes. */
const DEEPEST = 200;

interface Ended {
  readonly statements: readonly Statement[];
  /** The keyword that has ended the list. */
  readonly by: "end" | "else" | "end of template";
  /** Of `else if` and `else with`: its keyword. */
  readonly chained?: string;
}

const integer = (text: string): number | undefined => {
  const digits = text.replaceAll("_", "");
  const [, sign = "", rest = ""] = /^([+-]?)(.*)$/u.exec(digits) ?? [];
  if (/^0[xXbBoO]/u.test(rest)) return Number(rest) * (sign === "-" ? -1 : 1);
  if (/^0[0-7]+$/u.test(rest)) return Number.parseInt(rest, 8) * (sign === "-" ? -1 : 1);
  return /^[0-9]+$/u.test(rest) ? Number(digits) : undefined;
};

const numberOf = ({ text, line }: Token): Node => {
  if (text.endsWith("i")) return fail(line, `complex numbers are not supported: ${text}`);
  const whole = integer(text);
  if (whole !== undefined && !Number.isNaN(whole)) return { type: "number", value: whole, isInteger: true };
  const value = Number(text.replaceAll("_", ""));
  return Number.isNaN(value) || text === ""
    ? fail(line, `not a number: ${text}`)
    : { type: "number", value, isInteger: false };
};

const charOf = ({ text, line }: Token): Node => {
  const value = unquoted(`"${text.slice(1, -1).replaceAll('"', String.raw`\"`).replaceAll(String.raw`\'`, "'")}"`);
  const [one, ...others] = Array.from(value ?? "");
  return one === undefined || others.length > 0
    ? fail(line, `malformed character constant: ${text}`)
    : { type: "number", value: one.codePointAt(0) ?? 0, isInteger: true };
};

const unexpected = ({ text, type, line }: Token, where: string): never =>
  fail(
    line,
    type === "end of template"
      ? `unexpected end of the template in ${where}`
      : `unexpected ${JSON.stringify(text)} in ${where}`,
  );

const checked = (commands: readonly Command[], line: number, where: string): readonly Command[] => {
  if (commands.length === 0) fail(line, `missing value for ${where}`);
  for (const [
    n,
    {
      args: [first],
    },
  ] of commands.entries())
    if (n > 0 && first !== undefined && ["boolean", "dot", "nil", "number", "string"].includes(first.type))
      fail(line, `non executable command in pipeline stage ${n + 1}`);
  return commands;
};

/** @param isFunction whether there is a function of this name */
export const parse = (source: string, isFunction: (name: string) => boolean): E.Either<string, Template> => {
  const lexed = tokens(source);
  if (E.isLeft(lexed)) return lexed;
  const all = lexed.right;
  const defined = new Map<string, readonly Statement[]>();
  let at = 0;
  let depth = 0;
  let variables: readonly string[] = ["$"];
  let loops = 0;

  const peek = (): Token => all[at] as Token;
  const next = (): Token => {
    const token = peek();
    at += 1;
    return token;
  };
  const peekNonSpace = (): Token => {
    while (peek().type === "space") at += 1;
    return peek();
  };
  const nextNonSpace = (): Token => {
    peekNonSpace();
    return next();
  };
  const expect = (type: TokenType, where: string): Token => {
    const token = nextNonSpace();
    return token.type === type ? token : unexpected(token, where);
  };
  const nested = <A>(line: number, read: () => A): A => {
    depth += 1;
    if (depth > DEEPEST) fail(line, `nested more than ${DEEPEST} deep`);
    const result = read();
    depth -= 1;
    return result;
  };

  const fields = (): readonly string[] => {
    const path: string[] = [];
    while (peek().type === "field") path.push(next().text.slice(1));
    return path;
  };

  const known = ({ text, line }: Token): string =>
    variables.includes(text) ? text : fail(line, `undefined variable "${text}"`);

  /** A value without the fields after it. Undefined: there is none here. */
  const term = (): Node | undefined => {
    const token = peekNonSpace();
    switch (token.type) {
      case "identifier":
        next();
        return isFunction(token.text)
          ? { type: "identifier", name: token.text }
          : fail(token.line, `function "${token.text}" not defined`);
      case "dot":
        next();
        return { type: "dot" };
      case "nil":
        next();
        return { type: "nil" };
      case "variable":
        next();
        return { type: "variable", name: known(token), path: [] };
      case "field":
        next();
        return { type: "field", path: [token.text.slice(1)] };
      case "boolean":
        next();
        return { type: "boolean", value: token.text === "true" };
      case "number":
        next();
        return numberOf(token);
      case "char":
        next();
        return charOf(token);
      case "string": {
        next();
        const value = unquoted(token.text);
        return value === undefined ? fail(token.line, `malformed string ${token.text}`) : { type: "string", value };
      }
      case "(": {
        next();
        const inner = nested(token.line, () => pipeline("parenthesis", ")"));
        return { type: "pipeline", pipeline: inner };
      }
      default:
        return undefined;
    }
  };

  const operand = (): Node | undefined => {
    const node = term();
    if (node === undefined || peek().type !== "field") return node;
    const { line } = peek();
    const path = fields();
    switch (node.type) {
      case "field":
        return { type: "field", path: [...node.path, ...path] };
      case "variable":
        return { ...node, path };
      case "boolean":
      case "string":
      case "number":
      case "nil":
      case "dot":
        return fail(line, `unexpected .${path[0]} after a constant`);
      default:
        return { type: "chain", of: node, path };
    }
  };

  const command = (): Command => {
    const args: Node[] = [];
    const start = peekNonSpace().at;
    for (;;) {
      peekNonSpace();
      const node = operand();
      if (node !== undefined) args.push(node);
      const token = peek();
      if (token.type === "space") {
        next();
        continue;
      }
      if (token.type === "pipe") {
        next();
        break;
      }
      if (token.type === "right" || token.type === ")") break;
      unexpected(token, "operand");
    }
    const { line, at: end } = peek();
    if (args.length === 0) fail(line, "empty command");
    return { args, text: source.slice(start, all[at - 1]?.type === "pipe" ? all[at - 1]?.at : end).trim() };
  };

  const pipeline = (where: string, end: ")" | "right"): Pipeline => {
    const { line, at: start } = peekNonSpace();
    const declared: string[] = [];
    let isAssignment = false;
    const first = peekNonSpace();
    if (first.type === "variable") {
      const from = at;
      next();
      const after = peekNonSpace();
      if (after.type === "=" || after.type === ":=") {
        next();
        isAssignment = after.type === "=";
        declared.push(isAssignment ? known(first) : first.text);
        if (!isAssignment) variables = [...variables, first.text];
      } else if (after.type === "," && where === "range") {
        next();
        const second = expect("variable", "range");
        const sign = nextNonSpace();
        if (sign.type !== "=" && sign.type !== ":=") fail(sign.line, "range can only initialize variables");
        isAssignment = sign.type === "=";
        declared.push(...[first, second].map((one) => (isAssignment ? known(one) : one.text)));
        if (!isAssignment) variables = [...variables, first.text, second.text];
      } else if (after.type === ",") fail(after.line, `too many declarations in ${where}`);
      else at = from;
    }
    const commands: Command[] = [];
    for (;;) {
      const token = peekNonSpace();
      if (token.type === end) {
        const { at: stop } = next();
        return {
          declared,
          isAssignment,
          commands: checked(commands, line, where),
          line,
          text: source.slice(start, stop).trim(),
        };
      }
      if (
        token.type === "right" ||
        token.type === ")" ||
        token.type === "pipe" ||
        token.type === "end of template" ||
        token.type === "keyword" ||
        token.type === "," ||
        token.type === "=" ||
        token.type === ":="
      )
        unexpected(token, where);
      commands.push(command());
      // After a pipe there must be another command.
      if (all[at - 1]?.type === "pipe" && peekNonSpace().type === end) fail(line, `missing value for ${where}`);
    }
  };

  /** Variables that are declared within are unknown after it. */
  const scoped = <A>(read: () => A): A => {
    const before = variables;
    const result = read();
    variables = before;
    return result;
  };

  const branch = (type: "if" | "with" | "range", line: number): Statement =>
    nested(line, () =>
      scoped(() => {
        const condition = pipeline(type, "right");
        if (type === "range") loops += 1;
        const body = list();
        if (type === "range") loops -= 1;
        if (body.by === "end of template") fail(line, `${type} is not closed`);
        let otherwise: readonly Statement[] = [];
        if (body.chained !== undefined && (type === "if" || type === "with") && body.chained === type)
          otherwise = [branch(type, line)];
        else if (body.chained !== undefined) fail(line, `unexpected else ${body.chained} in ${type}`);
        else if (body.by === "else") {
          const rest = list();
          if (rest.by === "end of template") fail(line, `${type} is not closed`);
          if (rest.by !== "end") fail(line, "expected end; found {{else}}");
          otherwise = rest.statements;
        }
        return { type, pipeline: condition, body: body.statements, otherwise };
      }),
    );

  const named = (where: string): string => {
    const { text, line } = expect("string", where);
    return unquoted(text) ?? fail(line, `malformed string ${text}`);
  };

  const define = (line: number, name: string, isBlock: boolean): void => {
    const outer = [variables, loops] as const;
    [variables, loops] = [["$"], 0];
    const { statements, by } = list();
    [variables, loops] = outer;
    if (by !== "end")
      fail(
        line,
        `unexpected ${by === "else" ? "{{else}}" : "end of the template"} in ${isBlock ? "block" : "define"} clause`,
      );
    const isEmpty = statements.every((one) => one.type === "text" && one.text.trim() === "");
    const former = defined.get(name);
    if (former !== undefined && former.length > 0 && !isEmpty) fail(line, `multiple definition of template "${name}"`);
    if (former === undefined || !isEmpty) defined.set(name, isEmpty && former === undefined ? statements : statements);
  };

  const statement = (keyword: Token, top: boolean): Statement | undefined => {
    const { line } = keyword;
    switch (keyword.text) {
      case "if":
      case "with":
      case "range":
        return branch(keyword.text, line);
      case "break":
      case "continue":
        expect("right", keyword.text);
        return loops === 0 ? fail(line, `{{${keyword.text}}} outside {{range}}`) : { type: keyword.text };
      case "template": {
        const name = named("template clause");
        if (peekNonSpace().type === "right") {
          next();
          return { type: "template", name, pipeline: undefined, line };
        }
        return { type: "template", name, pipeline: pipeline("template clause", "right"), line };
      }
      case "block": {
        const name = named("block clause");
        const data = pipeline("block clause", "right");
        nested(line, () => define(line, name, true));
        return { type: "template", name, pipeline: data, line };
      }
      case "define": {
        if (!top) return unexpected(keyword, "command");
        const name = named("define clause");
        expect("right", "define clause");
        define(line, name, false);
        return undefined;
      }
      default:
        return unexpected(keyword, "command");
    }
  };

  /** Statements until what ends them. */
  const list = (top = false): Ended => {
    const statements: Statement[] = [];
    for (;;) {
      const token = next();
      if (token.type === "end of template") {
        at -= 1;
        return { statements, by: "end of template" };
      }
      if (token.type === "text") {
        statements.push({ type: "text", text: token.text });
        continue;
      }
      const first = peekNonSpace();
      if (first.type !== "keyword") {
        statements.push({ type: "action", pipeline: pipeline("command", "right") });
        continue;
      }
      next();
      if (first.text === "end") {
        expect("right", "end");
        return { statements, by: "end" };
      }
      if (first.text === "else") {
        const chained = peekNonSpace();
        if (chained.type === "keyword" && (chained.text === "if" || chained.text === "with")) {
          next();
          return { statements, by: "else", chained: chained.text };
        }
        expect("right", "else");
        return { statements, by: "else" };
      }
      const read = statement(first, top);
      if (read !== undefined) statements.push(read);
    }
  };

  return E.tryCatch(
    () => {
      const { statements, by } = list(true);
      if (by !== "end of template") fail(peek().line, `unexpected {{${by}}}`);
      return { body: statements, defined };
    },
    (error) => {
      if (error instanceof Problem) return error.message;
      throw error;
    },
  );
};
