// sprig's functions of dates. The controller is in UTC.
import { Fault } from "../fault.ts";
import { NIL, text, type Value } from "../value.ts";
import { type FunctionTable, stringOf, strval, wrong } from "./function.ts";

/** A time is carried as its text, in the form in which Go prints it, with the nanoseconds that it has. */
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const two = (value: number): string => `${value}`.padStart(2, "0");

/** The parts of a layout, the longer ones first: https://pkg.go.dev/time#pkg-constants */
const LAYOUT =
  /January|Jan|Monday|Mon|MST|2006|-07:00:00|-07:00|-070000|-0700|-07|Z07:00|Z0700|Z07|[.,]0+|[.,]9+|002|_2006|__2|01|02|03|04|05|06|15|PM|pm|_2|1|2|3|4|5/gu;

interface Zoned {
  /** In ms since the epoch, as if the zone were UTC. */
  readonly local: number;
  readonly offset: number;
  readonly name: string;
}

const offsetText = (minutes: number, colon: string): string => {
  const all = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(all / 60))}${colon}${two(all % 60)}`;
};

const fraction = (ms: number, part: string): string => {
  const digits = `${two(Math.floor(ms / 10))}${ms % 10}`
    .padStart(3, "0")
    .padEnd(Math.max(3, part.length - 1), "0")
    .slice(0, part.length - 1);
  if (part[1] === "0") return `${part[0]}${digits}`;
  const short = digits.replace(/0+$/u, "");
  return short === "" ? "" : `${part[0]}${short}`;
};

const formatted = ({ local, offset, name }: Zoned, layout: string): string => {
  const at = new Date(local);
  const [year, month, day, hour] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), at.getUTCHours()];
  const dayOfYear = Math.floor((Date.UTC(year, month, day) - Date.UTC(year, 0, 1)) / 86_400_000) + 1;
  const zone = (part: string): string =>
    offset === 0 && part.startsWith("Z") ? "Z" : offsetText(offset, part.includes(":") ? ":" : "");
  return layout.replaceAll(LAYOUT, (part) => {
    switch (part) {
      case "January":
        return MONTHS[month] ?? "";
      case "Jan":
        return (MONTHS[month] ?? "").slice(0, 3);
      case "Monday":
        return DAYS[at.getUTCDay()] ?? "";
      case "Mon":
        return (DAYS[at.getUTCDay()] ?? "").slice(0, 3);
      case "MST":
        return name;
      case "2006":
        return `${year}`.padStart(4, "0");
      case "_2006":
        return `_${`${year}`.padStart(4, "0")}`;
      case "06":
        return two(year % 100);
      case "01":
        return two(month + 1);
      case "1":
        return `${month + 1}`;
      case "02":
        return two(day);
      case "_2":
        return `${day}`.padStart(2, " ");
      case "2":
        return `${day}`;
      case "002":
        return `${dayOfYear}`.padStart(3, "0");
      case "__2":
        return `${dayOfYear}`.padStart(3, " ");
      case "15":
        return two(hour);
      case "03":
        return two(hour % 12 || 12);
      case "3":
        return `${hour % 12 || 12}`;
      case "04":
        return two(at.getUTCMinutes());
      case "4":
        return `${at.getUTCMinutes()}`;
      case "05":
        return two(at.getUTCSeconds());
      case "5":
        return `${at.getUTCSeconds()}`;
      case "PM":
        return hour >= 12 ? "PM" : "AM";
      case "pm":
        return hour >= 12 ? "pm" : "am";
      default:
        return /^[.,]/u.test(part) ? fraction(at.getUTCMilliseconds(), part) : zone(part);
    }
  });
};

const utc = (ms: number): Zoned => ({ local: ms, offset: 0, name: "UTC" });

const inZone = (ms: number, zone: string): Zoned => {
  if (zone === "" || zone === "UTC" || zone === "Local") return utc(ms);
  try {
    const parts = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" }).formatToParts(ms);
    const shown = parts.find(({ type }) => type === "timeZoneName")?.value ?? "GMT";
    const [, sign = "+", hours = "0", minutes = "0"] = /([+-])(\d+)(?::(\d+))?/u.exec(shown) ?? [];
    const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -1 : 1);
    const short = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "short" })
      .formatToParts(ms)
      .find(({ type }) => type === "timeZoneName")?.value;
    return { local: ms + offset * 60_000, offset, name: short ?? zone };
  } catch {
    return utc(ms);
  }
};

/** How Go prints a time. */
const GO = "2006-01-02 15:04:05.999999999 -0700 MST";

const timeOf = (value: Value | undefined, now: number): number => {
  if (value?.kind === "int") return value.value * 1000;
  if (value?.kind !== "string") return now;
  const at = Date.parse(value.value.replace(/ ([+-]\d{4}) \S+$/u, "$1").replace(" ", "T"));
  return Number.isNaN(at) ? now : at;
};

/** Parses a time that is written in a layout. */
const parsed = (layout: string, written: string): number => {
  const names: string[] = [];
  const pattern = layout.replaceAll(/[\\^$*+?()[\]{}|/]/gu, String.raw`\$&`).replaceAll(LAYOUT, (part) => {
    names.push(part);
    if (/^[.,]/u.test(part)) return String.raw`([.,]\d+)?`;
    if (/^[Z-]0?7?/u.test(part) && part.includes("07")) return String.raw`(Z|[+-]\d\d:?\d\d(?::?\d\d)?|[+-]\d\d)`;
    if (part === "MST") return "([A-Z]{3,5})";
    if (/^(?:January|Jan|Monday|Mon|PM|pm)$/u.test(part)) return "([A-Za-z]+)";
    if (part === "2006") return String.raw`(\d{4})`;
    return /^(?:1|2|3|4|5|_2)$/u.test(part) ? String.raw`\s?(\d{1,2})` : String.raw`(\d{2})`;
  });
  const found = new RegExp(`^${pattern}$`, "u").exec(written);
  if (found === null)
    throw new Fault(`parsing time ${JSON.stringify(written)} as ${JSON.stringify(layout)}: cannot parse it`);
  const value = (...wanted: readonly string[]): string | undefined =>
    found[1 + names.findIndex((name) => wanted.includes(name))];
  const has = (...wanted: readonly string[]): boolean => names.some((name) => wanted.includes(name));
  const number = (fallback: number, ...wanted: readonly string[]): number =>
    has(...wanted) ? Number(value(...wanted)) : fallback;
  const monthName = has("January", "Jan") ? (value("January", "Jan") ?? "") : undefined;
  const month =
    monthName === undefined
      ? number(1, "01", "1")
      : MONTHS.findIndex((one) => one.slice(0, 3) === monthName.slice(0, 3)) + 1;
  const short = number(0, "06");
  const year = has("06") ? short + (short >= 69 ? 1900 : 2000) : number(0, "2006");
  const half = has("PM", "pm") ? (value("PM", "pm") ?? "").toUpperCase() : undefined;
  const given = number(0, "15", "03", "3");
  const hour = half === undefined ? given : (given % 12) + (half === "PM" ? 12 : 0);
  const zone = names.findIndex((name) => name.includes("07"));
  const shown = zone === -1 ? "Z" : (found[zone + 1] ?? "Z");
  const [, sign = "+", hours = "0", minutes = "0"] = /^([+-])(\d\d):?(\d\d)?/u.exec(shown) ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -1 : 1);
  const part = names.findIndex((name) => /^[.,]/u.test(name));
  const ms = part === -1 ? 0 : Math.floor(Number(`0${(found[part + 1] ?? ".0").replace(",", ".")}`) * 1000);
  const at = Date.UTC(
    2000,
    month - 1,
    number(1, "02", "2", "_2"),
    hour,
    number(0, "04", "4"),
    number(0, "05", "5"),
    ms,
  );
  return new Date(at).setUTCFullYear(year) - offset * 60_000;
};

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const durationOf = (value: string): number | undefined => {
  if (!/^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/u.test(value) && !/^[+-]?0$/u.test(value))
    return undefined;
  const all = [...value.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)/gu)];
  const sum = all.reduce((ms, [, amount = "0", unit = "s"]) => ms + Number(amount) * (UNITS[unit] ?? 0), 0);
  return value.startsWith("-") ? -sum : sum;
};

const durationText = (ms: number): string => {
  const seconds = Math.trunc(ms / 1000);
  if (seconds === 0) return "0s";
  const all = Math.abs(seconds);
  const [h, m, s] = [Math.floor(all / 3600), Math.floor((all % 3600) / 60), all % 60];
  return `${seconds < 0 ? "-" : ""}${h > 0 ? `${h}h` : ""}${h > 0 || m > 0 ? `${m}m` : ""}${s}s`;
};

export const dates: FunctionTable = {
  now: { arity: [0, 0], call: (_, { now }) => text(formatted(utc(now), GO)) },
  date: { arity: [2, 2], call: ([layout, at], { now }) => text(formatted(utc(timeOf(at, now)), stringOf(layout))) },
  dateInZone: {
    arity: [3, 3],
    call: ([layout, at, zone], { now }) => text(formatted(inZone(timeOf(at, now), stringOf(zone)), stringOf(layout))),
  },
  date_in_zone: {
    arity: [3, 3],
    call: ([layout, at, zone], { now }) => text(formatted(inZone(timeOf(at, now), stringOf(zone)), stringOf(layout))),
  },
  htmlDate: { arity: [1, 1], call: ([at], { now }) => text(formatted(utc(timeOf(at, now)), "2006-01-02")) },
  htmlDateInZone: {
    arity: [2, 2],
    call: ([at, zone], { now }) => text(formatted(inZone(timeOf(at, now), stringOf(zone)), "2006-01-02")),
  },
  dateModify: {
    arity: [2, 2],
    call: ([by, at], { now }) => text(formatted(utc(timeOf(at, now) + (durationOf(stringOf(by)) ?? 0)), GO)),
  },
  date_modify: {
    arity: [2, 2],
    call: ([by, at], { now }) => text(formatted(utc(timeOf(at, now) + (durationOf(stringOf(by)) ?? 0)), GO)),
  },
  toDate: {
    arity: [2, 2],
    call: ([layout, value]) => {
      try {
        return text(formatted(utc(parsed(stringOf(layout), stringOf(value))), GO));
      } catch (error) {
        if (error instanceof Fault && error.message.startsWith("parsing time"))
          return text("0001-01-01 00:00:00 +0000 UTC");
        throw error;
      }
    },
  },
  ago: { arity: [1, 1], call: ([at], { now }) => text(durationText(now - timeOf(at, now))) },
  unixEpoch: {
    arity: [1, 1],
    call: ([at], { now }) => (at === undefined ? wrong(at, "time") : text(`${Math.floor(timeOf(at, now) / 1000)}`)),
  },
  duration: {
    arity: [1, 1],
    call: ([value = NIL]) => {
      const seconds = Number(strval(value));
      return text(durationText(Number.isNaN(seconds) ? 0 : seconds * 1000));
    },
  },
};
