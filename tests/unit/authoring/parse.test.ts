import { parse, type Parsed, transactionJsonSchema } from "@janus/authoring";
import { expect, it } from "vitest";

const target = { apiVersion: "v1", kind: "ConfigMap", name: "app-config" };
const patch = { target, type: "Patch", content: { data: { version: "2.0" } } };
const manifest = {
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { name: "deploy-v2" },
  spec: { serviceAccountName: "deploy-sa", changes: [patch] },
};
const told = (parsed: Parsed<unknown>) => (parsed.ok ? [] : parsed.errors.map(({ path }) => path));

it("gives a Transaction as it was written", () => {
  expect(parse(manifest)).toEqual({ ok: true, value: manifest });
});

it("tells everything that the API server would refuse, with its path", () => {
  const wrong = {
    ...manifest,
    kind: "Transactions",
    metadata: { name: "Deploy" },
    spec: { timeout: "soon", changes: [{ ...patch, type: "Swap" }, { target }] },
  };
  expect(told(parse(wrong))).toEqual([
    "kind",
    "metadata.name",
    "spec.serviceAccountName",
    "spec.timeout",
    "spec.changes[0].type",
    "spec.changes[1].type",
  ]);
  expect(told(parse([]))).toEqual([""]);
  expect(told(parse({ ...manifest, spec: undefined }))).toEqual(["spec"]);
  expect(told(parse({ ...manifest, spec: { ...manifest.spec, retries: 3 } }))).toEqual(["spec.retries"]);
});

// No controller has read it yet, so its version is not the reason.
it("takes a field that it does not know for a misspelt one", () => {
  expect(parse({ ...manifest, spec: { ...manifest.spec, timout: "5m" } })).toEqual({
    ok: false,
    errors: [{ path: "spec.timout", message: "is not a field of a Transaction in this version: correct its name" }],
  });
});

it("has a JSON Schema that refuses misspelt fields, and takes any content", () => {
  const text = JSON.stringify(transactionJsonSchema());
  expect(text).not.toContain("x-kubernetes");
  expect(transactionJsonSchema()).toMatchObject({
    properties: {
      spec: {
        additionalProperties: false,
        properties: {
          changes: { items: { properties: { content: { type: "object" } }, additionalProperties: false } },
        },
      },
    },
  });
});
