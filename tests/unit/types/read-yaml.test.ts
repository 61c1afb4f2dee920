import { readYaml } from "@janus/types";
import { expect, it } from "vitest";

const valuesOf = (text: string): readonly unknown[] => readYaml(text).map(({ value }) => value);

it.each([
  ["a dot", ".", "."],
  ["a commit that begins like a float", "e5481620", "e5481620"],
  ["a commit that is a float beyond all floats", "7e12345", "7e12345"],
  ["digits after a dot and an underscore", "._1", "._1"],
  ["digits with underscores after a dot", ".1_0", 0.1],
  ["an octal number", "0400", 256],
  ["a decimal number that begins with 0", "08", 8],
  ["a time", "12:30:45", "12:30:45"],
  ["a date", "2001-01-01", "2001-01-01"],
  ["an address", "2001:db8::1", "2001:db8::1"],
  ["a word for true", "on", true],
  ["a text in quotes", '"on"', "on"],
])("reads as kubectl does %s", (_, text, value) => {
  expect(valuesOf(`k: ${text}\n`)).toEqual([{ k: value }]);
  expect(valuesOf(`- ${text}\n`)).toEqual([[value]]);
});

it("tells in which line a document begins, and where something is wrong", () => {
  expect(readYaml("# none\n---\na: 1\n---\n\nb: 2\n")).toMatchObject([{ line: 3 }, { line: 6 }]);
  expect(() => readYaml("a: 1\n---\nb: 2\nb: 3\n")).toThrow(
    expect.objectContaining({ line: 4, column: 1, message: expect.stringContaining("has this key already") }),
  );
});

it("reads a large file, however many parts it has, but no aliases that multiply", () => {
  expect(valuesOf(`[${"[],".repeat(500_000)}]`)).toHaveLength(1);
  const aliases = [
    "a: &a [x]",
    ...["b", "c", "d", "e", "f", "g"].map(
      (name, n) => `${name}: &${name} [${Array(10).fill(`*${"abcdef"[n]}`).join()}]`,
    ),
  ];
  expect(() => valuesOf(`${aliases.join("\n")}\n`)).toThrow("aliases of aliases");
});

it("refuses what is nested so deep that it could not be read", () => {
  expect(() => valuesOf("[".repeat(100_000))).toThrow("nested deeper than 1000 levels");
  expect(() => valuesOf("- ".repeat(100_000))).toThrow("nested deeper than 1000 levels");
});
