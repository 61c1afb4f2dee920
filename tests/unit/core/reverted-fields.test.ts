import { fieldManager, type ResolvedChange } from "@janus/api";
import type { JsonObject, KubeObject, ManagedFieldsEntry } from "@janus/types";
import { expect, it } from "vitest";
import { revertedFields } from "../../../packages/controller/src/core/merge/reverted-fields.ts";
import { showPaths } from "../../../packages/controller/src/core/merge/show-path.ts";
import type { ObjectRef } from "../../../packages/controller/src/core/kubernetes/kube-object.ts";

const author = { name: "txn", uid: "of-txn", creationTimestamp: "2026-01-01T12:00:00Z" };
const place: ObjectRef = {
  resource: {
    group: "apps",
    version: "v1",
    kind: "Deployment",
    plural: "deployments",
    namespaced: true,
    statusSubresource: true,
  },
  namespace: "shop",
  name: "web",
};

const entry = (manager: string, fieldsV1: JsonObject, more: Partial<ManagedFieldsEntry> = {}): ManagedFieldsEntry => ({
  manager,
  operation: "Apply",
  apiVersion: "apps/v1",
  time: "2026-01-01T12:00:01Z",
  fieldsV1,
  ...more,
});
const ours = (fieldsV1: JsonObject): ManagedFieldsEntry => entry(fieldManager(author), fieldsV1);
const object = (fields: JsonObject, ...managedFields: readonly ManagedFieldsEntry[]): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", uid: "of-web", managedFields },
  ...fields,
});
const change = (type: "Create" | "Patch" | "Update", content: JsonObject): ResolvedChange => ({
  type,
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  content,
});

const spec = (fields: JsonObject): JsonObject => ({ spec: fields });
const fields = (of: JsonObject): JsonObject => ({ "f:spec": of });
const image = (text: string): JsonObject => spec({ containers: [{ name: "web", image: text }] });
const web = (of: JsonObject): JsonObject =>
  fields({ "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:name": {}, ...of } } });
const port = (nodePort: number): JsonObject => spec({ ports: [{ port: 80, nodePort }] });
const ports = (of: JsonObject): JsonObject => fields({ "f:ports": { 'k:{"port":80,"protocol":"TCP"}': of } });
const withProtocol = (nodePort: number): JsonObject => spec({ ports: [{ port: 80, protocol: "TCP", nodePort }] });
const replicas = (count: number): JsonObject => spec({ replicas: count });

const patched = (content: JsonObject, live: KubeObject): string =>
  showPaths(revertedFields(change("Patch", content), place, undefined, live, author));

it.each<readonly [what: string, content: JsonObject, live: KubeObject, reverted: string]>([
  ["is as it was set", image("v2"), object(image("v2"), ours(web({ "f:image": {} }))), ""],
  [
    "was taken over with another value",
    image("v2"),
    object(image("v1"), ours(web({})), entry("gitops", web({ "f:image": {} }))),
    '.spec.containers[name="web"].image',
  ],
  [
    "was taken over, with all that we had set",
    image("v2"),
    object(image("v1"), entry("gitops", web({ "f:image": {} }))),
    '.spec.containers[name="web"].image',
  ],
  ["was taken over with the same value", image("v2"), object(image("v2"), entry("gitops", web({ "f:image": {} }))), ""],
  [
    "was removed with its item",
    image("v2"),
    object(
      spec({ containers: [{ name: "other", image: "o" }] }),
      entry("gitops", fields({ "f:containers": { 'k:{"name":"other"}': { ".": {} } } })),
    ),
    '.spec.containers[name="web"]',
  ],
  [
    "was written by the API server in its own form",
    spec({ limits: { cpu: "1000m" } }),
    object(spec({ limits: { cpu: "1" } }), ours(fields({ "f:limits": { "f:cpu": {} } }))),
    "",
  ],
  [
    "was scaled",
    replicas(3),
    object(replicas(5), entry("hpa", fields({ "f:replicas": {} }), { subresource: "scale" })),
    "",
  ],
  [
    "was edited",
    replicas(3),
    object(replicas(5), entry("kubectl-edit", fields({ "f:replicas": {} }), { operation: "Update" })),
    ".spec.replicas",
  ],
  [
    "was removed, and had no other manager",
    replicas(3),
    object(spec({ other: 1 }), entry("gitops", fields({ "f:other": {} }))),
    ".spec.replicas",
  ],
  [
    "is empty, and others fill it",
    spec({ rules: [] }),
    object(spec({ rules: ["a"] }), entry("aggregation", fields({ "f:rules": {} }))),
    "",
  ],
  ["is null", spec({ paused: null }), object(spec({ paused: true }), entry("gitops", fields({ "f:paused": {} }))), ""],
  [
    "is in an item that leaves a key to its default",
    port(30_000),
    object(withProtocol(30_001), ours(ports({ ".": {}, "f:port": {} })), entry("gitops", ports({ "f:nodePort": {} }))),
    '.spec.ports[port=80,protocol="TCP"].nodePort',
  ],
  [
    "is in an item that leaves a key to its default, as it was set",
    port(30_000),
    object(withProtocol(30_000), ours(ports({ ".": {}, "f:port": {}, "f:nodePort": {} }))),
    "",
  ],
  ["is of an object whose managedFields were cleared", replicas(3), object(replicas(5)), ""],
])("a field that %s", (_, content, live, reverted) => {
  expect(patched(content, live)).toBe(reverted);
});

const gitops = (time: string, of: JsonObject): ManagedFieldsEntry => entry("gitops", fields(of), { time });
const EARLIER = "2026-01-01T11:00:00Z";
const LATER = "2026-01-01T12:30:00Z";
const old = object(spec({ a: "1", cpu: "1", gone: "x" }), gitops(EARLIER, { "f:a": {}, "f:cpu": {}, "f:gone": {} }));
const content = spec({ a: "2", cpu: "1000m" });

it.each<readonly [what: string, live: KubeObject, reverted: string]>([
  [
    "nothing, where a value has the form that it had",
    object(spec({ a: "2", cpu: "1" }), gitops(EARLIER, { "f:cpu": {} }), ours(fields({ "f:a": {} }))),
    "",
  ],
  [
    "what another client puts back",
    object(spec({ a: "1", cpu: "1" }), gitops(LATER, { "f:a": {}, "f:cpu": {} }), ours({ "f:metadata": {} })),
    ".spec.a, .spec.cpu",
  ],
  [
    "what it has removed, and another client sets again",
    object(
      spec({ a: "2", cpu: "1", gone: "x" }),
      gitops(EARLIER, { "f:cpu": {} }),
      ours(fields({ "f:a": {} })),
      entry("kubectl", fields({ "f:gone": {} })),
    ),
    ".spec.gone",
  ],
])("of an Update, finds %s", (_, live, reverted) => {
  expect(showPaths(revertedFields(change("Update", content), place, old, live, author))).toBe(reverted);
});

it("finds what a Patch has removed with null, and a manager has who has written since: the default of the API server is nobody's", () => {
  const removes = change("Patch", spec({ paused: null, replicas: null }));
  const owned = fields({ "f:paused": {}, "f:replicas": {} });
  const before = object(spec({ paused: true, replicas: 1 }), entry("gitops", owned));
  const live = object(spec({ replicas: 1 }), entry("gitops", owned));
  expect(showPaths(revertedFields(removes, place, before, live, author))).toBe("");
  const again = object(
    spec({ paused: true }),
    entry("gitops", fields({ "f:paused": {} }), { time: "2026-01-01T12:00:09Z" }),
  );
  expect(showPaths(revertedFields(removes, place, before, again, author))).toBe(".spec.paused");
});
