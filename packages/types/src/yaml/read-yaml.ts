// Reads YAML and JSON documents into the values that kubectl reads.
import { nodesOf } from "./nodes.ts";
import { valueOf } from "./value.ts";
import { refuseAt, YamlError } from "./yaml-error.ts";

/** A document, and the line in which it begins. */
export interface Document {
  readonly value: unknown;
  readonly line: number;
}

const NOT_PRINTABLE = /[^\t\n\r\u0020-\u007E\u0085\u00A0-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
const RARE_BREAK = /[\u0085\u2028\u2029]/u;

const placeOf = (text: string, at: number): { readonly line: number; readonly column: number } => {
  const lines = text.slice(0, at).split("\n");
  return { line: lines.length - 1, column: lines.at(-1)?.length ?? 0 };
};

const refuse = (text: string, what: RegExp, message: string): void => {
  const at = text.search(what);
  if (at >= 0) refuseAt(message, placeOf(text, at));
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
      refuseAt("only a comment may follow --- in its line, for kubectl", { line: at, column: 3 });
    chunks.push({ text: `${lines.join("\n")}\n`, before });
    lines = [];
    before = at + 1;
  }
  return [...chunks, { text: `${lines.join("\n")}\n`, before }];
};

const documentsOf = (text: string, objectOf: (fields: ReadonlyMap<string, unknown>) => unknown): readonly Document[] =>
  chunksOf(text).flatMap(({ text: source, before }) => {
    try {
      refuse(source, /^\uFEFF/u, "a byte order mark in the middle of a file: remove it");
      refuse(source, NOT_PRINTABLE, "a control character: write it as an escape in double quotes");
      // In JSON they are characters, in YAML breaks.
      if (source.trimStart().startsWith("{"))
        refuse(source, RARE_BREAK, "a separator of lines or paragraphs: write it as an escape");
      return nodesOf(source).map((node) => ({ value: valueOf(node, objectOf), line: before + node.line + 1 }));
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      throw new YamlError(error.message, { line: before + error.line, column: error.column });
    }
  });

/**
 * The documents of a text of YAML or JSON, with the values that kubectl reads: in another dialect, a name such as `7e12345` or
 * `.` would be a number or nothing.
 *
 * Guarantees: a document has the value that it has for kubectl, or is refused. Stricter than kubectl: a key that occurs twice in an
 *             object, text after the end of a document, tags that it ignores, bytes that are not those of a text.
 * Errors: {@link YamlError}.
 */
export const readYaml = (text: string): readonly Document[] => documentsOf(text, Object.fromEntries);

/** As {@link readYaml}, but objects are Maps, whose fields are in the order of the text: of an object, `10` comes before `a`. */
export const readYamlInOrder = (text: string): readonly Document[] => documentsOf(text, (fields) => new Map(fields));
