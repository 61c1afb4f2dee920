import type { Change } from "@janus/api";
import { expect, it } from "vitest";
import { change, examined, former } from "./underway.ts";

const making = (type: "Update" | "Patch", kind: string, content: object): Change =>
  ({ ...change(type, "a", kind), content }) as Change;

const sized = (storage: string) => ({ spec: { resources: { requests: { storage } } } });
const ordinary = change("Patch", "b");
const b = former("ConfigMap", "b");

it.each([
  ["Patch", "ConfigMap", { immutable: true }, {}, "makes it immutable"],
  ["Update", "Secret", { immutable: true, data: {} }, {}, "makes it immutable"],
  ["Patch", "PersistentVolumeClaim", sized("2Gi"), sized("1Gi"), "makes it larger"],
] as const)("refuses a %s of a %s anywhere but at the end: %j", (type, kind, content, before, what) => {
  const step = examined([making(type, kind, content), ordinary], former(kind, "a", before), b);
  expect(step).toContain(
    `the ${type} of ${kind} shop/a ${what}, which nothing can undo: move it to the end of the list`,
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
  ["what is created so", [{ ...change("Create", "new"), content: { immutable: true } } as Change, ordinary], {}],
] as const)("lets it be %s", (_, changes, before) => {
  const claim = former("PersistentVolumeClaim", "c");
  const step = examined(changes, former("ConfigMap", "a", before), b, claim);
  expect(step).not.toContain("which nothing can undo");
  expect(step).toContain('"purpose":"store"');
});
