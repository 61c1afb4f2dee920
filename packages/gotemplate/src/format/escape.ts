// Escapes text for HTML, JavaScript and URLs, as Go's text/template does.
import { INVALID_RUNE, runeAt } from "../value/bytes.ts";
import { isPrint } from "../value/unicode.ts";

const HTML: Readonly<Record<string, string>> = {
  "\0": "\u00ef\u00bf\u00bd",
  '"': "&#34;",
  "'": "&#39;",
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
};

// eslint-disable-next-line no-control-regex
export const htmlEscape = (bytes: string): string => bytes.replaceAll(/[\0"'&<>]/gu, (char) => HTML[char] ?? char);

const JS: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "'": "\\'",
  '"': '\\"',
  "<": "\\u003C",
  ">": "\\u003E",
  "&": "\\u0026",
  "=": "\\u003D",
};

export const jsEscape = (bytes: string): string => {
  let out = "";
  for (let at = 0; at < bytes.length; ) {
    const { rune, size } = runeAt(bytes, at);
    const piece = bytes.slice(at, at + size);
    if (rune < 0x80)
      out += JS[piece] ?? (rune < 0x20 ? `\\u00${rune.toString(16).toUpperCase().padStart(2, "0")}` : piece);
    else if (isPrint(rune) || (rune === INVALID_RUNE && size === 1)) out += piece;
    else out += `\\u${rune.toString(16).toUpperCase().padStart(4, "0")}`;
    at += size;
  }
  return out;
};

export const percent = (byte: string): string => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

/** As url.QueryEscape. */
export const queryEscape = (bytes: string): string =>
  bytes.replaceAll(/[^A-Za-z0-9_.~-]/gu, (byte) => (byte === " " ? "+" : percent(byte)));
