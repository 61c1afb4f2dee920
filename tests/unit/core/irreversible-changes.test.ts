import type { Change } from "@janus/api";
import { expect, it } from "vitest";
import { change, examined, former } from "./underway.ts";

const making = (type: "Update" | "Patch", kind: string, content: object): Change =>
  ({ ...change(type, "a", kind), content }) as Change;

const sized = (storage: string) => ({ spec: { resources: { requests: { storage } } } });
const versions = (...names: readonly string[]) => ({
  spec: { versions: names.map((name, at) => ({ name, storage: at === names.length - 1 })) },
});
const ordinary = change("Patch", "b");
const b = former("ConfigMap", "b");

it.each([
  ["Patch", "ConfigMap", { immutable: true }, {}, "makes it immutable"],
  ["Update", "Secret", { immutable: true, data: {} }, {}, "makes it immutable"],
  ["Patch", "PersistentVolumeClaim", sized("2Gi"), sized("1Gi"), "makes it larger"],
  [
    "Update",
    "CustomResourceDefinition",
    versions("v1", "v2"),
    versions("v1"),
    "stores its objects in the new version v2",
  ],
] as const)("refuses a %s of a %s anywhere but at the end: %j", (type, kind, content, before, what) => {
  const step = examined([making(type, kind, content), ordinary], former(kind, "a", before), b);
  expect(step).toContain(
    `the ${type} of ${kind} shop/a ${what}, which cannot be undone: move it to the end of the list`,
  );
});

it.each([
  ["at the end", [ordinary, making("Patch", "ConfigMap", { immutable: true })], {}],
  [
    "at the end, with what nothing can undo either",
    [ordinary, making("Patch", "ConfigMap", { immutable: true }), change("Delete", "c", "PersistentVolumeClaim")],
    {},
  ],
  ["what is immutable already", [making("Patch", "ConfigMap", { immutable: true }), ordinary], { immutable: true }],
  [
    "a version that is there already",
    [making("Patch", "CustomResourceDefinition", versions("v2", "v1")), ordinary],
    versions("v1", "v2"),
  ],
  ["what is created so", [{ ...change("Create", "new"), content: { immutable: true } } as Change, ordinary], {}],
] as const)("lets it be %s", (_, changes, before) => {
  const claim = former("PersistentVolumeClaim", "c");
  const step = examined(changes, former(changes[0].target.kind, "a", before), b, claim);
  expect(step).not.toContain("which cannot be undone");
  expect(step).toContain('"purpose":"store"');
});
