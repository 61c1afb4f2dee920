import { expect, it } from "vitest";
import { listing } from "../../../packages/cli/src/commands/history.ts";
import type { Chapter } from "../../../packages/cli/src/story/history.ts";
import { page } from "./page.ts";

const chapter = (time: string, name: string, change: string, state: "Applied" | "RolledBack"): Chapter => ({
  time,
  name,
  change,
  state,
  namespace: "example",
  uid: name,
  requestedBy: "admin",
  phase: state === "Applied" ? "Committed" : state,
  fields: state === "Applied" ? [".data.a"] : [],
});

it("docs/cli.md shows the history of an object as it is printed", () => {
  const printed = listing(
    [
      chapter("2026-11-22T22:59:58Z", "deploy-v2", "Patch", "Applied"),
      chapter("2026-11-22T23:00:09Z", "deploy-v3", "Patch", "RolledBack"),
      chapter("2026-11-22T23:00:51Z", "v4", "Apply", "RolledBack"),
      chapter("2026-11-22T23:01:29Z", "greeting", "Apply", "Applied"),
    ],
    true,
    {},
    80,
  );
  expect(page("docs/cli.md")).toContain(`$ kubectl janus history cm/app-config -n example\n${printed}\`\`\`\n`);
});
