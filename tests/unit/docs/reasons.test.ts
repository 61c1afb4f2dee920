import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { page, root } from "./page.ts";

const src = fileURLToPath(new URL("packages/controller/src", root));
const source = globSync("**/*.ts", { cwd: src }).map((file) => readFileSync(path.join(src, file), "utf8"));

/** Words with which the code says why: reasons of events and of conditions. */
const reasons = new Set(
  source.flatMap((text) => [...text.matchAll(/reason: "([A-Z]\w+)"/gu)].flatMap(([, reason = ""]) => [reason])),
);

it("every reason of an event or a condition is explained", () => {
  expect(reasons.size).toBeGreaterThan(15);
  const said = page("docs/monitoring.md") + page("docs/getting-started.md") + page("docs/troubleshooting.md");
  expect([...reasons].filter((reason) => !new RegExp(`\\b${reason}\\b`, "u").test(said))).toEqual([]);
});
