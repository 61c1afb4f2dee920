// Prints values as Go's fmt does: `%v`, and the verbs of printf.
import { type Field, sortedEntries, typeName, type Value } from "./value.ts";

/** The shortest decimal, with an exponent from 21 digits on, as `%v` of a float. */
export const floatText = (value: number): string => {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  const exponent = value === 0 ? 0 : Math.floor(Math.log10(Math.abs(value)));
  if (exponent < -4 || exponent >= 21) return exponential(value);
  return value.toLocaleString("en-US", {
    useGrouping: false,
    maximumFractionDigits: 20,
    maximumSignificantDigits: 21,
  }) === ""
    ? `${value}`
    : plainText(value);
};

const exponential = (value: number): string => value.toExponential().replace(/e([+-])(\d)$/u, "e$10$2");

const plainText = (value: number): string => {
  const shown = `${value}`;
  if (!shown.includes("e")) return shown;
  const [mantissa = "", power = "0"] = shown.split("e");
  const digits = mantissa.replace(/[-.]/gu, "");
  const sign = value < 0 ? "-" : "";
  const places = Number(power);
  return places < 0
    ? `${sign}0.${"0".repeat(-places - 1)}${digits}`
    : `${sign}${digits}${"0".repeat(Math.max(0, places + 1 - digits.length))}`;
};

const printedField = ({ value }: Field): string => print(value);

/** `%v`, inside of another value, too. */
export const print = (value: Value): string => {
  switch (value.kind) {
    case "nil":
      return "<nil>";
    case "bool":
      return value.value ? "true" : "false";
    case "int":
      return `${value.value}`;
    case "float":
      return floatText(value.value);
    case "string":
      return value.value;
    case "bytes":
      return `[${[...value.value].join(" ")}]`;
    case "list":
      return `[${value.value.map(print).join(" ")}]`;
    case "map":
      return `map[${sortedEntries(value.value)
        .map(([name, one]) => `${name}:${print(one)}`)
        .join(" ")}]`;
    case "struct":
      return `{${value.value.map(printedField).join(" ")}}`;
  }
};

/** What an action prints: nothing there is `<no value>`. */
export const printTop = (value: Value): string => (value.kind === "nil" ? "<no value>" : print(value));

const ESCAPES: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

const isPrintable = (letter: string): boolean => letter === " " || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(letter);

/** strconv.Quote */
export const goQuoted = (value: string): string =>
  `"${Array.from(value, (letter) => {
    const simple = ESCAPES[letter];
    if (simple !== undefined) return simple;
    const code = letter.codePointAt(0) ?? 0;
    if (isPrintable(letter)) return letter;
    if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
    return code > 0xff_ff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  }).join("")}"`;

const quotedDeep = (value: Value): string => {
  switch (value.kind) {
    case "string":
      return goQuoted(value.value);
    case "bytes":
      return goQuoted(Buffer.from(value.value).toString());
    case "list":
      return `[${value.value.map(quotedDeep).join(" ")}]`;
    default:
      return print(value);
  }
};

interface Flags {
  readonly plus: boolean;
  readonly minus: boolean;
  readonly sharp: boolean;
  readonly space: boolean;
  readonly zero: boolean;
  readonly width: number | undefined;
  readonly precision: number | undefined;
}

/** Width and precision that are larger make no sense, and much text. */
const WIDEST = 10_000;

const padded = (shown: string, { minus, zero, width }: Flags, isNumber: boolean): string => {
  const missing = Math.max(0, Math.min(width ?? 0, WIDEST) - Array.from(shown).length);
  if (missing === 0) return shown;
  if (minus) return `${shown}${" ".repeat(missing)}`;
  if (!zero) return `${" ".repeat(missing)}${shown}`;
  const sign = isNumber ? (/^[+-]/u.exec(shown)?.[0] ?? "") : "";
  return `${sign}${"0".repeat(missing)}${shown.slice(sign.length)}`;
};

const signed = (shown: string, { plus, space }: Flags): string =>
  shown.startsWith("-") ? shown : `${plus ? "+" : space ? " " : ""}${shown}`;

const hex = (value: Uint8Array, isUpper: boolean): string => {
  const shown = Buffer.from(value).toString("hex");
  return isUpper ? shown.toUpperCase() : shown;
};

const integerIn = (value: number, base: number, { sharp, precision }: Flags, prefix: string): string => {
  const digits = Math.abs(value)
    .toString(base)
    .padStart(precision ?? 0, "0");
  return `${value < 0 ? "-" : ""}${sharp ? prefix : ""}${digits}`;
};

const floatIn = (value: number, verb: string, { precision }: Flags): string => {
  if (!Number.isFinite(value)) return floatText(value);
  const places = Math.min(precision ?? 6, 100);
  switch (verb) {
    case "f":
    case "F":
      return value.toFixed(places);
    case "e":
    case "E": {
      const shown = value.toExponential(places).replace(/e([+-])(\d)$/u, "e$10$2");
      return verb === "E" ? shown.toUpperCase() : shown;
    }
    default:
      return precision === undefined ? floatText(value) : Number(value.toPrecision(Math.max(1, places))).toString();
  }
};

/** One verb for one value; undefined: the verb is not for values of that kind. */
const verbOf = (verb: string, value: Value, flags: Flags): string | undefined => {
  if (verb === "v") {
    const shown = value.kind === "int" || value.kind === "float" ? signed(print(value), flags) : print(value);
    return padded(shown, flags, value.kind === "int" || value.kind === "float");
  }
  if (verb === "T") return padded(typeName(value), flags, false);
  switch (value.kind) {
    case "bool":
      return verb === "t" ? padded(print(value), flags, false) : undefined;
    case "int": {
      const shown = {
        d: () => integerIn(value.value, 10, flags, ""),
        b: () => integerIn(value.value, 2, flags, "0b"),
        o: () => integerIn(value.value, 8, flags, "0"),
        x: () => integerIn(value.value, 16, flags, "0x"),
        X: () => integerIn(value.value, 16, flags, "0X").toUpperCase(),
      }[verb];
      if (shown !== undefined) return padded(signed(shown(), flags), flags, flags.precision === undefined);
      if (verb === "c")
        return padded(String.fromCodePoint(Math.max(0, Math.min(value.value, 0x10_ff_ff))), flags, false);
      if (verb === "q")
        return padded(`'${String.fromCodePoint(Math.max(0, Math.min(value.value, 0x10_ff_ff)))}'`, flags, false);
      return verb === "U" ? `U+${value.value.toString(16).toUpperCase().padStart(4, "0")}` : undefined;
    }
    case "float":
      return "eEfFgG".includes(verb)
        ? padded(signed(floatIn(value.value, verb, flags), flags), flags, true)
        : undefined;
    case "string":
    case "bytes": {
      const whole = value.kind === "string" ? value.value : Buffer.from(value.value).toString();
      const cut = flags.precision === undefined ? whole : Array.from(whole).slice(0, flags.precision).join("");
      if (verb === "s") return padded(cut, flags, false);
      if (verb === "q") return padded(goQuoted(cut), flags, false);
      if (verb === "x" || verb === "X") return padded(hex(Buffer.from(cut), verb === "X"), flags, false);
      return verb === "d" && value.kind === "bytes" ? padded(print(value), flags, false) : undefined;
    }
    case "list":
    case "map":
    case "struct":
      if (verb === "s") return padded(print(value), flags, false);
      return verb === "q" ? padded(quotedDeep(value), flags, false) : undefined;
    default:
      return undefined;
  }
};

const wrongVerb = (verb: string, value: Value): string =>
  value.kind === "nil" ? `%!${verb}(<nil>)` : `%!${verb}(${typeName(value).replace("int64", "int")}=${print(value)})`;

const VERB = /%([-+# 0]*)(\*|\d+)?(?:\.(\*|\d+)?)?([\s\S])?/gu;

/** fmt.Sprintf */
export const sprintf = (format: string, args: readonly Value[]): string => {
  let at = 0;
  const star = (given: string | undefined): number | undefined => {
    if (given !== "*") return given === undefined ? undefined : Math.min(Number(given), WIDEST);
    const value = args[at];
    at += 1;
    return value?.kind === "int" ? Math.min(Math.max(value.value, -WIDEST), WIDEST) : undefined;
  };
  const shown = format.replaceAll(
    VERB,
    (whole: string, marks: string, width?: string, precision?: string, verb?: string) => {
      if (verb === undefined) return "%!(NOVERB)";
      const wide = star(width);
      const places = whole.includes(".") ? (star(precision) ?? 0) : undefined;
      if (verb === "%") return "%";
      const value = args[at];
      at += 1;
      if (value === undefined)
        return `%!${verb}(BADINDEX)`.replace("BADINDEX", "MISSING").replace(`%!${verb}(MISSING)`, `%!${verb}(MISSING)`);
      const flags: Flags = {
        plus: marks.includes("+"),
        minus: marks.includes("-") || (wide ?? 0) < 0,
        sharp: marks.includes("#"),
        space: marks.includes(" "),
        zero: marks.includes("0") && !marks.includes("-"),
        width: wide === undefined ? undefined : Math.abs(wide),
        precision: places,
      };
      return verbOf(verb, value, flags) ?? wrongVerb(verb, value);
    },
  );
  if (at >= args.length) return shown;
  const extra = args
    .slice(at)
    .map((value) => (value.kind === "nil" ? "<nil>" : `${typeName(value).replace("int64", "int")}=${print(value)}`));
  return `${shown}%!(EXTRA ${extra.join(", ")})`;
};

/** fmt.Sprint: a space between two values of which neither is a string. */
export const sprint = (args: readonly Value[]): string =>
  args
    .map((value, at) => {
      const before = args[at - 1];
      return `${before !== undefined && before.kind !== "string" && value.kind !== "string" ? " " : ""}${print(value)}`;
    })
    .join("");
