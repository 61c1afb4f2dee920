// The files that `npm run where` prints, and their order.
import { describe, expect, it } from "vitest";
import { ranked } from "../../../scripts/rank-files.ts";

const file = (path: string, text = "// Does more.\n") => ({ path, text });
const pathsOf = (lines: readonly string[]): readonly string[] => lines.map((line) => line.replace(/ {2}.*/u, ""));

const requests = file(
  "core/locks/requests.ts",
  "// Yields a lock to another\n// Transaction. More of it.\n\nexport const requestYield = () => {};\n",
);

describe("npm run where", () => {
  it("prints the first sentence of a file that has all words in its path, first comment or exported names", () => {
    expect(ranked([requests], ["LOCK", "requestyield", "another", "more"])).toEqual([
      "core/locks/requests.ts  Yields a lock to another Transaction.",
    ]);
  });

  it("prints the exported names of a file without such a sentence", () => {
    expect(ranked([file("a.ts", "export const one = 1;\nexport type Two = 2;\n")], ["one"])).toEqual([
      "a.ts  one, Two",
    ]);
  });

  it.each([
    ["after a line", "// Does more.\nconst lock = 1;\n"],
    ["after a doc comment", "/** Does more. */\nconst lock = 1;\n"],
    ["at the beginning", "import {} from './lock.ts';\n"],
  ])("leaves out a file that has a word only in the code: %s", (_, text) => {
    expect(ranked([file("a.ts", text)], ["lock"])).toEqual([]);
  });

  it("puts whole words before parts, and file names before exported names, folders and sentences", () => {
    const files = [
      file("a/clocks.ts"),
      file("b/b.ts", "// Holds a lock.\n"),
      file("c/lock/c.ts"),
      file("d/d.ts", "// Does more.\nexport const withLock = () => {};\n"),
      file("e/lock-queue.ts"),
      file("f/locks.ts"),
    ];
    expect(pathsOf(ranked(files, ["lock"]))).toEqual(files.map(({ path }) => path).toReversed());
  });

  it("puts all words before some, whatever these are worth", () => {
    const files = [file("lock.ts"), file("a.ts", "// A clock that unyielding people keep.\n")];
    expect(pathsOf(ranked(files, ["lock", "yield"]))).toEqual(["a.ts", "Some of the words:", "lock.ts"]);
  });

  it("prints 15 files, and how many more there are", () => {
    const files = Array.from({ length: 40 }, (_, index) => file(`lock-${index}.ts`));
    const lines = ranked(files, ["lock"]);
    expect(lines).toHaveLength(16);
    expect(lines.at(-1)).toBe("and 25 more: add a word");
  });
});
