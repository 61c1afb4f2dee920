// Days and seconds of Go's times, in the proleptic Gregorian calendar.
import type { GoTime } from "./go-time.ts";

export interface Civil {
  readonly year: bigint;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Sunday is 0. */
  readonly weekday: number;
  /** From 1. */
  readonly yearDay: number;
}

const DAY = 86_400n;
const DAYS_OF_ERA = 146_097n;

const floorDiv = (a: bigint, b: bigint): bigint => (a % b !== 0n && a < 0n !== b < 0n ? a / b - 1n : a / b);

/** Days from 1970-01-01. */
export const daysOf = (year: bigint, month: number, day: number): bigint => {
  const shifted = month <= 2 ? year - 1n : year;
  const era = floorDiv(shifted, 400n);
  const yearOfEra = shifted - era * 400n;
  const dayOfYear = BigInt(Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1);
  return era * DAYS_OF_ERA + yearOfEra * 365n + yearOfEra / 4n - yearOfEra / 100n + dayOfYear - 719_468n;
};

export const civil = ({ seconds, offset }: GoTime): Civil => {
  const local = seconds + BigInt(offset);
  const days = floorDiv(local, DAY);
  const ofDay = Number(local - days * DAY);
  const shifted = days + 719_468n;
  const era = floorDiv(shifted, DAYS_OF_ERA);
  const dayOfEra = shifted - era * DAYS_OF_ERA;
  const yearOfEra = (dayOfEra - dayOfEra / 1460n + dayOfEra / 36_524n - dayOfEra / 146_096n) / 365n;
  const dayOfYear = Number(dayOfEra - (365n * yearOfEra + yearOfEra / 4n - yearOfEra / 100n));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400n + (month <= 2 ? 1n : 0n);
  return {
    year,
    month,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
    hour: Math.floor(ofDay / 3600),
    minute: Math.floor((ofDay % 3600) / 60),
    second: ofDay % 60,
    weekday: Number((((days + 4n) % 7n) + 7n) % 7n),
    yearDay: Number(days - daysOf(year, 1, 1)) + 1,
  };
};

export const isLeap = (year: bigint): boolean => year % 4n === 0n && (year % 100n !== 0n || year % 400n === 0n);
export const daysInMonth = (year: bigint, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;

export const MONTHS = [
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
] as const;
export const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const;
