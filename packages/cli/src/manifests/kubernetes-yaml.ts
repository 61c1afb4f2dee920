// The options with which objects are printed as YAML that kubectl reads unchanged.
import { digitsOf, plainScalar } from "@janus/types";
import type { DocumentOptions, ScalarTag, SchemaOptions } from "yaml";
import { stringifyString } from "yaml/util";

/** Integers that JavaScript would round. kubectl has all of 64 bits, as the API server has. */
const largeInteger: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  identify: (value) => digitsOf(value) !== undefined,
  resolve: (text) => text,
  stringify: ({ value }) => digitsOf(value) ?? "",
};

/** Texts in which YAML 1.1 has an indentation, the end of a line, a merge, or an error. */
const NEEDS_QUOTES =
  /^\s|^<<$|\n[^\S\n]*\t|[^\t\n\u0020-\u007E\u00A0-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}]/u;
const NEEDS_ESCAPE = /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/gu;

const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(NEEDS_ESCAPE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Texts, some of them in quotes that the printer would do without. */
const textTag = (needsQuotes: (text: string) => boolean): ScalarTag => ({
  tag: "tag:yaml.org,2002:str",
  default: true,
  identify: (value) => typeof value === "string",
  resolve: (written) => written,
  stringify: (item, ...context) => {
    const value = String(item.value);
    return needsQuotes(value) ? quoted(value) : stringifyString(item, ...context);
  },
});

/** Whether kubectl would take a text for something else without quotes. */
const isTakenForOther = (text: string): boolean => plainScalar(text) !== text || NEEDS_QUOTES.test(text);

/** How objects are printed as YAML: kubectl and `readYaml` read them as they are. */
export const KUBERNETES_YAML: DocumentOptions & SchemaOptions = {
  version: "1.1",
  customTags: (tags) => [largeInteger, textTag(isTakenForOther), ...tags],
};

/** How objects are compared line by line: the same, but no text is drawn into one line for its tabs. */
export const COMPARED_YAML: DocumentOptions & SchemaOptions = {
  customTags: (tags) => [largeInteger, textTag((text) => !text.includes("\n") && isTakenForOther(text)), ...tags],
};
