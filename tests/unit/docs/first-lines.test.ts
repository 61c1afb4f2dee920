// The first line of every source file says what the file is for; `npm run where` searches and prints these sentences.
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { firstSentence } from "../../../scripts/source-file.ts";
import { root } from "./page.ts";

/** Suites that many files make together; of the others the name of each file says it. */
const SUITES = "tests/{answers,blueprints,crash,tenants,trouble}/**/*.ts";

const files = globSync(["packages/*/src/**/*.ts", "scripts/**/*.{ts,mjs}", SUITES], {
  cwd: fileURLToPath(root),
  exclude: (name) => name === "node_modules",
});

/** Why the first line of a file does not say what it is for; undefined: it does. */
const flaw = (text: string): string | undefined => {
  const sentence = firstSentence(text);
  if (sentence === "") return "the first line is no comment";
  if (/^(?:What|Whether|That|Of|Which|Where)\b/u.test(sentence)) return "it begins with a relative clause";
  if (/^(?:oxlint|biome|@ts|https?:)/u.test(sentence)) return "it says nothing about the file";
  return sentence.length > 140 ? "it is longer than 140 characters" : undefined;
};

it("the first line of every source file says in one sentence what the file is for", () => {
  expect(files.length).toBeGreaterThan(400);
  const flawed = files.flatMap((file) => {
    const why = flaw(readFileSync(new URL(file, root), "utf8"));
    return why === undefined ? [] : [`${file}: ${why}`];
  });
  expect(flawed).toEqual([]);
});

describe("a first line that says nothing is found", () => {
  it.each([
    ["code comes first", 'import "./a.ts";\n\n/** Decides. */\n'],
    ["a relative clause", "// What is decided.\n"],
    ["a relative clause in a doc comment", "/**\n * Whether it is decided.\n */\n"],
    ["an instruction for a linter", "// oxlint-disable no-console\n"],
    ["a long sentence", `// Decides${" and decides".repeat(13)}.\n`],
  ])("%s", (_, text) => {
    expect(flaw(text)).toBeDefined();
  });

  it.each([
    "// Decides.\nimport {} from './a.ts';\n",
    "#!/usr/bin/env node\n// Decides.\n",
    "/** Decides. It is pure. */\n",
  ])("%j is one that says something", (text) => {
    expect(flaw(text)).toBeUndefined();
  });
});
