import type { JsonObject, KubeObject } from "@janus/types";
import { expect, it } from "vitest";
import { showPath } from "../../../packages/controller/src/core/merge/show-path.ts";
import { schemaChange } from "../../../packages/controller/src/core/preflight/schema-changes.ts";
import type { ResolvedItem } from "../../../packages/controller/src/core/state/resolved-changes.ts";
import { change } from "./underway.ts";

const definition = (schema: JsonObject, ...more: readonly object[]): KubeObject => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gadgets.example.com" },
  spec: { versions: [{ name: "v1", schema: { openAPIV3Schema: schema } }, ...more] },
});
const item = (kind = "CustomResourceDefinition"): ResolvedItem =>
  ({
    index: 0,
    change: change("Patch", "gadgets.example.com", kind),
    place: { resource: { group: "apiextensions.k8s.io", kind } },
  }) as unknown as ResolvedItem;

const having = (properties: JsonObject): JsonObject => ({ type: "object", properties });
const text = { type: "string" };
const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const mapOf = (additionalProperties: JsonObject | boolean): JsonObject => ({ type: "object", additionalProperties });
const listOf = (items: JsonObject): JsonObject => ({ type: "array", items });
const spec = (properties: JsonObject): JsonObject => having({ spec: having(properties) });

it.each<readonly [what: string, was: JsonObject, is: JsonObject, added: readonly string[]]>([
  ["a field", spec({ a: text }), spec({ a: text, b: text }), [".spec.b"]],
  ["a part of the object", having({ spec: text }), having({ spec: text, more: spec({ a: text }) }), [".more"]],
  ["a field of items", spec({ l: listOf(having({})) }), spec({ l: listOf(having({ a: text })) }), [".spec.l.a"]],
  ["a field of values", spec({ m: mapOf(having({})) }), spec({ m: mapOf(having({ a: text })) }), [".spec.m.a"]],
  ["any key", spec({ m: having({}) }), spec({ m: mapOf(text) }), [".spec.m"]],
  ["any field", spec({ m: having({}) }), spec({ m: anything }), [".spec.m"]],
  ["a field named as JavaScript's own", spec({}), spec({ constructor: text }), [".spec.constructor"]],
  ["nothing: another type", spec({ a: text }), spec({ a: { type: "string", maxLength: 3 } }), []],
  ["nothing: a field less", spec({ a: text, b: text }), spec({ a: text }), []],
  ["nothing, where any field was kept", spec({ m: anything }), spec({ m: having({ a: text }) }), []],
  ["nothing, where any key was kept", spec({ m: mapOf(true) }), spec({ m: having({ a: text }) }), []],
])("a change of a CustomResourceDefinition adds %s", (_, was, is, added) => {
  const { addedFields = [] } = schemaChange(item(), definition(was), definition(is));
  expect(addedFields.map(showPath)).toEqual(added);
});

it("a new version of a kind adds nothing to the objects of the others", () => {
  const v2 = { name: "v2", schema: { openAPIV3Schema: spec({ a: text, b: text }) } };
  expect(schemaChange(item(), definition(spec({})), definition(spec({}), v2))).toEqual({});
});

it("a change of any other kind has no schema", () => {
  expect(schemaChange(item("Gadget"), definition(spec({})), definition(spec({ a: text })))).toEqual({});
});
