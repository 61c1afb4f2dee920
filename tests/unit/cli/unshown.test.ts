import type { Change, Render, RenderedChange } from "@janus/api";
import { expect, it } from "vitest";
import { renderReport } from "../../../packages/cli/src/plan/render-report.ts";
import { unshown } from "../../../packages/cli/src/plan/unshown.ts";
import { transaction } from "../core/transaction.ts";

const named = "change 1 (ConfigMap shop/app)";

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

const later = (change: Change) => {
  const render: Render = {
    result: "OK",
    changes: [{ result: "DependsOnEarlier" }],
    observedGeneration: 1,
    renderedAt: "",
  };
  return {
    shown: renderReport(transaction([change]), render, (_, text) => text, 80),
    ...unshown(transaction([change]), render),
  };
};
const target = { apiVersion: "v1", kind: "ConfigMap", name: "app" };

it.each<readonly [string, Change]>([
  ["Delete of ConfigMap shop/app", { type: "Delete", target }],
  ["Update of ConfigMap shop/app", { type: "Update", target, content: { data: { a: "2" } } }],
])("names what an earlier change has to come before, and does not let it pass as shown: %s", (named, change) => {
  const { shown, fields } = later(change);
  expect(shown).toContain(named);
  expect(fields).toHaveLength(1);
});

it("shows the API group of a target, if it is not one of Kubernetes, and no custom resource as a Secret", () => {
  const secret = { apiVersion: "vault.example.com/v1", kind: "Secret", namespace: "shop", name: "app" };
  const change: Change = { type: "Patch", target: secret, content: { spec: { policy: "long" } } };
  expect(later(change).shown).toContain("Secret.vault.example.com shop/app");
  const cut = [{ path: ".spec.policy", before: '"ok"', after: '"lon…' }];
  const render: Render = {
    result: "OK",
    changes: [{ result: "Change", diff: cut }],
    observedGeneration: 1,
    renderedAt: "",
  };
  expect(unshown(transaction([change]), render).fields).toHaveLength(1);
});

it("shows gates and times of the spec", () => {
  const waiting: Change = { type: "Delete", target, waitFor: ["delete"] };
  expect(later(waiting).shown).toContain("then waits for delete");
  expect(later(waiting).shown).toContain("timeout ");
});
