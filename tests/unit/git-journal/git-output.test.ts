// Output of git, read in whatever pieces it comes.
import { Readable } from "node:stream";
import * as fc from "fast-check";
import * as O from "fp-ts/lib/Option.js";
import { expect, it } from "vitest";
import { concerns, parseEntry } from "../../../packages/git-journal/src/core/git/ls-tree.ts";
import { parseLog } from "../../../packages/git-journal/src/core/git/pending.ts";
import { eachBlob } from "../../../packages/git-journal/src/shell/batch-output.ts";

const inPieces = (bytes: Buffer, sizes: readonly number[]): readonly Buffer[] => {
  const pieces: Buffer[] = [];
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
};

const id = (n: number): string => n.toString(16).padStart(40, "0");

it("the objects of cat-file are read as they are, in whatever pieces they come, and those that are missing are left out", async () => {
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.constantFrom("", "\n", `${"1".repeat(40)} blob 3\nab`).map((text) => Buffer.from(text)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(content, { nil: undefined })),
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
      async (contents, sizes) => {
        const printed = Buffer.concat(
          contents.flatMap((one, n) =>
            one === undefined
              ? [Buffer.from(`${id(n)} missing\n`)]
              : [Buffer.from(`${id(n)} blob ${one.length}\n`), one, Buffer.from("\n")],
          ),
        );
        const read: (readonly [string, string])[] = [];
        for await (const [name, bytes] of eachBlob(Readable.from(inPieces(printed, sizes))))
          read.push([name, Buffer.from(bytes).toString("hex")]);
        expect(read).toEqual(
          contents.flatMap((one, n) => (one === undefined ? [] : [[id(n), Buffer.from(one).toString("hex")]])),
        );
      },
    ),
  );
});

const ID = "a".repeat(40);

it.each([
  [`100644 blob ${ID}\tprod/a.yaml`, O.some(["prod/a.yaml", { kind: "file", id: ID }])],
  [`100755 blob ${ID}\ta b\tc\n`, O.some(["a b\tc\n", { kind: "file", id: ID }])],
  [`120000 blob ${ID}\tlink`, O.some(["link", { kind: "symlink", id: ID }])],
  [`160000 commit ${"b".repeat(64)}\tmodule`, O.some(["module", { kind: "submodule", id: "b".repeat(64) }])],
  ["nonsense", O.none],
])("an entry of a tree is read: %j", (record, entry) => {
  expect(parseEntry(record)).toEqual(entry);
});

it.each([
  [[""], "a/b", true],
  [["a/b"], "a/b/c", true],
  [["a/b"], "a/b", true],
  [["a/b"], "a", true],
  [["a/b"], "a/bc", false],
  [["a/b"], "a/c", false],
  [["x", "a"], "a/c", true],
  [[], "a", false],
])("of the folders %j, %s concerns one: %s", (folders, path, expected) => {
  expect(concerns(folders, path)).toBe(expected);
});

it("commits are read in their order, with files of which git should not have taken the name left out", () => {
  const zero = "0".repeat(40);
  const text = [
    "\u0001alice\0a@b\x001700000000\0subject\n\nbody\n\0\0",
    `\n:000000 100644 ${zero} ${ID} A\0prod/a.yaml\0:100644 000000 ${ID} ${zero} D\0prod/b.yaml\0`,
    `:000000 100644 ${zero} ${ID} A\0../c.yaml\0`,
    `\u0001\0\x001\0\0\0\n:100644 100644 ${ID} ${"b".repeat(40)} M\0prod/a.yaml\0`,
  ].join("");
  expect(parseLog(text)).toEqual([
    {
      author: { name: "alice", email: "a@b" },
      at: 1_700_000_000,
      message: "subject\n\nbody\n",
      changes: [
        { path: "prod/a.yaml", from: undefined, to: ID },
        { path: "prod/b.yaml", from: ID, to: undefined },
      ],
    },
    {
      author: { name: "", email: "" },
      at: 1,
      message: "",
      changes: [{ path: "prod/a.yaml", from: ID, to: "b".repeat(40) }],
    },
  ]);
});
