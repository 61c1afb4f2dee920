import { transactionCrd } from "@janus/api";
import { expect, it } from "vitest";
import { checkCrd } from "../../../packages/cli/src/story/checkup.ts";

it.each([
  ["is not installed", undefined, "is not installed"],
  ["is there", transactionCrd, "has every field of this version"],
  [
    "is being deleted, though it has every field",
    { ...transactionCrd, metadata: { name: "x", deletionTimestamp: "2026-01-01T00:00:00Z" } },
    "is being deleted, with all Transactions",
  ],
  ["is of another version", { ...transactionCrd, spec: { versions: [] } }, "has no spec, "],
])("doctor looks at the CustomResourceDefinition that %s", (_, installed, what) => {
  const finding = checkCrd(installed, transactionCrd);
  expect(finding.what).toContain(what);
  expect(finding.isFine).toBe(installed === transactionCrd);
  expect(finding.cure === undefined).toBe(finding.isFine);
});
