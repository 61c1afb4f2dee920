import { Yaml } from "cdk8s";
import type { Choice, Entry, Node } from "./node.ts";

type Lines = readonly string[];

/** What looks like a template and is none, such as `{{ $labels.namespace }}` in an alert, is printed as it is. */
const literal = (text: string): string => text.replaceAll("{{", '{{ "{{" }}');

/** The JSON of a node in which nothing is left to decide; undefined for others. */
const plainJson = (node: Node): { readonly json: unknown } | undefined => {
  if (node.at === "scalar") return { json: node.scalar };
  if (node.at === "map") {
    const all = node.entries.map(([key, one]) => [key, plainJson(one)] as const);
    return all.every(([, one]) => one !== undefined)
      ? { json: Object.fromEntries(all.map(([key, one]) => [key, one?.json])) }
      : undefined;
  }
  if (node.at === "list") {
    const all = node.items.map(plainJson);
    return all.every((one) => one !== undefined) ? { json: all.map((one) => one.json) } : undefined;
  }
  return undefined;
};

const plain = (json: unknown, pad: string): Lines =>
  literal(Yaml.stringify(json))
    .trimEnd()
    .split("\n")
    .map((line) => (line === "" ? "" : pad + line));

const block = (pad: string, opening: string, yes: Lines, no: Lines = []): Lines => [
  `${pad}{{- ${opening} }}`,
  ...yes,
  ...(no.length === 0 ? [] : [`${pad}{{- else }}`, ...no]),
  `${pad}{{- end }}`,
];

/** A node, and how what is not a choice is printed in its place. */
interface Place {
  readonly node: Node;
  readonly print: (node: Exclude<Node, Choice>) => Lines;
}

const branch = (places: readonly Place[], of: "yes" | "no", pad: string): Lines =>
  printAll(
    places.flatMap(({ node, print }) => {
      const chosen = node.at === "choice" ? node[of] : undefined;
      return chosen === undefined ? [] : [{ node: chosen, print }];
    }),
    pad,
  );

/** Neighbours that depend on the same condition share it. */
const printAll = (places: readonly Place[], pad: string): Lines => {
  const [first, ...others] = places;
  if (first === undefined) return [];
  if (first.node.at !== "choice") return [...first.print(first.node), ...printAll(others, pad)];
  const { when } = first.node;
  const end = others.findIndex(({ node }) => node.at !== "choice" || node.when !== when);
  const count = end === -1 ? places.length : end + 1;
  const run = places.slice(0, count);
  const [yes, no] = [branch(run, "yes", pad), branch(run, "no", pad)];
  const here =
    yes.length === 0
      ? block(pad, `if not ${when.includes(" ") ? `(${when})` : when}`, no)
      : block(pad, `if ${when}`, yes, no);
  return [...here, ...printAll(places.slice(count), pad)];
};

const quoted = (text: string): string => literal(JSON.stringify(text).slice(1, -1));

/** On the line of its key or dash; undefined for what takes lines of its own. */
const inline = (node: Exclude<Node, Choice>): string | undefined => {
  if (node.at === "value" && node.as === "int") return `{{ int ${node.read} }}`;
  if (node.at === "value" && node.as === "quote") return `{{ ${node.read} | quote }}`;
  if (node.at === "text")
    return `"${node.parts.map((part) => (typeof part === "string" ? quoted(part) : `{{ ${part.read} }}`)).join("")}"`;
  return undefined;
};

const entryLines = (key: string, node: Exclude<Node, Choice>, pad: string): Lines => {
  const all = plainJson(node);
  if (all !== undefined) return plain({ [key]: all.json }, pad);
  if (node.at === "spread") return block(pad, `with ${node.read}`, [`${pad}{{- toYaml . | nindent ${pad.length} }}`]);
  const name = `${pad}${Yaml.stringify(key).trimEnd()}:`;
  if (node.at === "value" && node.optional)
    return block(pad, `with ${node.read}`, entryLines(key, { ...node, read: ".", optional: false }, pad));
  if (node.at === "value" && node.as === "toYaml")
    return [`${name} {{- toYaml ${node.read} | nindent ${pad.length + 2} }}`];
  if (node.at === "map") return [name, ...entries(node.entries, `${pad}  `)];
  if (node.at === "list") {
    const lines = [name, ...items(node.items, `${pad}  `)];
    const [only, ...others] = node.items;
    return only?.at === "each" && only.optional && others.length === 0 ? block(pad, `if ${only.over}`, lines) : lines;
  }
  return [`${name} ${inline(node) ?? ""}`];
};

export const entries = (all: readonly Entry[], pad: string): Lines =>
  printAll(
    all.map(([key, node]) => ({ node, print: (chosen) => entryLines(key, chosen, pad) })),
    pad,
  );

const itemLines = (node: Exclude<Node, Choice>, pad: string): Lines => {
  const all = plainJson(node);
  if (all !== undefined) return plain([all.json], pad);
  if (node.at === "each") return block(pad, `range ${node.over}`, items([node.item], pad));
  const here = inline(node);
  if (here !== undefined) return [`${pad}- ${here}`];
  const [first = "", ...others] =
    node.at === "map" ? entries(node.entries, `${pad}  `) : node.at === "list" ? items(node.items, `${pad}  `) : [];
  const joins = !first.includes("{{-") || first.trimStart().startsWith('"');
  return joins ? [`${pad}- ${first.trimStart()}`, ...others] : [`${pad}-`, first, ...others];
};

const items = (all: readonly Node[], pad: string): Lines =>
  printAll(
    all.map((node) => ({ node, print: (chosen) => itemLines(chosen, pad) })),
    pad,
  );

const documentLines = (node: Exclude<Node, Choice>): Lines => {
  if (node.at === "each") return block("", `range ${node.over}`, documents([node.item]));
  return ["---", ...(node.at === "map" ? entries(node.entries, "") : [])];
};

const documents = (all: readonly Node[]): Lines =>
  printAll(
    all.map((node) => ({ node, print: documentLines })),
    "",
  );

/** A template of these objects, one document each. */
export const template = (objects: readonly Node[]): string => `${documents(objects).join("\n")}\n`;
