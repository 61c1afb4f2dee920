// Finds source files by words: `npm run -s where -- lock yield` prints those that fit best, with the sentence in their first line.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { ranked } from "./rank-files.ts";

const root = path.dirname(import.meta.dirname);
const words = process.argv.slice(2);
if (words.length === 0) {
  console.error("Usage: npm run -s where -- WORD...");
  process.exit(2);
}

const files = globSync(["packages/*/src/**/*.ts", "scripts/**/*.{ts,mjs}", "tests/**/*.ts"], {
  cwd: root,
  exclude: (name) => name === "node_modules",
}).map((file) => ({ path: file, text: readFileSync(path.join(root, file), "utf8") }));

for (const line of ranked(files, words)) console.log(line);
