import * as fc from "fast-check";

/** Texts of which one character more or less makes something else: a number, a boolean, nothing. */
const HARD = [
  [".", "..", "...", "._1", ".1_0", "._", "+.", "-.", ".e1", "e1", ".5e3", "1.", "1.e1", "+.5", "1e999", "-1e-999"],
  ["e5481620", "7e12345", "1e3", "1E+3", "1_000", "1__0", "_1", "0x1F", "0X1f", "0x_", "0x", "0b11", "0b", "0b-1"],
  ["-0b11", "0b+1", "0o17", "0O17", "-0o7", "0400", "-0400", "08", "+5", "-0", "-0.0", "0_7", "00", "1e5e5"],
  ["9007199254740993", "9223372036854775808", "18446744073709551616", "-9223372036854775809", "1e400", "0.1e1"],
  [
    "yes",
    "No",
    "on",
    "OFF",
    "y",
    "N",
    "true",
    "False",
    "~",
    "null",
    "",
    "Null",
    "nUll",
    "yEs",
    ".inf",
    "-.Inf",
    ".NaN",
  ],
  ["2001-01-01", "2001-01-01T10:00:00Z", "12:30", "12:30:45", "190:20:30", "1.2.3", "1Gi", "0400m", "2001:db8::", "::"],
  ["=", "<<", "- x", "a: b", "a:b", "a #b", "a#b", "#a", "a, b", "[a", "@a", "`a", "%a", "!a", "&a", "*a", "?a", ":a"],
  ["'a''b'", '"a\\tb"', '"\\x41\\u00e9\\U0001F600"', '"\\/"', '"\\q"', "'a", '"a', "'a' b", "! 0400", "!!str 1"],
  [
    "!!int 7",
    '!!int "7"',
    "!!float 1",
    "!!bool yes",
    "!!null ~",
    "!!binary aGVsbG8=",
    "!!binary !",
    "!foo x",
    "é",
    "😀",
  ],
].flat();

const number = fc.string({ unit: fc.constantFrom(..."0123456789._+-eExXoObBaf:".split("")), maxLength: 8 });
const scalar = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...HARD) },
  { weight: 3, arbitrary: number },
  {
    weight: 1,
    arbitrary: fc.string({ unit: fc.constantFrom(..."ab1 :#-,[]{}'\"&*!|>?%@\t\\".split("")), maxLength: 8 }),
  },
);

/** In each place where a scalar can be. */
const PLACES: readonly ((text: string) => string)[] = [
  (text) => `k: ${text}\n`,
  (text) => `k:\n  - ${text}\n  - x\n`,
  (text) => `k: [${text}, x]\n`,
  (text) => `k: {a: ${text}, b: x}\n`,
  (text) => `${text}: v\n`,
  (text) => `{${text}: v}\n`,
  (text) => `k: ${text}\n  ${text}\n`,
  (text) => `? ${text}\n: v\n`,
  (text) => `k: &a ${text}\nl: *a\n`,
];
const scalars = fc.tuple(scalar, fc.constantFrom(...PLACES)).map(([text, place]) => place(text));

/** What files of YAML are made of, in any order. */
const PIECES = [
  ["a", "b", "key", "1", "7e1", ".", "yes", ": ", ":", ":\n", "- ", "-\n", "? ", ", ", ",", "[", "]", "{", "}"],
  ["\n", "\n", "\n", "\n  ", "\n  ", "\n    ", "\n\n", " ", "  ", "\t", "\r\n", "\r", "\u0085", "\u2028", "\u2029"],
  ["'", '"', "''", "\\", "\\\n", "\\n", "\\u00e9", "#", " # c", "|", ">", "|-", ">-", "|+", ">+", "|2", ">1-", "|-2"],
  ["&x ", "*x", "*x : ", "<<: ", "<<: *x\n", "!!str ", "!!int ", "! ", "\n---\n", "\n--- # c\n", "\n---", "\n...\n"],
  [
    "%",
    "@",
    "`",
    "é",
    "😀",
    "\uFEFF",
    "\u0007",
    "=",
    "k: |\n  t\n",
    "k: >\n  t\n  u\n\n  v\n   w\n",
    "a: 1\n",
    "- a: 1\n  b: 2\n",
  ],
].flat();
const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((all) => all.join(""));

/** Objects as people write them, line by line, mostly well indented. */
const LINES = [
  ["a: b", "b: 'c'", 'c: "d', 'e"', "d:", "- x", "- y: 1", "-", "e: [x,", "y]", "f: {g: h,", "i: j}", "}", "]", "g: |"],
  [
    "h: >-",
    "text",
    "text: more",
    "# comment",
    "",
    "  ",
    "i: &x {j: 1}",
    "k: *x",
    "<<: *x",
    "l: &l",
    "m: !!str",
    "'q': r",
  ],
  [
    "? n",
    ": o",
    "- - p",
    "- - - q",
    "long text that",
    "goes on",
    "x: y # comment",
    "x: 'y'# comment",
    "\tz: 1",
    "w:\tv",
    "u:  ",
  ],
].flat();
const lines = fc
  .array(fc.tuple(fc.constantFrom(0, 0, 0, 2, 2, 2, 2, 4, 4, 1, 3), fc.constantFrom(...LINES)), { maxLength: 9 })
  .map((all) => `${all.map(([width, line]) => " ".repeat(width) + line).join("\n")}\n`);

/** Values that differ only in how they are written. */
const json = fc
  .tuple(
    fc.json({ maxDepth: 3, noUnicodeString: false }),
    fc.constantFrom("", "\n", "\n---\n{}", "{}", "\n{}", "  # c"),
  )
  .map(([value, after]) => `{"value":${value}}${after}`);

const withBreaks = (text: string, breaks: string): string => text.replaceAll(/\r?\n/gu, breaks);

const utf16 = (text: string, isBigEndian: boolean): Buffer => {
  const bytes = Buffer.from(`\uFEFF${text}`, "utf16le");
  return isBigEndian ? bytes.swap16() : bytes;
};

const ENCODINGS: readonly ((text: string) => Buffer)[] = [
  (text) => Buffer.from(text),
  (text) => Buffer.from(text),
  (text) => Buffer.from(text),
  (text) => Buffer.from(`\uFEFF${text}`),
  (text) => Buffer.from(withBreaks(text, "\r\n")),
  (text) => utf16(text, false),
  (text) => utf16(text, true),
];

/** Files that are, or nearly are, YAML or JSON. */
export const arbitraryFiles: fc.Arbitrary<Buffer> = fc
  .tuple(
    fc.oneof(
      { weight: 4, arbitrary: scalars },
      { weight: 3, arbitrary: pieces },
      { weight: 4, arbitrary: lines },
      { weight: 1, arbitrary: json },
    ),
    fc.constantFrom(...ENCODINGS),
  )
  .map(([text, encode]) => encode(text));
