// Strings of Go as they are written: with escapes, or raw.

const SIMPLE: Readonly<Record<string, string>> = {
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  '"': '"',
};

const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|([abfnrtv\\"])|([\s\S]?))/gu;

/** The value of `"…"` or `` `…` ``; undefined if an escape is none of Go's. */
export const unquoted = (text: string): string | undefined => {
  if (text.startsWith("`")) return text.slice(1, -1).replaceAll("\r", "");
  let isGood = true;
  const value = text
    .slice(1, -1)
    .replaceAll(ESCAPE, (_, x?: string, u?: string, long?: string, octal?: string, simple?: string) => {
      const code = x ?? u ?? long;
      const point =
        code === undefined ? (octal === undefined ? undefined : Number.parseInt(octal, 8)) : Number.parseInt(code, 16);
      if (point !== undefined && point <= 0x10_ff_ff) return String.fromCodePoint(point);
      const found = simple === undefined ? undefined : SIMPLE[simple];
      if (found === undefined) isGood = false;
      return found ?? "";
    });
  return isGood ? value : undefined;
};
