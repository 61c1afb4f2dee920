import { fromBase64, toBase64 } from "./base64.ts";
import { type ApiError, asObject, digitsOf, isObject } from "@janus/types";

/** All values below, as text. Keys are not secret: all users who may read field managers see them. */
const leaves = (whole: unknown): ReadonlySet<string> => {
  const found = new Set<string>();
  const open = [whole];
  while (open.length > 0) {
    const value = open.pop();
    const leaf = digitsOf(value) ?? value;
    if (typeof leaf === "string" || typeof leaf === "number" || typeof leaf === "boolean") found.add(`${leaf}`);
    else if (Array.isArray(leaf) || isObject(leaf)) for (const inner of Object.values(leaf)) open.push(inner);
  }
  return found;
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

/** Hidden only as a whole word: a value such as `1` or `is` must not be hidden in every message. */
const hide = (text: string, quoted: string): string => {
  const [first = "", ...others] = text.split(quoted);
  const parts = [first];
  let last = first.at(-1);
  for (const after of others) {
    const between = isWord(last) || isWord(after[0]) ? quoted : "…";
    parts.push(between, after);
    last = after.at(-1) ?? between.at(-1);
  }
  return parts.join("");
};

/** How many characters of sentences are looked at, once for each form of each value: tenths of a second, at the worst. */
const MOST_LOOKS = 4_000_000;
/** Of a value at most, as {@link quotations} makes them. */
const FORMS = 8;

/** The same fault, with nothing that was said, and why that is so. */
export const withoutReason = (fault: ApiError, why: string): ApiError =>
  fault.type === "refused"
    ? { ...fault, message: `${fault.reason || `HTTP ${fault.code}`} (${why})`, causes: [] }
    : fault;

/**
 * The same fault, with none of these values in its sentences. The API server and admission checks quote what they refuse, and
 * what they say is shown in status, events and logs.
 */
const redact = (fault: ApiError, content: unknown): ApiError => {
  if (fault.type !== "refused") return fault;
  const values = leaves(content);
  const said = fault.causes.reduce((sum, { message = "" }) => sum + message.length, fault.message.length);
  if (values.size * FORMS * said > MOST_LOOKS)
    return withoutReason(fault, "the reason is too long to be shown: it may quote what was sent");
  const quoted = [...new Set([...values].flatMap(quotations))].toSorted((a, b) => b.length - a.length);
  const redacted = (text: string): string => quoted.reduce(hide, text);
  return {
    ...fault,
    message: redacted(fault.message),
    causes: fault.causes.map((cause) =>
      cause.message === undefined ? cause : { ...cause, message: redacted(cause.message) },
    ),
  };
};

/**
 * The same fault, with nothing of these states of a Secret in its sentences.
 *
 * Guarantees: takes a bounded time, during which nothing else is done: where many values would have to be looked for in long
 *             sentences (one for each of thousands of bad keys, say), these are left out as a whole.
 */
export const redactSecret = (fault: ApiError, ...states: readonly object[]): ApiError =>
  redact(
    fault,
    states.map(asObject).map(({ data, stringData }) => [data, stringData]),
  );

/** The same for an object of another kind, of which every value may be secret but for what identifies it. */
export const redactSensitive = (fault: ApiError, ...states: readonly object[]): ApiError =>
  redact(
    fault,
    states.map((state) => {
      const { apiVersion: _, kind: __, metadata, ...content } = asObject(state);
      const { labels, annotations } = asObject(metadata);
      return [content, labels, annotations];
    }),
  );
