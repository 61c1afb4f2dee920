// The functions of sprig for dates. Now is when the caller says, the local zone is UTC.
import { formatTime } from "../time/format-time.ts";
import { durationText, parseDuration } from "../time/duration.ts";
import { type GoTime, timeOfDate } from "../time/go-time.ts";
import { parseTime } from "../time/parse-time.ts";
import { inZone } from "../time/zone.ts";
import { NIL, ofString, ofTime, type Value, zeroOf } from "../value/value.ts";
import { TIME } from "../value/type.ts";
import type { Context } from "../execute/context.ts";
import { type FunctionTable, type GoFunction, text } from "./go-function.ts";

const ofUnix = (seconds: bigint): GoTime => ({ seconds, nanos: 0, zone: "UTC", offset: 0 });

/** What is no date is now. */
const timeOf = (value: Value, context: Context, kinds: readonly string[]): GoTime => {
  if (value.is === "time") return value.value;
  if (value.is === "pointer" && value.to?.is === "time" && kinds.includes("int32")) return value.to.value;
  if (value.is === "int" && kinds.includes(value.type.kind)) return ofUnix(value.value);
  return timeOfDate(context.now);
};
const DATES = ["int", "int32", "int64"];

const shown = (layout: string, date: Value, zone: string, context: Context): Value =>
  ofString(formatTime(inZone(timeOf(date, context, DATES), zone), layout));

const dateInZone: GoFunction = {
  parameters: ["string", "any", "string"],
  call: ([layout, date = NIL, zone], context) => shown(text(layout), date, text(zone), context),
};
const dateModify: GoFunction = {
  parameters: ["string", "time"],
  call: ([change, date = NIL]) => {
    const by = parseDuration(text(change));
    if (by === undefined || date.is !== "time") return date;
    const nanos = BigInt(date.value.nanos) + by;
    const rest = ((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
    return ofTime({
      ...date.value,
      seconds: date.value.seconds + (nanos - rest) / 1_000_000_000n,
      nanos: Number(rest),
    });
  },
};

const ZERO = zeroOf(TIME);

/** To the second, half of one away from zero. */
const secondsSince = (then: GoTime, now: GoTime): bigint => {
  const nanos = (now.seconds - then.seconds) * 1_000_000_000n + BigInt(now.nanos - then.nanos);
  const half = nanos < 0n ? -500_000_000n : 500_000_000n;
  return (nanos + half) / 1_000_000_000n;
};

export const DATE_FUNCTIONS: FunctionTable = {
  now: { parameters: [], call: (_, { now }) => ofTime(timeOfDate(now)) },
  date: {
    parameters: ["string", "any"],
    call: ([layout, date = NIL], context) => shown(text(layout), date, "Local", context),
  },
  dateInZone,
  date_in_zone: dateInZone,
  dateModify,
  date_modify: dateModify,
  htmlDate: { parameters: ["any"], call: ([date = NIL], context) => shown("2006-01-02", date, "Local", context) },
  htmlDateInZone: {
    parameters: ["any", "string"],
    call: ([date = NIL, zone], context) => shown("2006-01-02", date, text(zone), context),
  },
  ago: {
    parameters: ["any"],
    call: ([date = NIL], context) =>
      ofString(durationText(secondsSince(timeOf(date, context, ["int", "int64"]), timeOfDate(context.now)))),
  },
  toDate: {
    parameters: ["string", "string"],
    call: ([layout, date]) => {
      const time = parseTime(text(layout), text(date));
      return time === undefined ? ZERO : ofTime(time);
    },
  },
  unixEpoch: {
    parameters: ["time"],
    call: ([date]) => ofString(date?.is === "time" ? date.value.seconds.toString() : ""),
  },
};
