import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { isOfNpmTest } from "../suites.ts";
import { page, root } from "./docs/page.ts";

/** The tests that prove each guarantee: the heading of docs/guarantees.md → the file → titles in it. */
const proofs = JSON.parse(readFileSync(new URL("guarantees.json", import.meta.url), "utf8")) as Readonly<
  Record<string, Readonly<Record<string, readonly string[]>>>
>;

/** The sections of the page that promise something, by their headings: those that are more than a heading. */
const guarantees = new Map(
  (page("docs/guarantees.md").split("\n## What is not promised\n")[0] ?? "")
    .split(/\n###? /u)
    .slice(1)
    .map((text) => [text.split("\n", 1)[0] ?? "", text.replace(/^.*\n/u, "").trim()] as const)
    .filter(([, body]) => body !== ""),
);

/** The files that a section links in its last paragraph, which begins with `Tests:`. */
const linked = (body: string): readonly string[] => {
  const last = body.split("\n\n").at(-1) ?? "";
  return last.startsWith("Tests:") ? [...last.matchAll(/\]\(\.\.\/([^)]+)\)/gu)].map(([, file = ""]) => file) : [];
};

it("guarantees.json has an entry for each guarantee of docs/guarantees.md, in the same order, and no other", () => {
  expect(Object.keys(proofs).length).toBeGreaterThan(50);
  expect(Object.keys(proofs)).toEqual([...guarantees.keys()]);
});

describe.each(Object.entries(proofs))("guarantee: %s", (heading, files) => {
  it("links its test files on the page, at least one", () => {
    expect(linked(guarantees.get(heading) ?? "")).toEqual(Object.keys(files));
    expect(Object.values(files).flat()).not.toEqual([]);
  });

  it("is proved by npm test, too", () => {
    expect(Object.keys(files).filter(isOfNpmTest)).not.toEqual([]);
  });

  it.each(Object.entries(files).flatMap(([file, titles]) => titles.map((title) => ({ file, title }))))(
    "$file has: $title",
    ({ file, title }) => {
      const path = new URL(file, root);
      expect(existsSync(path) ? readFileSync(path, "utf8") : "").toContain(title);
    },
  );
});
