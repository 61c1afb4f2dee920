import { fromBase64, toBase64 } from "./base64.ts";
import { asObject, digitsOf, isObject } from "./json.ts";
import type { ApiError } from "@janus/types";

/** Every value below, as text. Keys are no secret: everybody who may see field managers sees them. */
const leaves = (value: unknown): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (isObject(value)) return Object.values(value).flatMap(leaves);
  const leaf = digitsOf(value) ?? value;
  return typeof leaf === "string" || typeof leaf === "number" || typeof leaf === "boolean" ? [`${leaf}`] : [];
};

/** As text, and byte by byte. */
const decoded = (text: string): readonly string[] => {
  const plain = fromBase64(text);
  return plain === undefined ? [] : [plain, atob(text)];
};

/** How an error may quote a text: as it is, escaped, in base64 and out of it. */
const quotations = (text: string): readonly string[] =>
  [text, toBase64(text), ...decoded(text)]
    .flatMap((form) => [form, JSON.stringify(form).slice(1, -1)])
    .filter((form) => form !== "");

const isWord = (character: string | undefined): boolean => character !== undefined && /\w/.test(character);

/** Hidden only where it stands by itself: a value such as `1` or `is` must not riddle every sentence. */
const hide = (text: string, quoted: string): string =>
  text
    .split(quoted)
    .reduce((before, after) =>
      isWord(before.at(-1)) || isWord(after[0]) ? `${before}${quoted}${after}` : `${before}…${after}`,
    );

/**
 * The same fault, with nothing of the Secret that was sent in its sentences. The API server and admission checks quote what
 * they refuse, and what they say is told in status, events and logs.
 */
export const redactSecret = (fault: ApiError, body: object): ApiError => {
  if (fault.type !== "refused") return fault;
  const { data, stringData } = asObject(body);
  const quoted = leaves([data, stringData])
    .flatMap(quotations)
    .toSorted((a, b) => b.length - a.length);
  const redacted = (text: string): string => quoted.reduce(hide, text);
  return {
    ...fault,
    message: redacted(fault.message),
    causes: fault.causes.map((cause) =>
      cause.message === undefined ? cause : { ...cause, message: redacted(cause.message) },
    ),
  };
};
