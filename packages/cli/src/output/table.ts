// Prints rows in columns as kubectl does.
import { shortened } from "./wrap.ts";

/** Rows under headings, in columns as kubectl has them: three spaces apart, the last one not padded. Lines are shortened to `width`. */
export const table = (headings: readonly string[], rows: readonly (readonly string[])[], width: number): string => {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd((widths[column] ?? 0) + 3))),
    )
    .map((cells) => `${shortened(cells.join("").trimEnd(), width)}\n`)
    .join("");
};
