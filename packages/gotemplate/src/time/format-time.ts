// Formats times, as Go's package time does.
import { civil, MONTHS, WEEKDAYS } from "./calendar.ts";
import type { GoTime } from "./go-time.ts";
import { elementsOf } from "./layout.ts";

/** How times are printed. */
export const STRING_LAYOUT = "2006-01-02 15:04:05.999999999 -0700 MST";
/** RFC 3339, with as many digits of the second as there are. */
export const JSON_LAYOUT = "2006-01-02T15:04:05.999999999Z07:00";

const pad = (value: number, width: number, fill = "0"): string => String(value).padStart(width, fill);

const yearText = (year: bigint): string =>
  year < 0n ? `-${(-year).toString().padStart(4, "0")}` : year.toString().padStart(4, "0");

const offsetText = (offset: number, name: string): string => {
  if (name.startsWith("Z") && offset === 0) return "Z";
  const size = Math.abs(offset);
  const parts = [Math.floor(size / 3600), Math.floor((size % 3600) / 60), size % 60].map((part) => pad(part, 2));
  const count = name.length <= 3 ? 1 : /(?:0000|00:00)$/u.test(name) && name.length > 6 ? 3 : 2;
  return (offset < 0 ? "-" : "+") + parts.slice(0, count).join(name.includes(":") ? ":" : "");
};

const fractionText = (nanos: number, digits: number, isTrimmed: boolean, separator: string): string => {
  const shown = pad(nanos, 9).slice(0, digits).padEnd(digits, "0");
  const kept = isTrimmed ? shown.replace(/0+$/u, "") : shown;
  return kept === "" ? "" : separator + kept;
};

export const formatTime = (time: GoTime, layout: string): string => {
  const at = civil(time);
  const twelve = at.hour % 12 === 0 ? 12 : at.hour % 12;
  const month = MONTHS[at.month - 1] ?? "";
  const weekday = WEEKDAYS[at.weekday] ?? "";
  const element = (name: string): string => {
    switch (name) {
      case "2006":
        return yearText(at.year);
      case "06":
        return pad(Number(((at.year % 100n) + 100n) % 100n), 2);
      case "January":
        return month;
      case "Jan":
        return month.slice(0, 3);
      case "1":
        return String(at.month);
      case "01":
        return pad(at.month, 2);
      case "Monday":
        return weekday;
      case "Mon":
        return weekday.slice(0, 3);
      case "2":
        return String(at.day);
      case "_2":
        return pad(at.day, 2, " ");
      case "02":
        return pad(at.day, 2);
      case "__2":
        return pad(at.yearDay, 3, " ");
      case "002":
        return pad(at.yearDay, 3);
      case "15":
        return pad(at.hour, 2);
      case "3":
        return String(twelve);
      case "03":
        return pad(twelve, 2);
      case "4":
        return String(at.minute);
      case "04":
        return pad(at.minute, 2);
      case "5":
        return String(at.second);
      case "05":
        return pad(at.second, 2);
      case "PM":
        return at.hour >= 12 ? "PM" : "AM";
      case "pm":
        return at.hour >= 12 ? "pm" : "am";
      case "MST":
        return time.zone === "" ? offsetText(time.offset, "-0700") : time.zone;
      default:
        return offsetText(time.offset, name);
    }
  };
  return elementsOf(layout)
    .map((one) => {
      if (one.is === "literal") return one.text;
      return one.is === "fraction"
        ? fractionText(time.nanos, one.digits, one.isTrimmed, one.separator)
        : element(one.name);
    })
    .join("");
};
