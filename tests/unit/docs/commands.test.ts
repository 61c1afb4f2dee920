import { existsSync, globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { page, root } from "./page.ts";

const pages = globSync(["*.md", "docs/**/*.md"], { cwd: fileURLToPath(root) });
const { scripts } = JSON.parse(page("package.json")) as { readonly scripts: object };

/** What follows this in all pages. */
const said = (before: RegExp): readonly string[] => [
  ...new Set(pages.flatMap((name) => [...page(name).matchAll(before)].map(([, what = ""]) => what))),
];

it.each(said(/\bnpm run (?:-s )?([a-z][\w:-]*)/gu))("there is an npm run %s", (script) => {
  expect(Object.keys(scripts)).toContain(script);
});

it.each(said(/(?<![\w./-])((?:packages|docs|tests|deploy|charts|scripts)\/[\w./-]*\w)/gu))("there is a %s", (path) => {
  expect(existsSync(new URL(path, root))).toBe(true);
});
