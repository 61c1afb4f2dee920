// Finds source files by words. `npm run -s where -- lock yield` prints those whose path, first comment or exported names
// have all of the words (as parts of words, in any case), with the sentence in their first line.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { lineFor } from "./source-file.ts";

const root = path.dirname(import.meta.dirname);
const words = process.argv.slice(2);
if (words.length === 0) {
  console.error("Usage: npm run -s where -- WORD...");
  process.exit(2);
}

const files = globSync(["packages/*/src/**/*.ts", "scripts/**/*.{ts,mjs}", "tests/**/*.ts"], {
  cwd: root,
  exclude: (name) => name === "node_modules",
});

for (const file of files.toSorted()) {
  const line = lineFor(file, readFileSync(path.join(root, file), "utf8"), words);
  if (line !== undefined) console.log(line);
}
