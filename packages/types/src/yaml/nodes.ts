// Parses tokens of YAML into nodes, with the productions of go-yaml.
import { type Token, tokensOf } from "./tokens.ts";
import { refuseAt } from "./yaml-error.ts";

/** A part of a document. */
export type Node = {
  readonly line: number;
  readonly column: number;
  /** The tag as it is written, such as `!!str`. */
  readonly tag: string | undefined;
} & (
  | { readonly kind: "scalar"; readonly text: string; readonly plain: boolean }
  | { readonly kind: "list"; readonly items: readonly Node[] }
  | { readonly kind: "map"; readonly entries: readonly (readonly [key: Node, value: Node])[] }
  | { readonly kind: "alias"; readonly of: Node }
);

/** JSON of the API server may be ten times as deep; nothing that is written by hand is. */
const DEEPEST = 1_000;

/** Nothing, where a value could be. */
const empty = ({ line, column }: Token, tag?: string): Node => ({
  kind: "scalar",
  text: "",
  plain: true,
  line,
  column,
  tag,
});

/**
 * The root of each document: more than one only where objects of JSON follow one another. None if there is nothing but comments.
 *
 * The productions are those of go-yaml v2. https://github.com/yaml/go-yaml/blob/v2.4.3/parserc.go
 *
 * Errors: {@link YamlError}.
 */
export const nodesOf = (text: string): readonly Node[] => {
  const tokens = tokensOf(text);
  const anchors = new Map<string, Node>();
  let at = 0;
  let depth = 0;

  /** The last token is the end, and is never taken. */
  const token = (): Token => tokens[at] ?? refuseAt("the text ends too early", { line: 0, column: 0 });
  const is = (...types: readonly Token["type"][]): boolean => types.includes(token().type);
  const took = (type: Token["type"]): boolean => {
    if (!is(type)) return false;
    at += 1;
    return true;
  };

  /** A node, unless one of these follows. */
  const nodeUnless = (ends: readonly Token["type"][], block: boolean, indentless: boolean): Node =>
    is(...ends) ? empty(token()) : node(block, indentless);

  const fillList = (items: Node[], isIndentless: boolean): void => {
    const ends: readonly Token["type"][] = isIndentless
      ? ["entry", "key", "value", "block end"]
      : ["entry", "block end"];
    while (took("entry")) items.push(nodeUnless(ends, true, false));
    if (!isIndentless && !took("block end"))
      refuseAt("this belongs neither to the list before it nor to what is around it", token());
  };
  const fillMap = (entries: (readonly [Node, Node])[]): void => {
    const ends = ["key", "value", "block end"] as const;
    while (!took("block end")) {
      if (!took("key"))
        refuseAt("this is no key of the object that begins above, nor indented as its parts are", token());
      const key = nodeUnless(ends, true, true);
      entries.push([key, took("value") ? nodeUnless(ends, true, true) : empty(token())]);
    }
  };
  const fillFlow = (end: "]" | "}", entry: () => void): void => {
    for (let isFirst = true; !is(end); isFirst = false) {
      if (!isFirst && !took(",")) refuseAt(`a comma or ${end} is missing before this`, token());
      if (!is(end)) entry();
    }
    at += 1;
  };
  const flowEntry = (end: "]" | "}"): readonly [Node, Node] => {
    const key = nodeUnless(["value", ",", end], false, false);
    return [key, took("value") ? nodeUnless([",", end], false, false) : empty(token())];
  };
  const fillFlowList = (items: Node[]): void =>
    fillFlow("]", () => {
      const first = token();
      if (!took("key")) items.push(node(false, false));
      else
        items.push({ kind: "map", entries: [flowEntry("]")], line: first.line, column: first.column, tag: undefined });
    });
  const fillFlowMap = (entries: (readonly [Node, Node])[]): void =>
    fillFlow("}", () => {
      if (took("key")) entries.push(flowEntry("}"));
      else entries.push([node(false, false), empty(token())]);
    });

  /** @param block whether it may be a block; `indentless`: a list whose entries begin at the column of its key */
  const node = (block: boolean, indentless: boolean): Node => {
    const first = token();
    if (first.type === "alias") {
      at += 1;
      const of = anchors.get(first.value) ?? refuseAt("no anchor before it has the name of this alias", first);
      return { kind: "alias", of, line: first.line, column: first.column, tag: undefined };
    }
    let anchor: string | undefined;
    let tag: string | undefined;
    for (let one = first; one.type === "anchor" || one.type === "tag"; one = token()) {
      if (one.type === "anchor" && anchor === undefined) anchor = one.value;
      else if (one.type === "tag" && tag === undefined) tag = one.value;
      else break;
      at += 1;
    }
    const content = token();
    const made = <A extends Node>(one: A): A => {
      if (anchor !== undefined) anchors.set(anchor, one);
      return one;
    };
    const place = { line: content.line, column: content.column, tag };
    if (content.type === "scalar") {
      at += 1;
      return made({ kind: "scalar", text: content.value, plain: content.plain, ...place });
    }
    depth += 1;
    if (depth > DEEPEST) refuseAt(`nested deeper than ${DEEPEST} levels`, content);
    const list = (fill: (items: Node[]) => void): Node => {
      const items: Node[] = [];
      const one = made({ kind: "list", items, ...place });
      fill(items);
      depth -= 1;
      return one;
    };
    const map = (fill: (entries: (readonly [Node, Node])[]) => void): Node => {
      const entries: (readonly [Node, Node])[] = [];
      const one = made({ kind: "map", entries, ...place });
      fill(entries);
      depth -= 1;
      return one;
    };
    if (indentless && content.type === "entry") return list((items) => fillList(items, true));
    if (took("[")) return list(fillFlowList);
    if (took("{")) return map(fillFlowMap);
    if (block && took("block list")) return list((items) => fillList(items, false));
    if (block && took("block map")) return map(fillMap);
    depth -= 1;
    if (anchor === undefined && tag === undefined) refuseAt("a value is missing before this", content);
    return made(empty(first, tag));
  };

  const roots: Node[] = [];
  while (is("{") || (roots.length === 0 && !is("end"))) roots.push(node(true, false));
  while (took("document end"));
  if (!is("end"))
    refuseAt("text after the end of the document, which kubectl would ignore: begin a document with ---", token());
  return roots;
};
