import * as fc from "fast-check";
import type { Path } from "../../../packages/controller/src/core/merge/field-set.ts";
import type { Json, JsonObject, KubeObject } from "@janus/types";
import { type Edit, edited } from "./edit.ts";
import { apply, put } from "./thing-server.ts";

const container = (name: string, field: string): Path => [
  "f:spec",
  "f:containers",
  `k:{"name":"${name}"}`,
  `f:${field}`,
];
const text = ["1", "2", "3"];

/** The fields of all objects here, with the values that they take. */
const universe: readonly (readonly [Path, readonly Json[]])[] = [
  [["f:data", "f:a"], text],
  [["f:data", "f:__proto__"], text],
  [["f:metadata", "f:labels", "f:x"], text],
  [["f:metadata", "f:labels", "f:constructor"], text],
  [["f:metadata", "f:annotations", "f:n"], text],
  [["f:metadata", "f:finalizers", 'v:"f1"'], ["f1"]],
  [["f:metadata", "f:finalizers", 'v:"f2"'], ["f2"]],
  [
    ["f:spec", "f:replicas"],
    [0, 1, 2],
  ],
  [
    ["f:spec", "f:args"],
    [["x"], ["x", "y"], []],
  ],
  [container("web", "image"), text],
  [container("web", "tag"), text],
  [container("db", "image"), text],
  [container("db", "tag"), text],
];
export const paths = universe.map(([path]) => path);

const edit: fc.Arbitrary<Edit> = fc
  .constantFrom(...universe)
  .chain(([path, values]) =>
    fc.record({ path: fc.constant(path), value: fc.constantFrom<Json | undefined>(...values, undefined) }),
  );
export const edits = fc.array(edit, { minLength: 1, maxLength: 4 });
export const sets = ({ value }: Edit): boolean => value !== undefined;

/** A write of somebody: an edit of the whole object, or an apply of a few fields. */
export type Write = { readonly by: string; readonly how: "edits" | "applies"; readonly edits: readonly Edit[] };
export const write: fc.Arbitrary<Write> = fc.record({
  by: fc.constantFrom("gitops", "hpa", "person"),
  how: fc.constantFrom("edits", "applies"),
  edits,
});

export const bare: KubeObject = {
  apiVersion: "v1",
  kind: "Thing",
  metadata: { name: "thing", uid: "o-1", resourceVersion: "1" },
};

export const asJson = (object: KubeObject): JsonObject => object as unknown as JsonObject;

export const written = (live: KubeObject, { by, how, edits }: Write): KubeObject =>
  how === "edits" ? put(live, edited(asJson(live), edits), by) : apply(live, edited({}, edits.filter(sets)), by);
