// Tests that whatever a file of a repository says, it is compared, and never ends the comparison.
import { Readable } from "node:stream";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { contentOf } from "../../../packages/git-journal/src/core/file-content.ts";
import { treeOf } from "../../../packages/git-journal/src/shell/bare-clone.ts";
import { eachBlob } from "../../../packages/git-journal/src/shell/batch-output.ts";
import { printed } from "../../../packages/git-journal/src/shell/git.ts";
import { configMap, listed, newWorld, pathOf, work } from "./branch-world.ts";

const anything = fc.oneof(
  fc.constantFrom("v1", "a", "shop", "__proto__", "constructor", "toString", "valueOf"),
  fc.jsonValue({ maxDepth: 2 }),
);
const metadata = fc.oneof(
  anything,
  fc.record(
    { name: anything, namespace: anything, labels: anything, annotations: anything },
    { requiredKeys: ["name"] },
  ),
);
const manifest = fc.record(
  { apiVersion: anything, kind: anything, metadata, spec: anything, data: anything, sops: anything },
  { requiredKeys: ["apiVersion", "kind", "metadata"] },
);

it("whatever is where an object could be, it is an object with a name, or none", () => {
  fc.assert(
    fc.property(manifest, (one) => {
      const content = contentOf(JSON.stringify(one));
      expect(["undefined", "string"]).toContain(typeof content?.name);
      expect(["undefined", "string"]).toContain(typeof content?.namespace);
    }),
    { numRuns: 500 },
  );
});

it.each([
  ["a number for its name", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 5, namespace: shop}\n"],
  ["nothing for its name", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: null, namespace: shop}\n"],
])("a file with %s is left, and all others are written", (_, text) => {
  const world = newWorld(new Map([[pathOf("5"), text]]));
  listed(world, [configMap("a", "1")]);
  work(world);
  expect([...world.tree.keys()].filter((at) => !at.includes(".configbutler"))).toEqual([pathOf("5"), pathOf("a")]);
  expect(world.tree.get(pathOf("5"))).toBe(text);
});

it("a file with a kind that JavaScript has in every object is none of what is live, and all others are written", () => {
  const text = "apiVersion: v1\nkind: __proto__\nmetadata: {name: a}\nspec: {a: b}\n";
  const world = newWorld(new Map([[pathOf("5"), text]]));
  listed(world, [configMap("a", "1")]);
  work(world);
  expect([...world.tree.keys()].filter((at) => !at.includes(".configbutler"))).toEqual([pathOf("a")]);
});

const id = (n: number): string => `${n}`.repeat(40);

it("a blob that is larger than any object comes without its content, in whatever pieces it is read", async () => {
  const printed = Buffer.from(`${id(1)} blob 2\nab\n${id(2)} blob 9\n${"x".repeat(9)}\n${id(3)} blob 1\nc\n`);
  for (let size = 1; size <= printed.length; size += 1) {
    const pieces = Array.from({ length: Math.ceil(printed.length / size) }, (_, at) =>
      printed.subarray(at * size, (at + 1) * size),
    );
    const read: (readonly [string, string])[] = [];
    for await (const [name, content] of eachBlob(Readable.from(pieces), 3))
      read.push([name, Buffer.from(content).toString()]);
    expect(read).toEqual([
      [id(1), "ab"],
      [id(2), ""],
      [id(3), "c"],
    ]);
  }
});

it("a tree that has any number of files is not read to its end", async () => {
  let read = 0;
  const entries = function* (): Generator<Buffer> {
    for (; ; read += 1) yield Buffer.from(`100644 blob ${id(1)}\tprod/${read}\0`);
  };
  const tree = (folder: string) => treeOf([folder], { kept: 10, read: 100 })(Readable.from(entries()));
  await expect(tree("prod")).rejects.toThrow("too many files");
  expect(read).toBeLessThan(100);
  await expect(tree("other")).rejects.toThrow("too many files");
  expect(read).toBeLessThan(300);
});

it("what a process prints without end is not read to its end", async () => {
  let read = 0;
  const chunks = function* (): Generator<Buffer> {
    for (; ; read += 1) yield Buffer.alloc(10);
  };
  await expect(printed(Readable.from(chunks()), 100)).rejects.toThrow("more than 100 bytes");
  expect(read).toBeLessThan(100);
});
