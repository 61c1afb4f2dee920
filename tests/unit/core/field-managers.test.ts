import type { KubeObject, ManagedFieldsEntry } from "@janus/types";
import { expect, it } from "vitest";
import { modifiedBy, modifiedSinceBy } from "../../../packages/controller/src/core/merge/field-managers.ts";

const owns = (manager: string, ...keys: readonly string[]): ManagedFieldsEntry => ({
  manager,
  operation: "Update",
  fieldsV1: { "f:data": Object.fromEntries(keys.map((key) => [`f:${key}`, {}])) },
});
const object = (...managedFields: readonly ManagedFieldsEntry[]): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", managedFields },
});
const path = (key: string) => ["f:data", `f:${key}`];

it.each([
  ["one", object(owns("kubectl-edit", "x"), owns("helm", "y")), 'field manager "kubectl-edit"'],
  ["several, each once", object(owns("a", "x"), owns("b", "x"), owns("a", "x")), 'field managers "a" and "b"'],
  [
    "Transactions by their names",
    object(owns("b", "x"), owns("janus-a-txn-00000000-0000-4000-8000-000000000001", "x")),
    'Transaction a-txn (uid 00000000-0000-4000-8000-000000000001) and field manager "b"',
  ],
  ["nobody, as of what was removed", object(owns("helm", "y")), "another client"],
  ["an object without managedFields", object(), "another client"],
])("a conflict names who owns the field: %s", (_, live, expected) => {
  expect(modifiedBy(live, [path("x")])).toBe(expected);
});

const at = (entry: ManagedFieldsEntry, time: string): ManagedFieldsEntry => ({ ...entry, time });

it.each([
  ["a new one", object(at(owns("helm", "y"), "1"), at(owns("person", "x"), "2")), 'field manager "person"'],
  ["one that was there", object(at(owns("helm", "x", "y"), "2")), 'field manager "helm"'],
  ["nobody, if something was only removed", object(at(owns("helm"), "1")), "another client"],
  [
    "nobody who reports a status",
    object(at(owns("helm", "y"), "1"), { ...at(owns("controller"), "2"), subresource: "status" }),
    "another client",
  ],
])("a conflict with the whole object names who has written it since: %s", (_, live, expected) => {
  expect(modifiedSinceBy(object(at(owns("helm", "y"), "1")), live)).toBe(expected);
});
