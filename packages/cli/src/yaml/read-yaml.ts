import { type Node, nodesOf } from "./nodes.ts";
import { jsonOf, keyOf, plainScalar, type Scalar } from "./scalar.ts";
import { YamlError } from "./yaml-error.ts";

/** A document, and the line in which it begins. */
export interface Document {
  readonly value: unknown;
  readonly line: number;
}

/** So many parts that are read through aliases come only of aliases of aliases. */
const MOST_PARTS = 400_000;

const fail = (message: string, { line, column }: Pick<Node, "line" | "column">): never => {
  throw new YamlError(message, { line: line + 1, column: column + 1 });
};

const base64 = (text: string, node: Node): string => {
  const digits = text.replaceAll(/[\r\n]/gu, "");
  const bytes = Buffer.from(digits, "base64");
  if (bytes.toString("base64") !== digits) return fail("!!binary without the base64 of it", node);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return fail("!!binary of what is no text: put it into binaryData, as base64 and without the tag", node);
  }
};

const UNTAGGED = "a tag that kubectl would ignore: leave it out";
const JSON_ONLY = "JSON has no infinity and no NaN: put it in quotes if it is a text";

/** Tags and the type of scalar that each demands. */
const TYPES: Readonly<Record<string, (scalar: Scalar) => Scalar>> = {
  "!!null": (scalar) => (scalar === null ? scalar : undefined),
  "!!bool": (scalar) => (typeof scalar === "boolean" ? scalar : undefined),
  "!!int": (scalar) => (typeof scalar === "object" && scalar !== null && "integer" in scalar ? scalar : undefined),
  "!!float": (scalar) => {
    if (typeof scalar !== "object" || scalar === null) return undefined;
    return "integer" in scalar ? { float: Number(scalar.integer) } : scalar;
  },
};

const LONG = /^!<tag:yaml\.org,2002:(.*)>$/u;

const scalarOf = (node: Node & { readonly kind: "scalar" }): Exclude<Scalar, undefined> => {
  const { text, plain } = node;
  const tag = node.tag?.replace(LONG, "!!$1");
  if (tag === "!" || tag === "!!str" || (tag === undefined && !plain)) return text;
  if (tag === "!!binary") return base64(text, node);
  const read = plainScalar(text);
  if (read === undefined) return fail(JSON_ONLY, node);
  if (tag === undefined) return read;
  const typed = (TYPES[tag] ?? fail(UNTAGGED, node))(read);
  return typed === undefined ? fail(`this is no ${tag.slice(2)}`, node) : typed;
};

const isMerge = (node: Node): boolean =>
  node.kind === "scalar" &&
  node.text === "<<" &&
  ((node.plain && node.tag === undefined) || node.tag === "!" || node.tag === "!!merge");

const valueOf = (root: Node): unknown => {
  let parts = 0;
  let aliases = 0;
  /** Those whose values are being read: none may contain itself. */
  const open = new Set<Node>();

  const resolved = (node: Node): Exclude<Node, { readonly kind: "alias" }> =>
    node.kind === "alias" ? resolved(node.of) : node;

  /** Reads what a node is, or is an alias of. */
  const within = <A>(node: Node, read: Node, of: () => A): A => {
    const through = node === read ? 0 : 1;
    aliases += through;
    parts += aliases === 0 ? 0 : 1;
    if (parts > MOST_PARTS) fail("aliases of aliases: it would be too large", node);
    if (open.has(read)) fail("the value of an anchor contains itself", node);
    open.add(read);
    const value = of();
    open.delete(read);
    aliases -= through;
    return value;
  };

  const mergeInto = (object: Map<string, unknown>, node: Node): void => {
    const merged = resolved(node);
    if (merged.kind === "map") within(node, merged, () => fill(object, merged));
    // The earlier ones have precedence.
    else if (merged === node && merged.kind === "list")
      for (const one of merged.items.toReversed())
        if (resolved(one).kind === "map") mergeInto(object, one);
        else fail("<< takes objects", one);
    else fail("<< takes an object, or a list of objects", node);
  };

  /** In the order of the file: what is merged after a key replaces its value. */
  const fill = (object: Map<string, unknown>, { entries }: Node & { readonly kind: "map" }): void => {
    const own = new Set<string>();
    for (const [keyNode, valueNode] of entries) {
      if (isMerge(keyNode)) {
        mergeInto(object, valueNode);
        continue;
      }
      const written = resolved(keyNode);
      if (written.kind !== "scalar") fail("a list or an object cannot be a key", keyNode);
      const key = written.kind === "scalar" ? keyOf(scalarOf(written)) : undefined;
      if (key === undefined) return fail("null, or a number that large, cannot be a key: put it in quotes", keyNode);
      if (own.has(key))
        fail("the object has this key already, and kubectl would drop the former value: keep one", keyNode);
      own.add(key);
      object.set(key, value(valueNode));
    }
  };

  const value = (node: Node): unknown => {
    const one = resolved(node);
    return within(node, one, () => {
      if (one.kind === "scalar") return jsonOf(scalarOf(one));
      const tag = one.tag?.replace(LONG, "!!$1");
      if (![undefined, "!", one.kind === "map" ? "!!map" : "!!seq"].includes(tag)) fail(UNTAGGED, one);
      if (one.kind === "list") return one.items.map(value);
      const object = new Map<string, unknown>();
      fill(object, one);
      return Object.fromEntries(object);
    });
  };

  return value(root);
};

const NOT_PRINTABLE = /[^\t\n\r\u0020-\u007E\u0085\u00A0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const RARE_BREAK = /[\u0085\u2028\u2029]/u;

const placeOf = (text: string, at: number): { readonly line: number; readonly column: number } => {
  const lines = text.slice(0, at).split("\n");
  return { line: lines.length - 1, column: lines.at(-1)?.length ?? 0 };
};

const refuse = (text: string, what: RegExp, message: string): void => {
  const at = text.search(what);
  if (at >= 0) fail(message, placeOf(text, at));
};

interface Chunk {
  readonly text: string;
  /** Lines before it. */
  readonly before: number;
}

/** Documents are separated before they are read: by every line that begins with `---`. */
const chunksOf = (text: string): readonly Chunk[] => {
  const chunks: Chunk[] = [];
  let lines: string[] = [];
  let before = 0;
  for (const [at, line] of text.replace(/\n$/u, "").split(/\r?\n/u).entries()) {
    if (!line.startsWith("---")) {
      lines.push(line);
      continue;
    }
    if (!/^---(?:(?!\uFEFF)[\s\u0085])*(#|$)/u.test(line))
      fail("only a comment may follow --- in its line, for kubectl", { line: at, column: 3 });
    chunks.push({ text: `${lines.join("\n")}\n`, before });
    lines = [];
    before = at + 1;
  }
  return [...chunks, { text: `${lines.join("\n")}\n`, before }];
};

/**
 * The documents of a text of YAML or JSON, with the values that kubectl reads: in another dialect, a name such as `7e12345` or
 * `.` would be a number or nothing.
 *
 * Guarantees: a document has the value that it has for kubectl, or is refused. Stricter than kubectl: a key that occurs twice in an
 *             object, text after the end of a document, tags that it ignores, bytes that are not those of a text.
 * Errors: {@link YamlError}.
 */
export const readYaml = (text: string): readonly Document[] =>
  chunksOf(text).flatMap(({ text: source, before }) => {
    try {
      refuse(source, /^\uFEFF/u, "a byte order mark in the middle of a file: remove it");
      refuse(source, NOT_PRINTABLE, "a control character: write it as an escape in double quotes");
      // In JSON they are characters, in YAML breaks.
      if (source.trimStart().startsWith("{"))
        refuse(source, RARE_BREAK, "a separator of lines or paragraphs: write it as an escape");
      return nodesOf(source).map((node) => ({ value: valueOf(node), line: before + node.line + 1 }));
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      throw new YamlError(error.message, { line: before + error.line, column: error.column });
    }
  });
