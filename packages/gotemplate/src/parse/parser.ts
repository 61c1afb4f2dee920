// Parses a template, with all the errors that Go's text/template finds before it is used.
import { Failure } from "../template-error.ts";
import { bytesOf, textOf } from "../value/bytes.ts";
import type { Branch, Command, Operand, Pipe, Statement, Template } from "./node.ts";
import { type Token, type TokenType, tokensOf } from "./lexer.ts";
import { readNumber } from "./number.ts";
import { unquote } from "./unquote.ts";

/** What a function of this name is: there, refused with this sentence, or unknown. */
export type Lookup = (name: string) => "known" | "changes maps" | { readonly refused: string } | undefined;

/** So deep may parentheses and blocks be nested: Go allows more, nobody writes it. */
const DEPTH = 200;

const STARTS_OPERAND = new Set<TokenType>([
  "bool",
  "character constant",
  "dot",
  "field",
  "identifier",
  "number",
  "raw string",
  "string",
  "variable",
  "left parenthesis",
]);
const NOT_EXECUTABLE = new Set(["bool", "dot", "nil", "number", "string"]);

const shown = (token: Token): string =>
  token.type === "end of text"
    ? "end of the template"
    : token.type === "text"
      ? "text"
      : `"${textOf(token.value).slice(0, 30)}"`;

const isBlank = (list: readonly Statement[]): boolean =>
  list.every((one) => one.node === "text" && one.text.trim() === "");

interface End {
  readonly end: "end" | "else" | "else if" | "else with";
}
const isEnd = (one: Statement | End): one is End => "end" in one;

const leavesLoop = (list: readonly Statement[]): boolean =>
  list.some(
    (one) =>
      one.node === "break" ||
      one.node === "continue" ||
      ((one.node === "if" || one.node === "with" || one.node === "range") && one.leaves),
  );

const failAt = (position: number, message: string): never => {
  throw new Failure(message, { position });
};

const isKeyword = (token: Token, word: string): boolean => token.type === "keyword" && token.value === word;

const placed = <A>(at: number, read: () => A): A => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Failure) error.position ??= at;
    throw error;
  }
};

const unexpected = (token: Token, context: string): never =>
  failAt(token.at, token.type === "error" ? token.value : `unexpected ${shown(token)} in ${context}`);

/** Throws a Failure. */
export const parse = (source: string, lookup: Lookup): Template => {
  const input = bytesOf(source);
  const tokens = tokensOf(input);
  const defined = new Map<string, readonly Statement[]>();
  let next = 0;
  let variables: string[] = ["$"];
  let ranges = 0;
  let depth = 0;
  let actionAt = 0;
  let changesMaps = false;
  /** Variables that are assigned to, anywhere, as they come. */
  const assignments: string[] = [];

  const peekRaw = (): Token => tokens[Math.min(next, tokens.length - 1)] as Token;
  const takeRaw = (): Token => {
    const token = peekRaw();
    next++;
    return token;
  };
  const skipSpace = (): void => {
    while (peekRaw().type === "space") next++;
  };
  const peek = (): Token => {
    skipSpace();
    return peekRaw();
  };
  const take = (): Token => {
    skipSpace();
    return takeRaw();
  };
  const expect = (type: TokenType, context: string): Token => {
    const token = take();
    return token.type === type ? token : unexpected(token, context);
  };
  const deeper = <A>(at: number, read: () => A): A => {
    if (++depth > DEPTH) failAt(at, `nested deeper than ${DEPTH}`);
    const result = read();
    depth--;
    return result;
  };

  const identifier = ({ value: name, at }: Token): Operand => {
    const found = lookup(name);
    if (found === undefined) return failAt(at, `function "${textOf(name)}" not defined`);
    if (typeof found === "object") return failAt(at, found.refused);
    if (found === "changes maps") changesMaps = true;
    return { node: "function", name, at };
  };
  const variable = ({ value: name, at }: Token): Operand =>
    variables.includes(name)
      ? { node: "variable", name, names: [], at }
      : failAt(at, `undefined variable "${textOf(name)}"`);

  const term = (): Operand | undefined => {
    const token = peek();
    const { at } = token;
    if (isKeyword(token, "nil")) {
      take();
      return { node: "nil", at };
    }
    if (!STARTS_OPERAND.has(token.type)) return undefined;
    take();
    switch (token.type) {
      case "identifier":
        return identifier(token);
      case "dot":
        return { node: "dot", at };
      case "variable":
        return variable(token);
      case "field":
        return { node: "field", names: [token.value.slice(1)], at };
      case "bool":
        return { node: "bool", value: token.value === "true", at };
      case "character constant":
      case "number":
        return placed(at, () => readNumber(token.value, at));
      case "left parenthesis":
        return deeper(at, () => pipeline("parenthesized pipeline", "right parenthesis"));
      case "assign":
      case "char":
      case "declare":
      case "end of text":
      case "error":
      case "keyword":
      case "left delimiter":
      case "pipe":
      case "raw string":
      case "right delimiter":
      case "right parenthesis":
      case "space":
      case "string":
      case "text":
      default:
        return { node: "string", value: placed(at, () => unquote(token.value)), at };
    }
  };

  const operand = (): Operand | undefined => {
    const first = term();
    if (first === undefined || peekRaw().type !== "field") return first;
    const names: string[] = [];
    const { at } = peekRaw();
    while (peekRaw().type === "field") names.push(takeRaw().value.slice(1));
    if (first.node === "field" || first.node === "variable") return { ...first, names: [...first.names, ...names] };
    if (NOT_EXECUTABLE.has(first.node)) return failAt(at, "unexpected . after a term that has no fields");
    return { node: "chain", of: first, names, at: first.at };
  };

  const command = (): Command => {
    const { at } = peek();
    const words: Operand[] = [];
    for (;;) {
      skipSpace();
      const word = operand();
      if (word !== undefined) words.push(word);
      const token = peekRaw();
      if (token.type === "space") continue;
      if (token.type === "pipe") next++;
      else if (token.type !== "right delimiter" && token.type !== "right parenthesis") unexpected(token, "operand");
      break;
    }
    const [first, ...others] = words;
    return first === undefined ? failAt(at, "empty command") : { words: [first, ...others], at };
  };

  /** Variables that a pipeline declares or assigns to. */
  const declarations = (context: string): Pick<Pipe, "variables" | "isAssignment"> => {
    const names: string[] = [];
    for (;;) {
      if (peek().type !== "variable") return { variables: names, isAssignment: false };
      const back = next;
      const { value: name } = take();
      const token = peek();
      if (token.type === "assign" || token.type === "declare") {
        take();
        names.push(name);
        variables.push(name);
        if (token.type === "assign") assignments.push(...names);
        return { variables: names, isAssignment: token.type === "assign" };
      }
      if (token.type !== "char" || token.value !== ",") {
        next = back;
        return { variables: names, isAssignment: false };
      }
      take();
      names.push(name);
      variables.push(name);
      if (context !== "range" || names.length > 1) failAt(token.at, `too many declarations in ${context}`);
      const { type, at } = peek();
      if (type !== "variable" && type !== "right delimiter" && type !== "right parenthesis")
        failAt(at, "range can only initialize variables");
    }
  };

  const pipeline = (context: string, end: TokenType): Pipe => {
    const { at } = peek();
    const from = actionAt;
    const declared = declarations(context);
    const commands: Command[] = [];
    for (;;) {
      const token = peek();
      if (token.type === end) {
        take();
        if (commands.length === 0) failAt(token.at, `missing value for ${context}`);
        const wrong = commands.slice(1).find(({ words }) => NOT_EXECUTABLE.has(words[0].node));
        if (wrong !== undefined)
          failAt(wrong.at, `non executable command in pipeline stage ${commands.indexOf(wrong) + 1}`);
        return { node: "pipe", at, commands, ...declared, action: [from, token.at + 2] };
      }
      if (!STARTS_OPERAND.has(token.type) && !isKeyword(token, "nil")) unexpected(take(), context);
      commands.push(command());
    }
  };

  const templateName = (context: string): { readonly name: string; readonly at: number } => {
    const token = take();
    return token.type === "string" || token.type === "raw string"
      ? { name: placed(token.at, () => unquote(token.value)), at: token.at }
      : unexpected(token, context);
  };
  const define = (name: string, at: number, list: readonly Statement[]): void => {
    const before = defined.get(name);
    if (before === undefined || isBlank(before)) defined.set(name, list);
    else if (!isBlank(list)) failAt(at, `multiple definition of template "${textOf(name)}"`);
  };

  /** Runs with variables and loops of its own. */
  const separately = <A>(read: () => A): A => {
    const outer = { variables, ranges };
    variables = ["$"];
    ranges = 0;
    const result = read();
    ({ variables, ranges } = outer);
    return result;
  };

  const list = (): { readonly list: readonly Statement[]; readonly end: End } => {
    const read: Statement[] = [];
    for (;;) {
      const token = peek();
      if (token.type === "end of text") failAt(token.at, "unexpected end of the template");
      const one = textOrAction();
      if (one === undefined) continue;
      if (isEnd(one)) return { list: read, end: one };
      read.push(one);
    }
  };

  const control = (node: Branch["node"], at: number): Branch => {
    const scope = variables.length;
    const mark = assignments.length;
    const pipe = pipeline(node, "right delimiter");
    if (node === "range") ranges++;
    const { list: body, end } = deeper(at, list);
    if (node === "range") ranges--;
    let otherwise: readonly Statement[] | undefined;
    if (end.end === `else ${node}`) {
      take();
      otherwise = [deeper(at, () => control(node, at))];
    } else if (end.end !== "end") {
      const rest = deeper(at, list);
      if (rest.end.end !== "end") failAt(peekRaw().at, 'expected end, found "else"');
      otherwise = rest.list;
    }
    variables = variables.slice(0, scope);
    return {
      node,
      at,
      pipe,
      body,
      otherwise,
      assigned: [...new Set(assignments.slice(mark))],
      leaves: (node !== "range" && leavesLoop(body)) || leavesLoop(otherwise ?? []),
    };
  };

  const body = (context: string, name: string, at: number): void =>
    separately(() => {
      const { list: read, end } = deeper(at, list);
      if (end.end !== "end") failAt(at, `unexpected "else" in ${context}`);
      define(name, at, read);
    });

  const action = (): Statement | End => {
    const { value, at, type } = peek();
    switch (type === "keyword" ? value : "") {
      case "if":
      case "with":
      case "range":
        take();
        return control(value as Branch["node"], at);
      case "break":
      case "continue":
        take();
        expect("right delimiter", `{{${value}}}`);
        if (ranges === 0) failAt(at, `{{${value}}} outside {{range}}`);
        return { node: value as "break", at };
      case "end":
        take();
        expect("right delimiter", "end");
        return { end: "end" };
      case "else": {
        take();
        const following = peek();
        if (isKeyword(following, "if")) return { end: "else if" };
        if (isKeyword(following, "with")) return { end: "else with" };
        expect("right delimiter", "else");
        return { end: "else" };
      }
      case "template": {
        take();
        const { name } = templateName("template clause");
        if (peek().type === "right delimiter") {
          take();
          return { node: "template", name, pipe: undefined, at };
        }
        return { node: "template", name, pipe: pipeline("template clause", "right delimiter"), at };
      }
      case "block": {
        take();
        const { name } = templateName("block clause");
        const pipe = pipeline("block clause", "right delimiter");
        body("block clause", name, at);
        return { node: "template", name, pipe, at };
      }
      default:
        return { node: "action", pipe: pipeline("command", "right delimiter"), at };
    }
  };

  const textOrAction = (): Statement | End | undefined => {
    const token = take();
    if (token.type === "text") return { node: "text", text: token.value, at: token.at };
    if (token.type !== "left delimiter") return unexpected(token, "input");
    actionAt = token.at;
    return action();
  };

  const main: Statement[] = [];
  while (peek().type !== "end of text") {
    if (
      peek().type === "left delimiter" &&
      isKeyword(tokens.slice(next + 1, next + 3).find(({ type }) => type !== "space") as Token, "define")
    ) {
      take();
      take();
      const { name, at } = templateName("define clause");
      expect("right delimiter", "define clause");
      body("define clause", name, at);
      continue;
    }
    const one = textOrAction();
    if (one === undefined) continue;
    if (isEnd(one)) failAt(tokens[next - 1]?.at ?? 0, `unexpected {{${one.end}}}`);
    else main.push(one);
  }
  return { main, defined, text: input, changesMaps };
};

/** The line of a position, from 1. */
export const lineOf = (text: string, position: number): number => text.slice(0, position).split("\n").length;
