import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const root = new URL("../../", import.meta.url);

/** Lines like `- [tests/a.test.ts](../tests/a.test.ts): name of a test · name of another`. */
const proofs = readFileSync(new URL("docs/guarantees.md", root), "utf8")
  .replaceAll(/\n {2}(?=\S)/gu, " ")
  .split("\n")
  .flatMap((line) => {
    const [, file = "", link = "", names = ""] = /^- \[(tests\/[^\]]+)\]\(\.\.\/(.+?)\): (.+)$/u.exec(line) ?? [];
    return file === "" ? [] : names.split(" · ").map((name) => ({ file, link, name }));
  });

it("docs/guarantees.md names tests", () => {
  expect(proofs.length).toBeGreaterThan(50);
});

it.each(proofs)("docs/guarantees.md is right that $file has: $name", ({ file, link, name }) => {
  expect(link).toBe(file);
  const path = new URL(file, root);
  expect(existsSync(path) ? readFileSync(path, "utf8") : "").toContain(name);
});
