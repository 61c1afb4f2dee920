// Templates, and data for them, made by chance from a grammar: most of them mean something, some are broken.
import { bytes, integer, text, type Typed } from "./typed-data.ts";

export interface Case {
  readonly template: string;
  readonly data: Typed;
  readonly missingKey: "default" | "zero" | "error";
}

/** Numbers from 0 to 1 that a seed decides (mulberry32). */
const numbers = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const WORDS = [
  "",
  "a",
  "ab",
  "Hello World",
  "foo-bar_baz",
  "FooBar9x",
  "é",
  "日本 go",
  "x,y,z",
  "  pad ",
  "1.2.3",
  "42",
  "-7",
  "0x1f",
  "3.5",
  "true",
  "a/b/../c.txt",
  "line\nbreak",
  "<b>&'\"",
  "http://u:p@h.example:80/p a?q=1#f",
  "aGVsbG8=",
  "tab\tend",
  "%d%s",
  "v1.10.0-rc.1+b",
  "2026-11-27",
  "\u0000\u0001",
  "a.b.c",
];
const INTS = [
  "0",
  "1",
  "2",
  "-1",
  "3",
  "7",
  "10",
  "1.0",
  "0x10",
  "1_000",
  "'a'",
  "010",
  "-0",
  "1e3",
  "2.5",
  "0b101",
  "+5",
  ".5",
  "5.",
  "0x1p4",
];
const WRONG_INTS = ["9223372036854775808", "1e400", "08", "1__0", "0x", "99999999999999999999", "1.5.2"];
const FIELDS = [
  ".s",
  ".n",
  ".f",
  ".b",
  ".l",
  ".m",
  ".sm",
  ".ss",
  ".by",
  ".nl",
  ".t",
  ".sec",
  ".prof",
  ".named",
  ".u",
  ".m.a",
  ".m.b",
  ".sm.k",
  ".sec.Data",
  ".sec.Name",
  ".sec.Labels",
  ".sec.Type",
  ".sec.Immutable",
  ".sec.Generation",
  ".prof.Location.Bucket",
  ".prof.Location.Type",
  ".prof.Credential.KeyPair",
  ".nm",
  ".nsl",
  ".m.deep",
  "$",
  "$.s",
  "$.m.a",
  ".",
  "$v",
  "$w",
  "$i",
];
/** Most of these are errors. */
const WRONG_FIELDS = [
  ".missing",
  ".m.deep.x",
  ".m.nope.x",
  ".sm.zz",
  ".sec.Data.pw",
  ".sec.Data.zz",
  ".sec.Labels.app",
  ".sec.GetName",
  ".prof.Credential.KeyPair.ID",
  ".prof.Credential.KeyPair.Nope",
  ".prof.Credential.Secret",
  ".prof.Credential.Secret.Name",
  ".s.x",
  ".n.x",
  ".l.x",
  ".nl.x",
  "$v.a",
  ".sec.ObjectMeta.Name",
];
/** Of these types. */
const TYPED: Readonly<Record<string, readonly string[]>> = {
  string: ["$.s", "$.s", "$.m.b", "$.sm.k", "$.sec.Name", "$w"],
  int: ["(int $.n)", "(len $.l)", "$i"],
  list: ["$.l", "$.ss", "$.by", "$.nsl"],
  map: ["$.m", "$.m.deep", "$.nm"],
  bool: ["$.b"],
};

type Kind =
  | "string"
  | "int"
  | "any"
  | "bool"
  | "list"
  | "map"
  | "float"
  | "time"
  | "format"
  | "regexp"
  | "version"
  | "constraint"
  | "layout"
  | "condition"
  | "url"
  | "words"
  | "fresh";

const FUNCTIONS: Readonly<Record<string, readonly Kind[]>> = {
  abbrev: ["int", "string"],
  abbrevboth: ["int", "int", "string"],
  trunc: ["int", "string"],
  trim: ["string"],
  upper: ["string"],
  lower: ["string"],
  title: ["string"],
  untitle: ["string"],
  substr: ["int", "int", "string"],
  repeat: ["int", "string"],
  trimall: ["string", "string"],
  trimAll: ["string", "string"],
  trimSuffix: ["string", "string"],
  trimPrefix: ["string", "string"],
  nospace: ["string"],
  initials: ["string"],
  swapcase: ["string"],
  snakecase: ["string"],
  camelcase: ["string"],
  kebabcase: ["string"],
  wrap: ["int", "string"],
  wrapWith: ["int", "string", "string"],
  contains: ["string", "string"],
  hasPrefix: ["string", "string"],
  hasSuffix: ["string", "string"],
  quote: ["any", "any"],
  squote: ["any"],
  cat: ["any", "any", "any"],
  indent: ["int", "string"],
  nindent: ["int", "string"],
  replace: ["string", "string", "string"],
  plural: ["string", "string", "int"],
  toString: ["any"] as const,
  toStrings: ["any"],
  split: ["string", "string"],
  splitn: ["string", "int", "string"],
  splitList: ["string", "string"],
  join: ["string", "list"],
  atoi: ["string"],
  int64: ["any"],
  int: ["any"],
  float64: ["any"],
  toDecimal: ["any"],
  add1: ["any"],
  add: ["any", "any", "any"],
  sub: ["any", "any"],
  div: ["any", "any"],
  mod: ["any", "any"],
  mul: ["any", "any"],
  max: ["any", "any"],
  min: ["any", "any"],
  biggest: ["any", "any"],
  ceil: ["any"],
  floor: ["any"],
  round: ["float", "int"],
  list: ["any", "any"],
  tuple: ["any"],
  append: ["list", "any"],
  push: ["list", "any"],
  prepend: ["list", "any"],
  first: ["list"],
  last: ["list"],
  rest: ["list"],
  initial: ["list"],
  reverse: ["list"],
  compact: ["list"],
  uniq: ["list"],
  without: ["list", "any"],
  has: ["any", "list"],
  slice: ["list", "int", "int"],
  concat: ["list", "list"],
  sortAlpha: ["list"],
  until: ["int"],
  untilStep: ["int", "int", "int"],
  dict: ["string", "any", "string", "any"],
  set: ["fresh", "string", "any"],
  unset: ["map", "string"],
  hasKey: ["map", "string"],
  pluck: ["string", "map", "map"],
  keys: ["map"],
  values: ["map"],
  pick: ["map", "string"],
  omit: ["map", "string"],
  merge: ["fresh", "map"],
  mergeOverwrite: ["fresh", "map"],
  deepCopy: ["any"],
  default: ["any", "any"],
  empty: ["any"],
  coalesce: ["any", "any", "any"],
  ternary: ["any", "any", "bool"],
  toJson: ["any"],
  toPrettyJson: ["any"],
  typeOf: ["any"],
  typeIs: ["string", "any"],
  typeIsLike: ["string", "any"],
  kindOf: ["any"],
  kindIs: ["string", "any"],
  deepEqual: ["any", "any"],
  fail: ["string"],
  hello: [],
  date: ["layout", "time"],
  dateInZone: ["layout", "time", "string"],
  htmlDate: ["time"],
  dateModify: ["string", "time"],
  toDate: ["layout", "string"],
  unixEpoch: ["time"],
  b64enc: ["string"],
  b64dec: ["string"],
  b32enc: ["string"],
  b32dec: ["string"],
  sha1sum: ["string"],
  sha256sum: ["string"],
  adler32sum: ["string"],
  base: ["string"],
  dir: ["string"],
  clean: ["string"],
  ext: ["string"],
  isAbs: ["string"],
  regexMatch: ["regexp", "string"],
  regexFindAll: ["regexp", "string", "int"],
  regexFind: ["regexp", "string"],
  regexReplaceAll: ["regexp", "string", "string"],
  regexReplaceAllLiteral: ["regexp", "string", "string"],
  regexSplit: ["regexp", "string", "int"],
  semver: ["version"],
  semverCompare: ["constraint", "version"],
  urlParse: ["url"],
  urlJoin: ["map"],
  and: ["any", "any", "any"],
  or: ["any", "any", "any"],
  not: ["any"],
  index: ["list", "int"],
  len: ["any"],
  print: ["any", "any"],
  printf: ["format", "any", "any"],
  println: ["any", "any"],
  html: ["any"],
  js: ["any"],
  urlquery: ["any"],
  eq: ["any", "any"],
  ne: ["any", "any"],
  lt: ["any", "any"],
  le: ["any", "any"],
  gt: ["any", "any"],
  ge: ["any", "any"],
};
/** More often than the others: what blueprints use. */
const COMMON = [
  "index",
  "default",
  "toJson",
  "toString",
  "quote",
  "eq",
  "printf",
  "print",
  "len",
  "upper",
  "replace",
  "and",
  "or",
  "not",
  "list",
  "dict",
];
const NAMES = Object.keys(FUNCTIONS);

const FORMATS = [
  "%v",
  "%s",
  "%d",
  "%q",
  "%x",
  "%5d|",
  "%-5s|",
  "%05d",
  "%+v",
  "%#v",
  "%T",
  "%t",
  "%f",
  "%.2f",
  "%e",
  "%g",
  "%c",
  "%U",
  "%o",
  "%O",
  "%b",
  "%X",
  "%08.3f",
  "%+d",
  "% d",
  "%x %X",
  "%[2]v %[1]v",
  "%*d",
  "%.*f",
  "%!",
  "%",
  "%z",
  "%v %v %v",
  "%%",
  "%5.1f",
  "%#x",
  "%#q",
  "%+q",
  "%.3s",
  "%6.2q",
  "%[3]d",
  "%[x]d",
  "%-08d|",
  "%G",
  "%E",
  "%#o",
  "%#U",
  "% x",
  "%#g",
  "%.0f",
  "%s%",
  "%w",
  "%F",
  "%#e",
];
const REGEXPS = [
  "a",
  "a*",
  "(a+)(b*)",
  "[a-z]+",
  "\\d+",
  "\\w",
  "^.",
  "$",
  "b|o",
  "(?i)HELLO",
  "[^a-c]",
  "x{2,3}",
  "(?P<n>o+)",
  "\\bfoo\\b",
  "a**",
  "(",
  "[",
  "\\p{L}+",
  "\\pN",
  "[[:alpha:]]+",
  ".*?o",
  "(?m)^l",
  "(?s).+",
  "",
  "o{0}",
  "(a|ab)(c|bcd)?",
  "\\s+",
  "[\\d-]+",
  "(?:l+)",
  "\\x41|\\x{65}",
  "\\Q.\\E",
  "a{1001}",
  "(?U)o+",
  "é",
  "\\S",
  "[a\\]b]",
  "\\1",
  "(?=a)",
  "[z-a]",
  "\\z",
  "(?i)[k-s]",
];
const LAYOUTS = [
  "2006-01-02",
  "2006-01-02T15:04:05Z07:00",
  "Jan _2 2006 3:04PM",
  "Monday, 02-Jan-06 15:04:05 MST",
  "2006-01-02T15:04:05.000Z",
  "02 Jan 06 15:04 -0700",
  "15:04",
  "2006",
  "x 1/2/06",
  "002 __2",
  ".00 .99",
  "January 2",
  "Janx Mon.",
  "2006-01-02 15:04:05.999999999 -0700 MST",
];
const CONSTRAINTS = [
  ">=1.2",
  "^1.2.3",
  "~1.2",
  "1.x",
  "*",
  "!=1.2.3",
  ">1 , <2",
  "1.0 - 2.0",
  "<2.0.0 || >3",
  "=1.2",
  "=>1",
  "~>1.2.3",
  "1.2.3-rc",
  "bad",
  "<=1.x",
  "!=1.x",
  "<1.x",
];
const VERSIONS = [
  "1.2.3",
  "v1.2",
  "1.3.0",
  "2",
  "1.2.3-rc.1",
  "1.2.3-rc.10+b.1",
  "x.y",
  "01.2",
  "1.2.3.4",
  "v2.0.0-alpha",
  "99999999999999999999.0.0",
];
const URLS = [
  "http://u:p@h.example:80/p%20a?q=1#f",
  "mailto:a@b",
  "/a/b?c",
  "//h/p",
  "http://[::1]:80/",
  "://x",
  "a b",
  "http://h:x/",
  "%zz",
  "a:b",
  "?",
  "#",
  "http://h/%41%2F",
];
const CHARACTERS = [
  "{{",
  "}}",
  "{{-",
  " -}}",
  "(",
  ")",
  "|",
  "$",
  ".",
  ":=",
  "=",
  ",",
  '"',
  "`",
  "'",
  "\\",
  " ",
  "\n",
  "end",
  "else",
  "{",
  "}",
  "/*",
  "*/",
  "é",
  "\u0001",
  "-",
  "1",
  "nil",
  "true",
  "break",
  "x",
];

const PRELUDE = "{{$v := 1}}{{$w := `w`}}{{$i := 0}}";

/** One case. The same seed makes the same one. */
export const caseOf = (seed: number): Case => {
  const next = numbers(seed);
  const chance = (share: number): boolean => next() < share;
  const below = (end: number): number => Math.floor(next() * end);
  const pick = <A>(all: readonly A[]): A => all[below(all.length)] as A;
  const quoted = (word: string): string =>
    chance(0.1) && !word.includes("`") && !word.includes("\r")
      ? `\`${word}\``
      : JSON.stringify(word).replaceAll("\u007f", "\\u007f");
  let budget = 12;
  let inLoop = 0;

  const fallback = (): string => pick(chance(0.06) ? WRONG_FIELDS : FIELDS);
  const parenthesized = (kind: Kind, depth: number): string => `(${pipeline(kind, depth - 1)})`;
  const literalOf = (kind: Kind): string => {
    switch (kind) {
      case "string":
      case "words":
        return quoted(pick(WORDS));
      case "int":
        return chance(0.85) ? pick(INTS.slice(0, 7)) : pick(chance(0.03) ? WRONG_INTS : INTS);
      case "float":
        return chance(0.5) ? pick(["2.5", "1.25", "-3.7", "0.0", "1e21", "123456.789"]) : pick([".f", ".n", ".s"]);
      case "bool":
        return pick(["true", "false", ".b", "(eq 1 1)"]);
      case "list":
        return pick([
          ".l",
          ".ss",
          ".by",
          ".nsl",
          "(list 1 2 3)",
          '(list "b" "a" nil "")',
          '(splitList "," "x,y")',
          "(until 4)",
          "(list)",
          '(list "a" "a" 1 1)',
        ]);
      case "map":
        return pick([
          ".m",
          "(dict)",
          '(dict "a" 1 "b" "x")',
          '(dict "k" (dict "x" 1))',
          ".nm",
          '(dict "a" "" "k" (list 1))',
          '(dict "scheme" "http" "host" "h" "path" "/a b" "query" "q=1" "userinfo" "u:p")',
        ]);
      case "time":
        return pick([
          ".t",
          '(toDate "2006-01-02" "2026-11-27")',
          '(toDate "2006-01-02T15:04:05Z07:00" "2024-02-29T23:59:59+02:00")',
        ]);
      case "format":
        return quoted(chance(0.8) ? pick(FORMATS) : `${pick(FORMATS)} ${pick(WORDS)} ${pick(FORMATS)}`);
      case "regexp":
        return quoted(pick(REGEXPS));
      case "version":
        return quoted(pick(VERSIONS));
      case "constraint":
        return quoted(pick(CONSTRAINTS));
      case "layout":
        return quoted(pick(LAYOUTS));
      case "url":
        return quoted(chance(0.8) ? pick(URLS) : pick(WORDS));
      case "any":
      case "condition":
      case "fresh":
      default:
        return pick([
          () => quoted(pick(WORDS)),
          () => pick(INTS),
          () => pick(["true", "false", "nil", "."]),
          fallback,
          fallback,
          fallback,
        ])();
    }
  };
  const operand = (kind: Kind, depth: number): string => {
    // Of what is no date, sprig's functions show the time of day: nothing to compare.
    if (kind === "time" || kind === "words") return literalOf(kind);
    // What contains itself, Go cannot print.
    if (kind === "fresh") return `(deepCopy ${operand("map", depth)})`;
    if (depth > 0 && chance(0.3))
      return parenthesized(kind, depth) + (chance(0.06) ? pick([".a", ".x", ".Name", ".a.b"]) : "");
    if (chance(0.04)) return chance(0.5) ? fallback() : literalOf(pick(["string", "int", "any", "list", "map"]));
    const fields = TYPED[kind];
    return fields !== undefined && chance(0.35) ? pick(fields) : literalOf(kind);
  };
  const RESULTS: Readonly<Partial<Record<Kind, readonly string[]>>> = {
    string: [
      "upper",
      "lower",
      "trim",
      "toString",
      "quote",
      "printf",
      "print",
      "replace",
      "b64enc",
      "toJson",
      "join",
      "trunc",
      "title",
      "nospace",
      "indent",
      "snakecase",
    ],
    int: ["len", "int", "atoi"],
    bool: ["eq", "lt", "not", "contains", "hasKey", "empty", "has"],
    list: [
      "list",
      "append",
      "splitList",
      "until",
      "rest",
      "sortAlpha",
      "uniq",
      "reverse",
      "keys",
      "values",
      "toStrings",
      "concat",
      "without",
    ],
    map: ["dict", "set", "merge", "pick", "omit", "split", "urlParse", "deepCopy"],
  };
  const call = (kind: Kind, depth: number, isPiped: boolean): string => {
    const fitting = RESULTS[kind];
    const name = fitting !== undefined && chance(0.95) ? pick(fitting) : chance(0.3) ? pick(COMMON) : pick(NAMES);
    let kinds = FUNCTIONS[name] as readonly Kind[];
    if (name === "set" && !isPiped && chance(0.5)) kinds = ["map", "string", "words"];
    if (!kinds.includes("time") && chance(0.08)) kinds = chance(0.5) ? kinds.slice(1) : [...kinds, "any"];
    const given = isPiped ? kinds.slice(0, -1) : kinds;
    return [name, ...given.map((one) => operand(one, depth))].join(" ");
  };
  const pipeline = (kind: Kind, depth: number): string => {
    const fields = TYPED[kind];
    if (fields !== undefined && (depth <= 0 || chance(0.2))) return chance(0.95) ? pick(fields) : fallback();
    if (depth <= 0 || chance(0.25))
      return chance(0.75) ? fallback() : literalOf(kind === "any" ? pick(["string", "int"]) : kind);
    if (fields !== undefined && chance(0.7)) return call(kind, depth - 1, false);
    const stages = 1 + (chance(0.35) ? 1 : 0) + (chance(0.1) ? 1 : 0);
    const commands = [
      chance(0.3)
        ? fallback()
        : call(stages > 1 ? pick(["string", "list", "map", "int", "any"]) : kind, depth - 1, false),
    ];
    // Dates of what is piped would be those of now.
    for (let n = 1; n < stages; n++) {
      let stage = call(kind, depth - 1, true);
      while (/^(?:date|htmlDate|unixEpoch)/u.test(stage)) stage = call(kind, depth - 1, true);
      commands.push(stage);
    }
    return commands.join(pick([" | ", "|", " |"]));
  };

  const open = (): string => (chance(0.12) ? "{{- " : pick(["{{", "{{ "]));
  const close = (): string => (chance(0.12) ? " -}}" : pick(["}}", " }}"]));
  const action = (inner: string): string => open() + inner + close();
  const prose = (): string => pick(["", " ", "text", "\n", " a b ", "x\n\n", "é", "{ ", "}"]);
  const block = (depth: number): string => {
    if (depth <= 0 || budget <= 0) return prose();
    return Array.from({ length: 1 + below(3) }, () => prose() + statement(depth)).join("") + prose();
  };
  const otherwise = (word: string, depth: number): string => {
    if (chance(0.5)) return "";
    return (
      (chance(0.25) ? action(`else ${word} ${pipeline("any", 2)}`) + block(depth - 1) : "") +
      (chance(0.7) ? action("else") + block(depth - 1) : "")
    );
  };
  const range = (): string =>
    pick([() => "", () => "", () => "$v := ", () => "$i, $v := ", () => "$i, $v = ", () => "$v = "])();
  const ranged = (): string =>
    pick([
      () => operand("list", 2),
      () => operand("map", 1),
      () => pick(["3", "0", ".n", "-1", ".u"]),
      () => fallback(),
      () => `until ${pick(["0", "2", "3"])}`,
    ])();
  const statement = (depth: number): string => {
    budget--;
    const roll = next();
    if (roll < 0.45) return action(pipeline("any", 3));
    if (roll < 0.57)
      return action(
        `${chance(0.02) ? "$x =" : pick(["$v :=", "$w :=", "$v =", "$w =", "$x :="])} ${pipeline("any", 2)}`,
      );
    if (roll < 0.7)
      return action(`if ${pipeline("condition", 2)}`) + block(depth - 1) + otherwise("if", depth) + action("end");
    if (roll < 0.79)
      return (
        action(`with ${chance(0.15) ? "$v := " : ""}${pipeline("any", 2)}`) +
        block(depth - 1) +
        otherwise("with", depth) +
        action("end")
      );
    if (roll < 0.92) {
      inLoop++;
      const text = action(`range ${range()}${ranged()}`) + block(depth - 1);
      inLoop--;
      return text + (chance(0.3) ? action("else") + block(depth - 1) : "") + action("end");
    }
    if (roll < 0.94) return inLoop > 0 || chance(0.1) ? action(pick(["break", "continue"])) : "{{- /* none */ -}}";
    if (roll < 0.96)
      return action(`template ${quoted(pick(["t", "u", "nope"]))} ${pick([".", ".m", "", "$.s", '"x"'])}`);
    if (roll < 0.975) return `{{/* a comment */}}`;
    return (
      action(`block ${quoted(pick(["t", "b"]))} ${pick([".", ".l"])}`) + PRELUDE + block(depth - 1) + action("end")
    );
  };
  const broken = (source: string): string => {
    const at = below(source.length + 1);
    const roll = next();
    if (roll < 0.4) return source.slice(0, at) + pick(CHARACTERS) + source.slice(at);
    if (roll < 0.7) return source.slice(0, at) + source.slice(at + 1 + below(3));
    return source.slice(0, at);
  };

  const define = chance(0.15) ? `{{define "t"}}${chance(0.9) ? PRELUDE : ""}${block(1)}{{end}}` : "";
  const prelude = chance(0.95) ? PRELUDE : "";
  let template = define + prelude + block(3);
  // Where it is in the memory of Go tells nothing.
  if (template.includes("sum")) template = template.replaceAll(/\.prof(?![.\w])/gu, ".sec");
  // That of sprig changes the list that it is given: ours does not.
  if (template.includes("sortAlpha")) template = template.replaceAll(/\.ss\b/gu, ".l");
  // A character more or less in what reads dates may show the time of day.
  if (chance(0.12) && !/date|Date/u.test(template)) template = broken(template);

  const scalar = (): Typed =>
    pick([
      () => text(pick(WORDS)),
      () => integer(below(20) - 5),
      () => integer(below(5), "int"),
      () => ({ t: "float", v: pick([0, 1.5, -2.25, 1e21, 1e-7, 100, 123456789.125]) }),
      () => ({ t: "bool", v: chance(0.5) }),
      () => ({ t: "nil" }),
    ])();
  const dictionary = (depth: number): Typed => ({
    t: "map",
    v: {
      a: scalar(),
      b: text(pick(WORDS)),
      deep: depth > 0 ? { t: "map", v: { x: scalar(), l: { t: "list", v: [scalar()] } } } : scalar(),
      ...(chance(0.3) ? { [pick(["k", "z z", "é", "_0"])]: scalar() } : {}),
    },
  });
  const data: Typed =
    !/date/iu.test(template) && chance(0.02)
      ? pick([{ t: "nil" }, text("dot"), { t: "list", v: [integer(1)] }])
      : {
          t: "map",
          v: {
            s: text(pick(WORDS)),
            n: integer(pick([0, 1, 2, 3, 5, -4])),
            u: integer(below(4), "uint8"),
            f: { t: "float", v: pick([0, 0.5, 2.5, 1e20, 1e21, -0.000001, 3]) },
            b: { t: "bool", v: chance(0.5) },
            nl: { t: "nil" },
            l: { t: "list", v: Array.from({ length: below(4) }, scalar) },
            ss: { t: "strings", v: Array.from({ length: below(4) }, () => text(pick(WORDS))) },
            nsl: { t: "strings", v: null },
            m: dictionary(1),
            nm: { t: "map", v: null },
            sm: { t: "stringMap", v: { k: text(pick(WORDS)), b: text("2") } },
            by: bytes(chance(0.1) ? null : pick(WORDS)),
            t: { t: "time", v: String(pick([0, 1_764_201_600, -1, 951_782_399, 4_102_444_800])) },
            named: { t: "named", v: Buffer.from(pick(WORDS)).toString("base64") },
            sec: {
              t: "secret",
              v: {
                Name: text(pick(WORDS)),
                Namespace: text("ns"),
                Labels: { t: "stringMap", v: chance(0.3) ? null : { app: text("web") } },
                Generation: integer(below(3)),
                Data: { t: "x", v: chance(0.1) ? null : { pw: bytes(pick(WORDS)), user: bytes("u") } },
                Type: text("Opaque"),
              },
            },
            // Go shows where it is in memory: it is there only where the template asks for it.
            ...(template.includes(".prof")
              ? {
                  prof: {
                    t: "profile",
                    v: {
                      Bucket: text(pick(WORDS)),
                      ...(chance(0.6) ? { ID: text("id"), Secret: text(pick(WORDS)) } : {}),
                    },
                  },
                }
              : {}),
          },
        };
  return { template, data, missingKey: pick(["error", "error", "default", "zero"]) };
};
