import { readFileSync } from "node:fs";

/** The repository. */
export const root = new URL("../../../", import.meta.url);

/** A page of the documentation, by its path in the repository. */
export const page = (path: string): string => readFileSync(new URL(path, root), "utf8");

/** What stands first, in backquotes, in the rows of the tables of this text. */
export const firstCells = (text: string): readonly string[] =>
  [...text.matchAll(/^\| `([^`]+)`/gmu)].flatMap(([, cell = ""]) => [cell]);

/** What is below the heading that is exactly this line, as far as the next one of its rank. */
export const section = (text: string, heading: string): string => {
  const [, rest = ""] = `\n${text}`.split(`\n${heading}\n`);
  const [rank = ""] = heading.split(" ");
  return rest.split(`\n${rank} `)[0] ?? "";
};
