import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { isOfExhaustive, isOfNpmTest, SAMPLED } from "../suites.ts";

const root = path.resolve(import.meta.dirname, "../..");

/** Those that find or build a program which the demo does without. */
const BUILDERS = ["helm", "kwok", "go-program"].map((name) => `tests/fixtures/${name}.ts`);

const importsOf = (file: string): readonly string[] =>
  [...readFileSync(path.join(root, file), "utf8").matchAll(/ from "(\.[^"]+\.ts)"/gu)].map(([, to = ""]) =>
    path.join(path.dirname(file), to),
  );

/** These files, and what they import of tests, directly or not. */
const reached = (files: readonly string[]): ReadonlySet<string> => {
  const all = new Set(files);
  for (const file of all) for (const to of importsOf(file)) if (to.startsWith("tests/")) all.add(to);
  return all;
};

const isBuilder = (file: string): boolean => BUILDERS.includes(file);
const tests = globSync("tests/**/*.test.ts", { cwd: root });

it("npm test builds nothing with Go but what the demo has built: what needs more is exhaustive", () => {
  expect([...reached(tests)].filter(isBuilder).toSorted()).toEqual(BUILDERS.toSorted());
  expect(tests.filter(isOfNpmTest).filter((file) => [...reached([file])].some(isBuilder))).toEqual([]);
});

it("what npm test runs a sample of, the exhaustive half runs whole", () => {
  expect(tests).toEqual(expect.arrayContaining(SAMPLED));
  expect(SAMPLED.filter((file) => !isOfExhaustive(file))).toEqual([]);
});
