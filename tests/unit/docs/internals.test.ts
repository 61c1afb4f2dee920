import { globSync } from "node:fs";
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

/** Those of the table of attacks. */
const labels = new Set([...internals.matchAll(/\[([a-z][\w-]*)\](?![(:])/gu)].map(([, label = ""]) => label));

it.each([...labels])("docs/internals.md says where the test %s is", (label) => {
  expect(internals).toContain(`\n[${label}]: ../tests/`);
});
