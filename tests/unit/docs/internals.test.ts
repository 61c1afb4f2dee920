import { existsSync, globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { page, root } from "./page.ts";

const internals = page("docs/internals.md");

/** Comments cite a section as `docs/internals.md, "Locks"`, perhaps over two lines, and another one after `and`. */
const cited = globSync(["packages/*/src/**/*.ts", "tests/**/*.ts"], { cwd: fileURLToPath(root) })
  .filter((file) => !file.startsWith("tests/unit/docs/"))
  .flatMap((file) =>
    [...page(file).matchAll(/docs\/internals\.md((?:(?:,| and) "[^"]+")+)/gu)].flatMap(([, list = ""]) =>
      [...list.matchAll(/"([^"]+)"/gu)].map(([, section = ""]) => ({
        file,
        section: section.replaceAll(/\s+(?:\* )?/gu, " "),
      })),
    ),
  );

it.each(cited)("$file cites a section that docs/internals.md has: $section", ({ section }) => {
  expect(internals).toContain(`\n## ${section}\n`);
});

const attacks = page("tests/attacks.md");
const labels = new Set([...attacks.matchAll(/\[([a-z][\w-]*)\](?![(:])/gu)].map(([, label = ""]) => label));

it.each([...labels])("tests/attacks.md says where the test %s is", (label) => {
  const [, file = ""] = new RegExp(`\n\\[${label}\\]: (\\S+)`, "u").exec(attacks) ?? [];
  expect(existsSync(new URL(`tests/${file}`, root))).toBe(true);
});
