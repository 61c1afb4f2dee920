// Reads and writes durations in nanoseconds, as Go's package time does.

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  "\u00c2\u00b5s": 1000n,
  "\u00ce\u00bcs": 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const LARGEST = 2n ** 63n;

export const parseDuration = (text: string): bigint | undefined => {
  const isNegative = text.startsWith("-");
  const unsigned = isNegative || text.startsWith("+") ? text.slice(1) : text;
  if (unsigned === "0") return 0n;
  if (unsigned === "") return undefined;
  let total = 0n;
  const part = /([0-9]*)(?:\.([0-9]*))?([^0-9.]+)/uy;
  for (part.lastIndex = 0; part.lastIndex < unsigned.length; ) {
    const match = part.exec(unsigned);
    if (match === null) return undefined;
    const [, whole = "", fraction = "", name = ""] = match;
    const unit = UNITS[name];
    if (unit === undefined || whole + fraction === "" || whole.length > 19) return undefined;
    const digits = fraction.slice(0, 18);
    total += BigInt(whole === "" ? "0" : whole) * unit;
    if (digits !== "") total += (BigInt(digits) * unit) / 10n ** BigInt(digits.length);
    if (total > LARGEST) return undefined;
  }
  if (!isNegative && total >= LARGEST) return undefined;
  return isNegative ? -total : total;
};

/** Of whole seconds. */
export const durationText = (seconds: bigint): string => {
  const size = seconds < 0n ? -seconds : seconds;
  const hours = size / 3600n;
  const minutes = (size % 3600n) / 60n;
  const rest = `${size % 60n}s`;
  const text = hours > 0n ? `${hours}h${minutes}m${rest}` : minutes > 0n ? `${minutes}m${rest}` : rest;
  return seconds < 0n ? `-${text}` : text;
};
