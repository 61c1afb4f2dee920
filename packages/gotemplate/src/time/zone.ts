// Shows times in the zones of the IANA database, which JavaScript has.
import type { GoTime } from "./go-time.ts";

const LONGEST = 8_640_000_000_000;

const zoned = (time: GoTime, zone: string): GoTime | undefined => {
  const seconds = Number(time.seconds);
  if (Math.abs(seconds) > LONGEST) return undefined;
  const date = new Date(seconds * 1000);
  const part = (name: "longOffset" | "short"): string =>
    new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: name })
      .formatToParts(date)
      .find(({ type }) => type === "timeZoneName")?.value ?? "";
  const match = /^GMT(?:([+-])([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?)?$/u.exec(part("longOffset"));
  if (match === null) return undefined;
  const [, sign, hours = "0", minutes = "0", rest = "0"] = match;
  const offset = (Number(hours) * 3600 + Number(minutes) * 60 + Number(rest)) * (sign === "-" ? -1 : 1);
  // JavaScript has no abbreviations for most zones, Go shows the offset where there is none.
  const short = part("short");
  return { ...time, offset, zone: /^[A-Z]{3,5}$/u.test(short) ? short : "" };
};

const inUtc = (time: GoTime): GoTime => ({ ...time, zone: "UTC", offset: 0 });

/** In UTC where there is no such zone, as sprig does. The zone of the controller (Local) is UTC. */
export const inZone = (time: GoTime, zone: string): GoTime => {
  if (zone === "" || zone === "UTC" || zone === "Local" || !/^[A-Za-z0-9_+/-]+$/u.test(zone))
    return { ...inUtc(time), zone: "UTC" };
  if (/^[+-]/u.test(zone)) return inUtc(time);
  try {
    return zoned(time, zone) ?? inUtc(time);
  } catch {
    return inUtc(time);
  }
};
