import { readFileSync } from "node:fs";
import path from "node:path";

const repository = path.resolve(import.meta.dirname, "../..");

/**
 * The commands of a page of the documentation below this heading: each block of `sh` that a test can run, which is one without Docker.
 *
 * Throws: when there is no such heading, or no command below it.
 */
export const commandsOf = (page: string, heading: string): readonly string[] => {
  const text = readFileSync(path.join(repository, page), "utf8");
  const below = text.split(`\n## ${heading}\n`)[1] ?? text.split(`\n### ${heading}\n`)[1] ?? "";
  const blocks = [...(below.split(/\n##+ /)[0] ?? "").matchAll(/^```sh\n(.*?)^```$/gms)]
    .map(([, block = ""]) => block)
    .filter((block) => !block.startsWith("docker "));
  if (blocks.length === 0) throw new Error(`${page} has no commands below "${heading}"`);
  return blocks;
};
