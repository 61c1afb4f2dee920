// Formats an age as kubectl does.

const UNITS = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
] as const;

/** How kubectl writes an age: `45s`, `3m12s`, `5h`, `12d`; `<unknown>` without a time. */
export const age = (since: string | undefined, now: number): string => {
  const began = Date.parse(since ?? "");
  if (Number.isNaN(began)) return "<unknown>";
  let left = Math.max(0, Math.floor((now - began) / 1000));
  const parts = UNITS.map(([unit, size]) => {
    const count = Math.floor(left / size);
    left -= count * size;
    return [unit, count] as const;
  }).filter(([, count]) => count > 0);
  const [first, second] = parts;
  if (first === undefined) return "0s";
  const isShort = first[1] < 10 && second !== undefined && first[0] !== "d";
  return `${first[1]}${first[0]}${isShort ? `${second[1]}${second[0]}` : ""}`;
};
