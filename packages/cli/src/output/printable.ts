// Escapes control characters in a Transaction, so that its author cannot alter what a terminal shows.

/** Characters that a terminal would obey, that turn the direction of text, or have no width; lines of a message are harmless. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;
const IN_MESSAGE = /(?!\n)[\p{Cc}\p{Cf}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

/** Writes it as JSON does: beyond the first plane in two parts. */
const writtenOut = (character: string): string =>
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");

const texts = (value: unknown, field: string): unknown => {
  if (typeof value === "string") return value.replaceAll(field === "message" ? IN_MESSAGE : UNPRINTABLE, writtenOut);
  if (Array.isArray(value)) return value.map((one: unknown) => texts(one, field));
  if (typeof value !== "object" || value === null) return value;
  // What is to be written is printed as YAML, which does the same, and may be nested deeper than a stack is.
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, name === "content" ? one : texts(one, name)]),
  );
};

/**
 * A Transaction, or a part of it, as it can be shown on a terminal: with control characters written out, such as `\u001b`.
 * Others choose the names and annotations in it, and could otherwise overwrite what an approver is shown.
 * https://github.com/kubernetes/kubernetes/issues/101695 (CVE-2021-25743)
 */
// The shape stays: only the characters of texts change.
export const printable = <A>(value: A): A => texts(value, "") as A;
