import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { page, root } from "./page.ts";

/** Words with which the code of a package says why: reasons of events and of conditions. */
const reasonsOf = (name: string): ReadonlySet<string> => {
  const src = fileURLToPath(new URL(`packages/${name}/src`, root));
  const source = globSync("**/*.ts", { cwd: src }).map((file) => readFileSync(path.join(src, file), "utf8"));
  return new Set(
    source.flatMap((text) =>
      [...text.matchAll(/(?:reason: |refused\(|failed\(|^ {2}\| )"([A-Z][a-z]\w+)"/gmu)].flatMap(([, reason = ""]) => [
        reason,
      ]),
    ),
  );
};

it.each([
  ["controller", ["docs/monitoring.md", "docs/getting-started.md", "docs/troubleshooting.md"]],
  ["git-journal", ["docs/monitoring.md", "docs/troubleshooting.md", "docs/git-journal.md"]],
])("every reason of an event or a condition is explained: %s", (name, pages) => {
  const reasons = reasonsOf(name);
  expect(reasons.size).toBeGreaterThan(15);
  const said = pages.map(page).join("");
  expect([...reasons].filter((reason) => !new RegExp(`\\b${reason}\\b`, "u").test(said))).toEqual([]);
});
