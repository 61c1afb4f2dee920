import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";

const repository = path.resolve(import.meta.dirname, "../../..");
const read = (file: string): string => readFileSync(path.join(repository, file), "utf8");

/** Strict: a keyword or format that is none of JSON Schema is refused. */
const isValid = new Ajv({ strict: true, allErrors: true }).compile(
  JSON.parse(read("deploy/transaction.schema.json")) as object,
);

/** What an editor would underline. */
const mistakes = (object: unknown): readonly string[] =>
  isValid(object) ? [] : (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);

interface Found {
  readonly file: string;
  readonly object: { readonly kind?: string };
}

const examples: readonly Found[] = globSync(["docs/examples/**/*.yaml", "examples/**/*.yaml"], {
  cwd: repository,
  exclude: ["**/templates/**", "**/node_modules/**"],
})
  .flatMap((file) => parseAllDocuments(read(file)).map((document) => ({ file, object: document.toJS() as object })))
  .filter(({ object }: Found) => object?.kind === "Transaction");

it("there are examples", () => {
  expect(examples.length).toBeGreaterThan(2);
});

it.each(examples)("an editor finds nothing wrong with $file", ({ object }) => {
  expect(mistakes(object)).toEqual([]);
});

const target = { apiVersion: "v1", kind: "ConfigMap", name: "config" };
const transaction = (spec: object, change: object) => ({
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { name: "txn" },
  spec: { serviceAccountName: "deployer", changes: [{ type: "Patch", target, content: {}, ...change }], ...spec },
});

describe("an editor underlines", () => {
  it("nothing of what is right", () => {
    expect(mistakes(transaction({ waitFor: ["ready"] }, { content: { any: [{ field: 1 }] } }))).toEqual([]);
  });

  it.each([
    ["a misspelt field of spec", transaction({ waitfor: ["ready"] }, {}), "/spec must NOT have additional properties"],
    ["no ServiceAccount", transaction({ serviceAccountName: undefined }, {}), "/spec must have required property"],
    ["no changes", transaction({ changes: [] }, {}), "/spec/changes must NOT have fewer than 1 items"],
    ["a type that there is not", transaction({}, { type: "Swap" }), "/spec/changes/0/type must be equal to one of"],
    ["a target without a name", transaction({}, { target: { ...target, name: undefined } }), "/spec/changes/0/target"],
    ["a gate that is no list", transaction({}, { waitFor: "ready" }), "/spec/changes/0/waitFor must be array"],
    ["a misspelt field of a change", transaction({}, { contents: {} }), "/spec/changes/0 must NOT have additional"],
    ["a policy that there is not", transaction({ deletionPolicy: "Keep" }, {}), "/spec/deletionPolicy must be equal"],
    ["another kind", { ...transaction({}, {}), kind: "Transactions" }, "/kind must be equal to constant"],
    ["no spec", { ...transaction({}, {}), spec: undefined }, " must have required property 'spec'"],
  ])("%s", (_, object, mistake) => {
    // As it is read from a file, which has no fields that are undefined.
    expect(mistakes(JSON.parse(JSON.stringify(object))).join("\n")).toContain(mistake);
  });
});
