// JSON as Go's encoding/json writes it: keys of maps in order, fields of structs as declared, and HTML escaped.
import { floatText } from "../printed.ts";
import { sortedEntries, type Value } from "../value.ts";

const ESCAPED = /[\u2028\u2029<>&]/gu;

const quoted = (value: string): string =>
  JSON.stringify(value).replaceAll(ESCAPED, (one) => `\\u${(one.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);

const isEmpty = (value: Value): boolean => {
  switch (value.kind) {
    case "nil":
      return true;
    case "bool":
      return !value.value;
    case "int":
    case "float":
      return value.value === 0;
    case "string":
    case "bytes":
    case "list":
      return value.value.length === 0;
    case "map":
      return value.value.size === 0;
    case "struct":
      return false;
  }
};

/** Of a float: an exponent from 21 digits on, without the zero that fmt writes. */
const number = (value: number): string => floatText(value).replace(/e([+-])0(\d)$/u, "e$1$2");

export const goJson = (value: Value): string => {
  switch (value.kind) {
    case "nil":
      return "null";
    case "bool":
      return value.value ? "true" : "false";
    case "int":
      return `${value.value}`;
    case "float":
      return number(value.value);
    case "string":
      return quoted(value.value);
    case "bytes":
      return `"${Buffer.from(value.value).toString("base64")}"`;
    case "list":
      return `[${value.value.map(goJson).join(",")}]`;
    case "map":
      return `{${sortedEntries(value.value)
        .map(([name, one]) => `${quoted(name)}:${goJson(one)}`)
        .join(",")}}`;
    case "struct":
      return `{${value.value
        .filter(({ option, value: one }) => !(option === "omitempty" && isEmpty(one)))
        .map(({ json, value: one }) => `${quoted(json)}:${goJson(one)}`)
        .join(",")}}`;
  }
};

/** The tokens of JSON text: strings, brackets, and all between them. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^[\]{},:"]+/gu;

/** Indented by two spaces. */
export const prettyJson = (value: Value): string => {
  let depth = 0;
  let shown = "";
  const line = (): string => `\n${"  ".repeat(depth)}`;
  for (const [token] of goJson(value).matchAll(TOKENS)) {
    if (token === "[" || token === "{") {
      depth += 1;
      shown += `${token}${line()}`;
    } else if (token === "]" || token === "}") {
      depth -= 1;
      shown += `${line()}${token}`;
    } else if (token === ",") shown += `,${line()}`;
    else shown += token === ":" ? ": " : token;
  }
  return shown.replaceAll(/([[{])\n\s*([\]}])/gu, "$1$2");
};
