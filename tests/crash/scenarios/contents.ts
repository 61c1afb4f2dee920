// Scenarios in which contents of changes are in a ConfigMap and a Secret.
import { gzipSync } from "node:zlib";
import type { JsonObject } from "@janus/api";
import { without } from "@janus/types";
import {
  application,
  bystander,
  configMap,
  creation,
  patch,
  refusedCreation,
  replacement,
  spec,
  update,
} from "../objects.ts";
import type { Scenario } from "../scenario.ts";
import type { Ref } from "../users.ts";

const a = configMap("a", { value: "old", kept: "yes" });
const b = configMap("b", { value: "old" });
const made = configMap("made", { made: "yes" });

const zipped = (content: object): string => gzipSync(JSON.stringify(content)).toString("base64");

const contents: JsonObject & Ref = {
  ...configMap("contents", {
    patched: JSON.stringify({ data: { value: "new" } }),
    made: JSON.stringify({ data: made["data"] }),
  }),
  immutable: true,
};
const secretContents: JsonObject & Ref = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "contents" },
  immutable: true,
  data: {
    updated: zipped({ data: { value: "new" } }),
    applied: zipped({ data: { value: "new" } }),
    replaced: zipped({ data: { value: "new" }, immutable: true }),
  },
};

const from = (change: JsonObject, ref: JsonObject): JsonObject => ({
  ...without(change, ["content"]),
  contentFrom: ref,
});
const changes = [
  from(patch(a, {}), { configMapKeyRef: { name: "contents", key: "patched" } }),
  from(update(b), { secretKeyRef: { name: "contents", key: "updated" } }),
  from(creation(made), { configMapKeyRef: { name: "contents", key: "made" } }),
];
const before = [bystander, a, b, contents, secretContents];

/** Immutable: only another one may have other data. */
const sealed: JsonObject & Ref = { ...b, immutable: true };
const remade = [
  from(application(a), { secretKeyRef: { name: "contents", key: "applied" } }),
  from(application(made), { configMapKeyRef: { name: "contents", key: "made" } }),
  from(replacement(sealed), { secretKeyRef: { name: "contents", key: "replaced" } }),
];
const beforeRemade = [bystander, a, sealed, contents, secretContents];

/** The contents of the changes are in a ConfigMap and a Secret, which are read, and recorded, before the first change. */
export const contentsElsewhere: readonly Scenario[] = [
  { name: "contents in a ConfigMap and a Secret", outcome: "Committed", before, spec: spec(changes) },
  {
    name: "contents in a ConfigMap and a Secret, and a failure",
    outcome: "RolledBack",
    before,
    spec: spec([...changes, refusedCreation]),
  },
  {
    name: "contents of Applies and a Replace",
    outcome: "Committed",
    before: beforeRemade,
    spec: spec(remade),
  },
  {
    name: "contents of Applies and a Replace, and a failure",
    outcome: "RolledBack",
    before: beforeRemade,
    spec: spec([...remade, refusedCreation]),
  },
];
