// Reads times by a layout, as Go's package time does.
import { daysInMonth, daysOf, isLeap, MONTHS, WEEKDAYS } from "./calendar.ts";
import type { GoTime } from "./go-time.ts";
import { elementsOf } from "./layout.ts";

class NoTime extends Error {}
const refuse = (): never => {
  throw new NoTime();
};

const twoDigits = (text: string, isFixed: boolean): readonly [number, string] => {
  const match = (isFixed ? /^[0-9]{2}/u : /^[0-9]{1,2}/u).exec(text);
  return match === null ? refuse() : [Number(match[0]), text.slice(match[0].length)];
};
const named = (names: readonly string[], text: string): readonly [number, string] => {
  const n = names.findIndex((name) => text.slice(0, name.length).toLowerCase() === name.toLowerCase());
  return n < 0 ? refuse() : [n, text.slice(names[n]?.length)];
};
const shortNames = (names: readonly string[]): readonly string[] => names.map((name) => name.slice(0, 3));

const OFFSETS: Readonly<Record<string, RegExp>> = {
  "0700": /^([+-])([0-9]{2})([0-9]{2})/u,
  "07:00": /^([+-])([0-9]{2}):([0-9]{2})/u,
  "07": /^([+-])([0-9]{2})/u,
  "070000": /^([+-])([0-9]{2})([0-9]{2})([0-9]{2})/u,
  "07:00:00": /^([+-])([0-9]{2}):([0-9]{2}):([0-9]{2})/u,
};

/** The abbreviation of a zone that a text begins with. */
const zoneName = (text: string): string => {
  if (/^(?:ChST|MeST)/u.test(text)) return text.slice(0, 4);
  const gmt = /^GMT(?:[+-][0-9]{1,2})?/u.exec(text)?.[0];
  if (gmt !== undefined) return gmt;
  if (/^[+-]/u.test(text)) return /^[+-][0-9]{2}(?:[0-9]{2})?/u.exec(text)?.[0] ?? refuse();
  const capitals = /^[A-Z]*/u.exec(text)?.[0] ?? "";
  if (capitals.length === 3) return capitals;
  if (capitals.length === 4 && (capitals.endsWith("T") || capitals === "WITA")) return capitals;
  if (capitals.length === 5 && capitals.endsWith("T")) return capitals;
  return refuse();
};

interface Read {
  year: bigint;
  month: number;
  day: number;
  yearDay: number;
  hour: number;
  minute: number;
  second: number;
  nanos: number;
  isAfternoon: boolean | undefined;
  offset: number | undefined;
  zone: string | undefined;
}

const fraction = (text: string, read: Read): string => {
  const match = /^[.,]([0-9]+)/u.exec(text);
  if (match === null) return text;
  read.nanos = Number((match[1] ?? "").slice(0, 9).padEnd(9, "0"));
  return text.slice(match[0].length);
};

const element = (name: string, text: string, read: Read, hasFraction: boolean): string => {
  switch (name) {
    case "2006": {
      const match = /^[0-9]{4}/u.exec(text);
      if (match === null) return refuse();
      read.year = BigInt(match[0]);
      return text.slice(4);
    }
    case "06": {
      const [value, rest] = twoDigits(text, true);
      read.year = BigInt(value + (value >= 69 ? 1900 : 2000));
      return rest;
    }
    case "January":
    case "Jan": {
      const [n, rest] = named(name === "Jan" ? shortNames(MONTHS) : MONTHS, text);
      read.month = n + 1;
      return rest;
    }
    case "1":
    case "01": {
      const [value, rest] = twoDigits(text, name === "01");
      if (value < 1 || value > 12) return refuse();
      read.month = value;
      return rest;
    }
    case "Monday":
      return named(WEEKDAYS, text)[1];
    case "Mon":
      return named(shortNames(WEEKDAYS), text)[1];
    case "2":
    case "_2":
    case "02": {
      const [value, rest] = twoDigits(name === "_2" && text.startsWith(" ") ? text.slice(1) : text, name === "02");
      read.day = value;
      return rest;
    }
    case "__2":
    case "002": {
      const match = /^[0-9]{3}/u.exec(
        name === "__2" ? text.slice(0, 3).replace(/^ {1,2}/u, (spaces) => "0".repeat(spaces.length)) : text,
      );
      if (match === null) return refuse();
      read.yearDay = Number(match[0]);
      return text.slice(3);
    }
    case "15": {
      const [value, rest] = twoDigits(text, false);
      if (value >= 24) return refuse();
      read.hour = value;
      return rest;
    }
    case "3":
    case "03": {
      const [value, rest] = twoDigits(text, name === "03");
      if (value > 12) return refuse();
      read.hour = value;
      return rest;
    }
    case "4":
    case "04": {
      const [value, rest] = twoDigits(text, name === "04");
      if (value >= 60) return refuse();
      read.minute = value;
      return rest;
    }
    case "5":
    case "05": {
      const [value, rest] = twoDigits(text, name === "05");
      if (value >= 60) return refuse();
      read.second = value;
      // A fraction may follow that the layout does not name.
      return hasFraction ? rest : fraction(rest, read);
    }
    case "PM":
    case "pm": {
      const half = text.slice(0, 2);
      const isAfternoon = half === (name === "PM" ? "PM" : "pm");
      if (!isAfternoon && half !== (name === "PM" ? "AM" : "am")) return refuse();
      read.isAfternoon = isAfternoon;
      return text.slice(2);
    }
    case "MST": {
      if (text.startsWith("UTC")) {
        read.offset = 0;
        read.zone = "UTC";
        return text.slice(3);
      }
      const zone = zoneName(text);
      read.zone = zone;
      return text.slice(zone.length);
    }
    default: {
      if (name.startsWith("Z") && text.startsWith("Z")) {
        read.offset = 0;
        read.zone = "UTC";
        return text.slice(1);
      }
      const match = OFFSETS[name.slice(1)]?.exec(text);
      if (match === undefined || match === null) return refuse();
      const [matched, sign, hours = "0", minutes = "0", seconds = "0"] = match;
      if (Number(hours) > 24 || Number(minutes) > 60 || Number(seconds) > 60) return refuse();
      read.offset = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * (sign === "-" ? -1 : 1);
      return text.slice(matched.length);
    }
  }
};

/** Skips what the layout has literally; a space there is any number of spaces. */
const literal = (prefix: string, text: string): string => {
  let rest = text;
  for (let at = 0; at < prefix.length; at++) {
    if (prefix.charAt(at) === " ") {
      if (rest !== "" && !rest.startsWith(" ")) return refuse();
      while (prefix.charAt(at + 1) === " ") at++;
      rest = rest.replace(/^ +/u, "");
    } else if (rest.charAt(0) !== prefix.charAt(at) || rest === "") return refuse();
    else rest = rest.slice(1);
  }
  return rest;
};

const timeOf = (read: Read): GoTime => {
  if (read.isAfternoon === true && read.hour < 12) read.hour += 12;
  else if (read.isAfternoon === false && read.hour === 12) read.hour = 0;
  let { month, day } = read;
  if (read.yearDay >= 0) {
    const length = isLeap(read.year) ? 366 : 365;
    if (read.yearDay < 1 || read.yearDay > length) refuse();
    let ofYear = read.yearDay;
    let ofMonth = 1;
    while (ofYear > daysInMonth(read.year, ofMonth)) ofYear -= daysInMonth(read.year, ofMonth++);
    if ((month >= 0 && month !== ofMonth) || (day >= 0 && day !== ofYear)) refuse();
    month = ofMonth;
    day = ofYear;
  } else {
    if (month < 0) month = 1;
    if (day < 0) day = 1;
  }
  if (day < 1 || day > daysInMonth(read.year, month)) refuse();
  const local = daysOf(read.year, month, day) * 86_400n + BigInt(read.hour * 3600 + read.minute * 60 + read.second);
  const gmt = /^GMT([+-][0-9]+)$/u.exec(read.zone ?? "")?.[1];
  const offset = read.offset ?? (gmt === undefined ? 0 : Number(gmt) * 3600);
  const zone = read.offset === undefined ? (read.zone ?? "UTC") : offset === 0 ? "UTC" : (read.zone ?? "");
  return { seconds: local - BigInt(offset), nanos: read.nanos, zone, offset };
};

/** Nothing for what is not of this layout. Without a zone it is of UTC. */
export const parseTime = (layout: string, text: string): GoTime | undefined => {
  const read: Read = {
    year: 0n,
    month: -1,
    day: -1,
    yearDay: -1,
    hour: 0,
    minute: 0,
    second: 0,
    nanos: 0,
    isAfternoon: undefined,
    offset: undefined,
    zone: undefined,
  };
  try {
    let rest = text;
    const elements = elementsOf(layout);
    elements.forEach((one, n) => {
      if (one.is === "literal") rest = literal(one.text, rest);
      else if (one.is === "element") rest = element(one.name, rest, read, elements[n + 1]?.is === "fraction");
      else if (one.isTrimmed) rest = fraction(rest, read);
      else {
        const match = new RegExp(`^[.,][0-9]{${one.digits}}`, "u").exec(rest);
        if (match === null) refuse();
        fraction(rest.slice(0, one.digits + 1), read);
        rest = rest.slice(one.digits + 1);
      }
    });
    return rest === "" ? timeOf(read) : undefined;
  } catch (error) {
    if (error instanceof NoTime) return undefined;
    throw error;
  }
};
