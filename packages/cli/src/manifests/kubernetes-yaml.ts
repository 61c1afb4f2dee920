// The options with which objects are printed as YAML that kubectl reads unchanged.
import { digitsOf } from "@janus/types";
import type { DocumentOptions, ScalarTag, SchemaOptions } from "yaml";
import { stringifyString } from "yaml/util";
import { plainScalar } from "../yaml/scalar.ts";

/** Integers that JavaScript would round. kubectl has all of 64 bits, as the API server has. */
export const largeInteger: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  identify: (value) => digitsOf(value) !== undefined,
  resolve: (text) => text,
  stringify: ({ value }) => digitsOf(value) ?? "",
};

/** Where YAML 1.1 has an indentation, the end of a line, a merge, or an error. */
const NEEDS_QUOTES =
  /^\s|^<<$|\n[^\S\n]*\t|[^\t\n\u0020-\u007E\u00A0-\u2027\u202A-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}]/u;
const NEEDS_ESCAPE = /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/gu;

const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(NEEDS_ESCAPE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** A text, in quotes where kubectl would take it for something else without them. */
const text: ScalarTag = {
  tag: "tag:yaml.org,2002:str",
  default: true,
  identify: (value) => typeof value === "string",
  resolve: (written) => written,
  stringify: (item, ...context) => {
    const value = String(item.value);
    return plainScalar(value) !== value || NEEDS_QUOTES.test(value) ? quoted(value) : stringifyString(item, ...context);
  },
};

/** How objects are printed as YAML: kubectl and `readYaml` read them as they are. */
export const KUBERNETES_YAML: DocumentOptions & SchemaOptions = {
  version: "1.1",
  customTags: (tags) => [largeInteger, text, ...tags],
};
