// Finds source files by words: `npm run -s where -- lock yield` prints those whose path, first comment or exported names
// have all of the words (as parts of words, in any case), with that comment.
import { globSync, readFileSync } from "node:fs";
import path from "node:path";

const root = path.dirname(import.meta.dirname);
const words = process.argv.slice(2).map((word) => word.toLowerCase());
if (words.length === 0) {
  console.error("Usage: npm run -s where -- WORD...");
  process.exit(2);
}

/** The first comment of a file, as one line without its signs. */
const firstComment = (text: string): string =>
  (/^\s*(?:\/\*\*.*?\*\/|(?:\/\/.*\n)+)/su.exec(text.slice(Math.max(0, text.search(/\/\*\*|\/\//u))))?.[0] ?? "")
    .replaceAll(/^\s*(?:\/\*\*|\*\/|\*|\/\/)|\*\/\s*$/gmu, "")
    .replaceAll(/\s+/gu, " ")
    .trim();

const exportedNames = (text: string): readonly string[] =>
  [...text.matchAll(/^export (?:declare )?(?:const|function|interface|type|class) (\w+)/gmu)].map(
    ([, name = ""]) => name,
  );

const files = globSync(["packages/*/src/**/*.ts", "scripts/**/*.ts", "tests/**/*.ts"], {
  cwd: root,
  exclude: (name) => name === "node_modules",
});

for (const file of files.toSorted()) {
  const text = readFileSync(path.join(root, file), "utf8");
  const names = exportedNames(text);
  const comment = firstComment(text);
  const searched = [file, comment, ...names].join(" ").toLowerCase();
  if (!words.every((word) => searched.includes(word))) continue;
  const [sentence = ""] = comment.split(/(?<=\.) /u);
  console.log(`${file}  ${sentence === "" ? names.join(", ") : sentence}`);
}
