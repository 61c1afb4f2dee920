// Prints values as Go's package fmt does.
import type { Context } from "../execute/context.ts";
import { civil, MONTHS } from "../time/calendar.ts";
import { formatTime, STRING_LAYOUT } from "../time/format-time.ts";
import type { GoTime } from "../time/go-time.ts";
import { bytesOfRune, codesOf, runeAt } from "../value/bytes.ts";
import { isPrint } from "../value/unicode.ts";
import { type Field, nameOfType, pointerTo, STRING, type StructType, type Type } from "../value/type.ts";
import { ofInteger, ofString, sortedEntries, typeOf, type Value, type Version } from "../value/value.ts";
import { versionText } from "../value/version.ts";
import { formatFloat } from "./float.ts";
import { canBackquote, quote, quoteRune } from "./quote.ts";

interface Flags {
  minus: boolean;
  plus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  plusV: boolean;
  sharpV: boolean;
  width: number | undefined;
  precision: number | undefined;
}

const noFlags = (): Flags => ({
  minus: false,
  plus: false,
  sharp: false,
  space: false,
  zero: false,
  plusV: false,
  sharpV: false,
  width: undefined,
  precision: undefined,
});

/** Go bounds widths and precisions by this. */
const LARGEST = 1_000_000;
/** Values nest no deeper than this, unless they contain themselves. */
const DEPTH = 200;
/** Where pointers point to is nobody's business. */
const ADDRESS = 0xc0_0000_0000n;

const isString = (value: Value): boolean => value.is === "string";
const isMissing = (value: Value): boolean => value.is === "none" || value.is === "nil";
const typeName = (value: Value): string => nameOfType(typeOf(value) as Type);

const UINT64: Type & { readonly kind: "uint64" } = { kind: "uint64" };
const INT64: Type & { readonly kind: "int64" } = { kind: "int64" };
const field = (name: string, type: Type): Field => ({ name, type });
const LOCATION_POINTER = pointerTo({ kind: "struct", name: "time.Location", fields: [] });
const TIME_FIELDS: StructType = {
  kind: "struct",
  name: "time.Time",
  fields: [field("wall", UINT64), field("ext", INT64), field("loc", LOCATION_POINTER)],
};
const YEAR_1 = 62_135_596_800n;

/** What Go shows of a time where its text is not asked for. */
const fieldsOfTime = ({ seconds, nanos, zone }: GoTime): Value => ({
  is: "struct",
  type: TIME_FIELDS,
  fields: [
    ofInteger(UINT64, BigInt(nanos)),
    ofInteger(INT64, seconds + YEAR_1),
    { is: "pointer", type: LOCATION_POINTER, to: zone === "UTC" ? undefined : { is: "nil" } },
  ],
});
const VERSION_FIELDS: StructType = {
  kind: "struct",
  name: "semver.Version",
  fields: [
    ...["major", "minor", "patch"].map((name) => field(name, INT64)),
    ...["pre", "metadata", "original"].map((name) => field(name, STRING)),
  ],
};
const VERSION_POINTER = pointerTo(VERSION_FIELDS);
const fieldsOfVersion = ({ major, minor, patch, prerelease, metadata, original }: Version): Value => ({
  is: "struct",
  type: VERSION_FIELDS,
  fields: [
    ...[major, minor, patch].map((part) => ofInteger(INT64, part)),
    ...[prerelease, metadata, original].map(ofString),
  ],
});

export interface Printer {
  readonly printf: (format: string, args: readonly Value[]) => string;
  readonly print: (args: readonly Value[]) => string;
  readonly println: (args: readonly Value[]) => string;
}

const runeCount = (bytes: string): number => {
  let count = 0;
  for (let at = 0; at < bytes.length; count++) at += runeAt(bytes, at).size;
  return count;
};

const runeOf = (value: bigint): number => {
  const unsigned = BigInt.asUintN(64, value);
  return unsigned > 0x10_ffffn ? 0xfffd : Number(unsigned);
};

/** The point, and the zeros, that the flag # asks for. */
const withPoint = (text: string, verb: string, precision: number): string => {
  let digits = "vgGx".includes(verb) ? (precision === -1 ? 6 : precision) : 0;
  const cut =
    /^(?:[^pPeE]*)/u.exec(verb === "x" || verb === "X" ? text.replace(/e/giu, "_") : text)?.[0].length ?? text.length;
  const head = text.slice(0, cut);
  let isNonzero = false;
  for (const char of head.slice(1)) {
    if (char === ".") continue;
    if (char !== "0") isNonzero = true;
    if (isNonzero) digits--;
  }
  const pointed = head.includes(".") ? head : `${head}.`;
  if (!head.includes(".") && head.length === 2 && head.charAt(1) === "0") digits--;
  return pointed + "0".repeat(Math.max(digits, 0)) + text.slice(cut);
};

const numberAt = (
  format: string,
  from: number,
  to: number,
): { readonly value: number | undefined; readonly next: number } => {
  let value: number | undefined;
  let next = from;
  for (; next < to; next++) {
    const digit = format.charCodeAt(next) - 48;
    if (digit < 0 || digit > 9) break;
    if ((value ?? 0) > LARGEST) return { value: undefined, next: to };
    value = (value ?? 0) * 10 + digit;
  }
  return { value: from >= to ? undefined : value, next: from >= to ? to : next };
};

const intArgument = (value: Value | undefined): number | undefined =>
  value?.is === "int" && value.value <= BigInt(LARGEST) && value.value >= -BigInt(LARGEST)
    ? Number(value.value)
    : undefined;

export const printer = (context: Pick<Context, "spend" | "claim">): Printer => {
  let out = "";
  let flags = noFlags();
  let isErroring = false;

  const write = (text: string): void => {
    out += text;
    if (out.length > 65_536) context.claim(out.length);
  };
  const padding = (count: number): string => {
    if (count <= 0) return "";
    context.claim(count);
    return (flags.zero && !flags.minus ? "0" : " ").repeat(count);
  };
  const pad = (text: string): void => {
    if (flags.width === undefined || flags.width === 0) return write(text);
    const spaces = padding(flags.width - runeCount(text));
    write(flags.minus ? text + spaces : spaces + text);
  };
  const padWithoutZeros = (text: string): void => {
    const { zero } = flags;
    flags.zero = false;
    pad(text);
    flags.zero = zero;
  };
  const truncated = (text: string): string => {
    if (flags.precision === undefined) return text;
    let at = 0;
    for (let count = 0; count < flags.precision && at < text.length; count++) at += runeAt(text, at).size;
    return text.slice(0, at);
  };

  const badVerb = (verb: string, value: Value): void => {
    isErroring = true;
    write(`%!${verb}(`);
    if (isMissing(value)) write("<nil>");
    else {
      write(`${typeName(value)}=`);
      printValue(value, "v", 0);
    }
    write(")");
    isErroring = false;
  };

  const integer = (value: bigint, base: number, verb: string, isUpper: boolean): void => {
    const isNegative = value < 0n;
    let precision = 0;
    if (flags.precision !== undefined) {
      precision = flags.precision;
      if (precision === 0 && value === 0n) {
        const { zero } = flags;
        flags.zero = false;
        write(padding(flags.width ?? 0));
        flags.zero = zero;
        return;
      }
    } else if (flags.zero && !flags.minus && flags.width !== undefined) {
      precision = flags.width;
      if (isNegative || flags.plus || flags.space) precision--;
    }
    context.claim(precision);
    let digits = (isNegative ? -value : value).toString(base).padStart(precision, "0");
    if (isUpper) digits = digits.toUpperCase();
    if (flags.sharp) {
      if (base === 2) digits = `0b${digits}`;
      else if (base === 8 && !digits.startsWith("0")) digits = `0${digits}`;
      else if (base === 16) digits = `${isUpper ? "0X" : "0x"}${digits}`;
    }
    if (verb === "O") digits = `0o${digits}`;
    padWithoutZeros(`${isNegative ? "-" : flags.plus ? "+" : flags.space ? " " : ""}${digits}`);
  };
  const hexOf = (value: bigint, hasPrefix: boolean): void => {
    const { sharp } = flags;
    flags.sharp = hasPrefix;
    integer(value, 16, "v", false);
    flags.sharp = sharp;
  };
  const unicode = (value: bigint): void => {
    const unsigned = BigInt.asUintN(64, value);
    const precision = Math.max(flags.precision ?? 4, 4);
    context.claim(precision);
    const rune = Number(unsigned);
    const shown = flags.sharp && rune <= 0x10_ffff && isPrint(rune) ? ` '${bytesOfRune(rune)}'` : "";
    padWithoutZeros(`U+${unsigned.toString(16).toUpperCase().padStart(precision, "0")}${shown}`);
  };
  const formatInteger = (value: bigint, verb: string, of: Value): void => {
    switch (verb) {
      case "v":
        if (flags.sharpV && of.is === "int" && of.type.kind.startsWith("u")) return hexOf(value, true);
        return integer(value, 10, verb, false);
      case "d":
        return integer(value, 10, verb, false);
      case "b":
        return integer(value, 2, verb, false);
      case "o":
      case "O":
        return integer(value, 8, verb, false);
      case "x":
      case "X":
        return integer(value, 16, verb, verb === "X");
      case "c":
        return pad(bytesOfRune(runeOf(value)));
      case "q":
        return pad(quoteRune(runeOf(value), flags.plus));
      case "U":
        return unicode(value);
      default:
        return badVerb(verb, of);
    }
  };

  const float = (value: number, verb: string, fallback: number): void => {
    const precision = flags.precision ?? fallback;
    context.claim(precision);
    let text = formatFloat(value, verb, precision);
    if (!/^[+-]/u.test(text)) text = `+${text}`;
    if (flags.space && text.startsWith("+") && !flags.plus) text = ` ${text.slice(1)}`;
    if (text.charAt(1) === "I" || text.charAt(1) === "N")
      return padWithoutZeros(
        text.charAt(1) === "N" && !flags.space && !flags.plus
          ? text.slice(1)
          : text.startsWith("+") && !flags.plus
            ? text
            : text,
      );
    if (flags.sharp && verb !== "b") text = withPoint(text, verb, precision);
    if (flags.plus || !text.startsWith("+")) {
      if (flags.zero && !flags.minus && flags.width !== undefined && flags.width > text.length) {
        write(text.charAt(0));
        write(padding(flags.width - text.length));
        return write(text.slice(1));
      }
      return pad(text);
    }
    pad(text.slice(1));
  };
  const formatFloatValue = (value: number, verb: string, of: Value): void => {
    switch (verb) {
      case "v":
        return float(value, "g", -1);
      case "b":
      case "g":
      case "G":
      case "x":
      case "X":
        return float(value, verb, -1);
      case "f":
      case "e":
      case "E":
        return float(value, verb, 6);
      case "F":
        return float(value, "f", 6);
      default:
        return badVerb(verb, of);
    }
  };

  const hexBytes = (bytes: string, isUpper: boolean): void => {
    const shown = flags.precision === undefined ? bytes : bytes.slice(0, flags.precision);
    if (shown === "") return write(padding(flags.width ?? 0));
    const prefix = flags.sharp ? (isUpper ? "0X" : "0x") : "";
    const digits = codesOf(shown).map((code) => code.toString(16).padStart(2, "0"));
    const joined = flags.space
      ? digits.map((two) => (isUpper ? two.toUpperCase() : two)).join(` ${prefix}`)
      : digits.join("");
    const text = prefix + (isUpper && !flags.space ? joined.toUpperCase() : joined);
    const spaces = padding((flags.width ?? 0) - text.length);
    write(flags.minus ? text + spaces : spaces + text);
  };
  const quoted = (text: string): void => {
    const cut = truncated(text);
    pad(flags.sharp && canBackquote(cut) ? `\`${cut}\`` : quote(cut, flags.plus));
  };
  const string = (text: string, verb: string, of: Value): void => {
    context.claim(text.length);
    switch (verb) {
      case "v":
        return flags.sharpV ? quoted(text) : pad(truncated(text));
      case "s":
        return pad(truncated(text));
      case "x":
      case "X":
        return hexBytes(text, verb === "X");
      case "q":
        return quoted(text);
      default:
        return badVerb(verb, of);
    }
  };

  const list = (items: readonly Value[], verb: string, depth: number): void => {
    write(flags.sharpV ? "{" : "[");
    items.forEach((item, n) => {
      if (n > 0) write(flags.sharpV ? ", " : " ");
      printValue(item, verb, depth + 1);
    });
    write(flags.sharpV ? "}" : "]");
  };
  const bytes = (value: string, verb: string): void => {
    switch (verb) {
      case "s":
        return pad(truncated(value));
      case "x":
      case "X":
        return hexBytes(value, verb === "X");
      case "q":
        return quoted(value);
      default:
    }
    write("[");
    codesOf(value).forEach((byte, n) => {
      if (n > 0) write(" ");
      const code = BigInt(byte);
      if (verb === "v" || verb === "d") integer(code, 10, verb, false);
      else formatInteger(code, verb, { is: "int", type: { kind: "uint8" }, value: code });
    });
    write("]");
  };
  const goBytes = (value: string | undefined, name: string): void => {
    write(name);
    if (value === undefined) return write("(nil)");
    write("{");
    codesOf(value).forEach((byte, n) => {
      if (n > 0) write(", ");
      hexOf(BigInt(byte), true);
    });
    write("}");
  };
  const address = (value: Value, isNil: boolean, verb: string): void => {
    const at = isNil ? 0n : ADDRESS;
    if (verb === "v" && flags.sharpV) {
      write(`(${typeName(value)})(`);
      if (isNil) write("nil");
      else hexOf(at, true);
      return write(")");
    }
    if (verb === "v" && isNil) return pad("<nil>");
    if (verb === "v" || verb === "p") return hexOf(at, !flags.sharp);
    if ("bodxX".includes(verb)) return formatInteger(at, verb, value);
    badVerb(verb, value);
  };

  const hasText = (verb: string): boolean => !isErroring && !flags.sharpV && "vsxXq".includes(verb);

  /** As Go would write it in a program. */
  const goTime = (time: GoTime): void => {
    const { year, month, day, hour, minute, second } = civil(time);
    const zone = time.zone === "UTC" ? "time.UTC" : `time.Location(${quote(time.zone)})`;
    write(
      `time.Date(${year}, time.${MONTHS[month - 1]}, ${day}, ${hour}, ${minute}, ${second}, ${time.nanos}, ${zone})`,
    );
  };

  const printValue = (value: Value, verb: string, depth: number): void => {
    context.spend(0.1);
    if (depth > DEPTH) context.claim(Infinity);
    switch (value.is) {
      case "none":
      case "nil":
        if (flags.sharpV && depth > 0) return write("interface {}(nil)");
        // Of an element that holds nothing the verb does not matter.
        return write("<nil>");
      case "bool":
        return verb === "t" || verb === "v" ? pad(value.value ? "true" : "false") : badVerb(verb, value);
      case "int":
        return formatInteger(value.value, verb, value);
      case "float":
        return formatFloatValue(value.value, verb, value);
      case "string":
        return string(value.value, verb, value);
      case "bytes":
        if (flags.sharpV && (verb === "v" || verb === "d"))
          return goBytes(value.value, depth > 0 ? "[]uint8" : "[]byte");
        return bytes(value.value ?? "", verb);
      case "list":
        if (flags.sharpV) {
          write(typeName(value));
          if (value.items === undefined) return write("(nil)");
        }
        return list(value.items ?? [], verb, depth);
      case "map": {
        if (flags.sharpV) {
          write(typeName(value));
          if (value.entries === undefined) return write("(nil)");
          write("{");
        } else write("map[");
        sortedEntries(value).forEach(([key, item], n) => {
          if (n > 0) write(flags.sharpV ? ", " : " ");
          string(key, verb, { is: "string", type: { kind: "string" }, value: key });
          write(":");
          printValue(item, verb, depth + 1);
        });
        return write(flags.sharpV ? "}" : "]");
      }
      case "struct":
        if (flags.sharpV) write(value.type.name);
        write("{");
        value.fields.forEach((field, n) => {
          if (n > 0) write(flags.sharpV ? ", " : " ");
          if (flags.plusV || flags.sharpV) write(`${value.type.fields[n]?.name ?? ""}:`);
          printValue(field, verb, depth + 1);
        });
        return write("}");
      case "pointer":
        if (depth === 0 && value.to !== undefined && ["struct", "map", "list", "bytes"].includes(value.to.is)) {
          write("&");
          return printValue(value.to, verb, depth + 1);
        }
        return address(value, value.to === undefined, verb);
      case "time":
        if (flags.sharpV && !isErroring) return goTime(value.value);
        return hasText(verb)
          ? string(formatTime(value.value, STRING_LAYOUT), verb, value)
          : printValue(fieldsOfTime(value.value), verb, depth);
      case "semver":
        return hasText(verb)
          ? string(versionText(value.value), verb, value)
          : printValue({ is: "pointer", type: VERSION_POINTER, to: fieldsOfVersion(value.value) }, verb, depth);
      default:
    }
  };
  const printArgument = (value: Value, verb: string): void => {
    context.spend(1);
    if (isMissing(value)) return verb === "T" || verb === "v" ? pad("<nil>") : badVerb(verb, value);
    if (verb === "T") return pad(truncated(typeName(value)));
    if (verb === "p") {
      if (["list", "map", "bytes", "pointer", "semver"].includes(value.is)) return address(value, false, verb);
      return badVerb(verb, value);
    }
    if (verb === "w") return badVerb(verb, value);
    printValue(value, verb, 0);
  };

  const begin = (): void => {
    out = "";
    flags = noFlags();
  };
  const end = (): string => {
    context.claim(out.length);
    return out;
  };

  const printf = (format: string, args: readonly Value[]): string => {
    begin();
    context.claim(format.length);
    const to = format.length;
    let argument = 0;
    let isReordered = false;
    for (let at = 0; at < to; ) {
      const percent = format.indexOf("%", at);
      write(format.slice(at, percent < 0 ? to : percent));
      if (percent < 0) break;
      context.spend(1);
      at = percent + 1;
      flags = noFlags();
      let isGood = true;
      let isAfterIndex = false;
      for (; at < to; at++) {
        const char = format.charAt(at);
        if (char === "#") flags.sharp = true;
        else if (char === "0") flags.zero = true;
        else if (char === "+") flags.plus = true;
        else if (char === "-") flags.minus = true;
        else if (char === " ") flags.space = true;
        else break;
      }
      const index = (): void => {
        if (format.charAt(at) !== "[") {
          isAfterIndex = false;
          return;
        }
        isReordered = true;
        const close = to - at < 3 ? -1 : format.indexOf("]", at);
        if (close < 0) {
          at += 1;
          isGood = false;
          isAfterIndex = false;
          return;
        }
        const { value, next } = numberAt(format, at + 1, close);
        at = close + 1;
        const isNumber = value !== undefined && next === close;
        if (isNumber && value >= 1 && value <= args.length) argument = value - 1;
        else isGood = false;
        isAfterIndex = isNumber;
      };
      index();
      if (format.charAt(at) === "*") {
        at++;
        const width = intArgument(args[argument]);
        if (argument < args.length) argument++;
        if (width === undefined) write("%!(BADWIDTH)");
        flags.width = width;
        if (width !== undefined && width < 0) {
          flags.width = -width;
          flags.minus = true;
          flags.zero = false;
        }
        isAfterIndex = false;
      } else {
        const { value, next } = numberAt(format, at, to);
        flags.width = value;
        at = next;
        if (isAfterIndex && value !== undefined) isGood = false;
      }
      if (at + 1 < to && format.charAt(at) === ".") {
        at++;
        if (isAfterIndex) isGood = false;
        index();
        if (format.charAt(at) === "*") {
          at++;
          const precision = intArgument(args[argument]);
          if (argument < args.length) argument++;
          flags.precision = precision !== undefined && precision >= 0 ? precision : undefined;
          if (flags.precision === undefined) write("%!(BADPREC)");
          isAfterIndex = false;
        } else {
          const { value, next } = numberAt(format, at, to);
          flags.precision = value ?? 0;
          at = next;
        }
      }
      if (!isAfterIndex) index();
      if (at >= to) {
        write("%!(NOVERB)");
        break;
      }
      const { rune, size } = runeAt(format, at);
      const verb = bytesOfRune(rune);
      at += size;
      const value = args[argument];
      if (verb === "%") write("%");
      else if (!isGood) write(`%!${verb}(BADINDEX)`);
      else if (value === undefined) write(`%!${verb}(MISSING)`);
      else {
        if (verb === "v" || verb === "w") {
          flags.sharpV = flags.sharp;
          flags.sharp = false;
          flags.plusV = flags.plus;
          flags.plus = false;
        }
        printArgument(value, verb);
        argument++;
      }
    }
    if (!isReordered && argument < args.length) {
      flags = noFlags();
      write("%!(EXTRA ");
      args.slice(argument).forEach((value, n) => {
        if (n > 0) write(", ");
        if (isMissing(value)) return write("<nil>");
        write(`${typeName(value)}=`);
        printArgument(value, "v");
      });
      write(")");
    }
    return end();
  };

  return {
    printf,
    print: (args) => {
      begin();
      let wasString = false;
      args.forEach((value, n) => {
        const is = isString(value);
        if (n > 0 && !is && !wasString) write(" ");
        printArgument(value, "v");
        wasString = is;
      });
      return end();
    },
    println: (args) => {
      begin();
      args.forEach((value, n) => {
        if (n > 0) write(" ");
        printArgument(value, "v");
      });
      write("\n");
      return end();
    },
  };
};
