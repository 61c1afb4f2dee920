import type { Render, RenderedChange } from "@janus/api";
import { expect, it } from "vitest";
import { unshown } from "../../../packages/cli/src/plan/unshown.ts";
import { transaction } from "../core/transaction.ts";

const named = "changes[0] (ConfigMap shop/app)";

const ofChange = (change: RenderedChange, kind = "ConfigMap") => {
  const target = { apiVersion: "v1", kind, name: "app" };
  const txn = transaction([{ type: "Patch", target, content: { data: { a: "long" } } }]);
  const render: Render = { result: "OK", changes: [change], observedGeneration: 1, renderedAt: "" };
  return unshown(txn, render);
};
const content = `Content of ${named}:\ndata:\n  a: long\n`;
const diff = [{ path: ".data.a", before: '"short"', after: '"long"' }];

it.each<[string, RenderedChange, ReturnType<typeof ofChange>]>([
  ["nothing of what is shown", { result: "Change", diff }, { contents: [], fields: [], others: [] }],
  [
    "the end of a value",
    { result: "Change", diff: [{ path: ".data.a", before: '"sho…', after: '"long"' }] },
    { contents: [content], fields: [`${named}: the whole value of .data.a`], others: [] },
  ],
  [
    "the beginning of a value",
    { result: "Change", diff: [{ path: ".data.a", before: '…"rt"', after: '…"ng"' }] },
    { contents: [content], fields: [`${named}: the whole value of .data.a`], others: [] },
  ],
  [
    "fields for which there was no room",
    { result: "Change", diff, more: 3 },
    { contents: [content], fields: [`${named}: 3 more fields`], others: [] },
  ],
  [
    "of what is created only what its content says",
    { result: "Create", diff, more: 3 },
    { contents: [content], fields: [], others: [] },
  ],
  [
    "what depends on an earlier change",
    { result: "DependsOnEarlier" },
    {
      contents: [content],
      fields: [],
      others: [`${named}: what its content changes, which depends on an earlier change`],
    },
  ],
  [
    "values of a sensitive kind, nor its content",
    { result: "Change", diff: [{ path: ".data.a", before: "(changed)", after: "(changed)" }] },
    { contents: [], fields: [], others: [`${named}: the values`] },
  ],
])("an approver is told what is not shown: %s", (_, change, expected) => {
  expect(ofChange(change)).toEqual(expected);
});

it("the content of a Secret is not shown, even if nothing is known of it yet", () => {
  expect(ofChange({ result: "DependsOnEarlier" }, "Secret").contents).toEqual([]);
});
