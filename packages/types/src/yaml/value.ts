// Converts nodes of YAML to JSON: anchors, tags, merges and duplicate keys.
import type { Node } from "./nodes.ts";
import { jsonOf, keyOf, plainScalar, type Scalar } from "./scalar.ts";
import { refuseAt } from "./yaml-error.ts";

/** The most parts that may be read through aliases: more come only of aliases of aliases. */
const MOST_PARTS = 400_000;

const base64 = (text: string, node: Node): string => {
  const digits = text.replaceAll(/[\r\n]/gu, "");
  const bytes = Buffer.from(digits, "base64");
  if (bytes.toString("base64") !== digits) return refuseAt("!!binary without the base64 of it", node);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refuseAt("!!binary of what is no text: put it into binaryData, as base64 and without the tag", node);
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
  if (read === undefined) return refuseAt(JSON_ONLY, node);
  if (tag === undefined) return read;
  const typed = (TYPES[tag] ?? refuseAt(UNTAGGED, node))(read);
  return typed === undefined ? refuseAt(`this is no ${tag.slice(2)}`, node) : typed;
};

const isMerge = (node: Node): boolean =>
  node.kind === "scalar" &&
  node.text === "<<" &&
  ((node.plain && node.tag === undefined) || node.tag === "!" || node.tag === "!!merge");

/**
 * The JSON that kubectl makes of a document.
 *
 * Errors: {@link YamlError} for what has no JSON, or none that can be relied on.
 * @param objectOf makes an object of its fields, which are in the order of the text
 */
export const valueOf = (root: Node, objectOf: (fields: ReadonlyMap<string, unknown>) => unknown): unknown => {
  let parts = 0;
  let aliases = 0;
  /** Nodes whose values are being read: none may contain itself. */
  const open = new Set<Node>();

  const resolved = (node: Node): Exclude<Node, { readonly kind: "alias" }> =>
    node.kind === "alias" ? resolved(node.of) : node;

  /** Reads what a node is, or is an alias of. */
  const within = <A>(node: Node, read: Node, of: () => A): A => {
    const through = node === read ? 0 : 1;
    aliases += through;
    parts += aliases === 0 ? 0 : 1;
    if (parts > MOST_PARTS) refuseAt("aliases of aliases: it would be too large", node);
    if (open.has(read)) refuseAt("the value of an anchor contains itself", node);
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
        else refuseAt("<< takes objects", one);
    else refuseAt("<< takes an object, or a list of objects", node);
  };

  /** Fills in the order of the file: what is merged after a key replaces its value. */
  const fill = (object: Map<string, unknown>, { entries }: Node & { readonly kind: "map" }): void => {
    const own = new Set<string>();
    for (const [keyNode, valueNode] of entries) {
      if (isMerge(keyNode)) {
        mergeInto(object, valueNode);
        continue;
      }
      const written = resolved(keyNode);
      if (written.kind !== "scalar") refuseAt("a list or an object cannot be a key", keyNode);
      const key = written.kind === "scalar" ? keyOf(scalarOf(written)) : undefined;
      if (key === undefined)
        return refuseAt("null, or a number that large, cannot be a key: put it in quotes", keyNode);
      if (own.has(key))
        refuseAt("the object has this key already, and kubectl would drop the former value: keep one", keyNode);
      own.add(key);
      object.set(key, value(valueNode));
    }
  };

  const value = (node: Node): unknown => {
    const one = resolved(node);
    return within(node, one, () => {
      if (one.kind === "scalar") return jsonOf(scalarOf(one));
      const tag = one.tag?.replace(LONG, "!!$1");
      if (![undefined, "!", one.kind === "map" ? "!!map" : "!!seq"].includes(tag)) refuseAt(UNTAGGED, one);
      if (one.kind === "list") return one.items.map(value);
      const object = new Map<string, unknown>();
      fill(object, one);
      return objectOf(object);
    });
  };

  return value(root);
};
