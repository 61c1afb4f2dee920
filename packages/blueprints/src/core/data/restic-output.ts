// Reads what restic says as Kanister reads it: the end of its output, in words for people.

type Lines = readonly string[];

/** The first group of the last line that has it. */
const last = (lines: Lines, pattern: RegExp): string | undefined =>
  lines.flatMap((line) => pattern.exec(line)?.[1] ?? []).at(-1);

const TOTAL = /Total Size:\s+(.*\S)\s*$/u;
const SIZE = String.raw`(\d+(?:\.\d+)? (?:[TGMK]i)?B)`;

/** The outputs of functions on a backup. */
export type Backup = Readonly<Record<"backupID" | "fileCount" | "size" | "phySize", string>>;

/** Reads what restic says of a backup; undefined: none was made. */
export const readBackup = (lines: Lines): Backup | undefined => {
  const backupID = last(lines, /snapshot ([0-9a-f]+) saved$/u);
  return backupID === undefined
    ? undefined
    : {
        backupID,
        // The second form of one that was made before.
        fileCount: last(lines, /processed (\d+) files, /u) ?? last(lines, /^Files: (\d+)$/u) ?? "",
        size: last(lines, new RegExp(`processed \\d+ files, ${SIZE} in `, "u")) ?? last(lines, TOTAL) ?? "",
        // The second form since restic 0.14, which is more than what Kanister reads.
        phySize: last(lines, new RegExp(`^Added to the repo(?:sitory)?: ${SIZE}`, "u")) ?? "",
      };
};

export interface Stats {
  readonly mode: string;
  readonly fileCount: string;
  readonly size: string;
}

/** Reads the statistics of a backup; undefined: there are none. */
export const readStats = (lines: Lines): Stats | undefined => {
  const mode = last(lines, /Stats in\s+(\S+)\s+mode:/u);
  const fileCount = last(lines, /Total (?:File|Blob) Count:\s+(\d+)$/u);
  const size = last(lines, TOTAL);
  return mode === undefined || fileCount === undefined || size === undefined ? undefined : { mode, fileCount, size };
};

const UNITS: Readonly<Record<string, number>> = { B: 0, KiB: 10, MiB: 20, GiB: 30, TiB: 40 };

/** Returns the bytes that were freed, as far as restic tells. */
export const freedBytes = (lines: Lines): number => {
  const frees = new RegExp(`(?:this frees|total prune:.*/) ${SIZE}$`, "u");
  return lines.reduce((sum, line) => {
    const [number = "0", unit = "B"] = (frees.exec(line)?.[1] ?? "0 B").split(" ");
    return sum + Math.floor(Number(number) * 2 ** (UNITS[unit] ?? 0));
  }, 0);
};
