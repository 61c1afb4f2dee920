import type { JsonObject } from "@janus/api";

export interface Scenario {
  readonly name: string;
  readonly outcome: "Committed" | "RolledBack" | "Failed";
  /** Objects that are there before, without namespace. */
  readonly before: readonly JsonObject[];
  readonly spec: JsonObject;
}

/** An object with this label is refused when it is really made, and accepted by a dry run. */
export const REFUSED = { "tests.janus.io/refused": "for-real" };

const target = (kind: string, name: string, apiVersion = "v1"): JsonObject => ({ apiVersion, kind, name });

const configMap = (name: string, data: JsonObject, labels: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels },
  data,
});

const secret = (name: string, labels: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, labels },
  data: { token: "c2VjcmV0" },
});

const service = (name: string, labels: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, labels },
  spec: { selector: { app: name }, ports: [{ name: "http", port: 80 }] },
});

/** One change of each type. The `n`-th is refused when it is really made. */
const changes = (refused?: number): readonly JsonObject[] => {
  const labels = (n: number): JsonObject => (refused === n ? { metadata: { labels: REFUSED } } : {});
  return [
    { type: "Patch", target: target("ConfigMap", "patched"), content: { data: { version: "2.0" }, ...labels(0) } },
    {
      type: "Update",
      target: target("Service", "updated"),
      content: {
        ...service("updated", refused === 1 ? REFUSED : {}),
        spec: {
          selector: { app: "new" },
          ports: [
            { name: "http", port: 81 },
            { name: "more", port: 82 },
          ],
        },
      },
    },
    { type: "Create", target: target("ConfigMap", "created"), content: { data: { made: "yes" }, ...labels(2) } },
    { type: "Delete", target: target("Secret", "deleted") },
    { type: "Create", target: target("ServiceAccount", "bare"), content: { ...labels(4) } },
  ];
};

const before = (refused?: number): readonly JsonObject[] => [
  configMap("patched", { version: "1.0", kept: "yes" }),
  service("updated"),
  secret("deleted", refused === 3 ? REFUSED : {}),
  configMap("bystander", { nobody: "touches me" }),
];

const spec = (changes: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  serviceAccountName: "deploy",
  lockTimeout: "1s",
  ...more,
  changes,
});

const owned = (name: string, owner: string): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: {
    name,
    ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: owner, uid: `uid of ConfigMap/${owner}` }],
  },
  data: { of: owner },
});

const deletion = (name: string): JsonObject => ({ type: "Delete", target: target("ConfigMap", name) });

const refusedCreate: JsonObject = {
  type: "Create",
  target: target("ServiceAccount", "refused"),
  content: { metadata: { labels: REFUSED } },
};

const family: readonly JsonObject[] = [
  configMap("bystander", { nobody: "touches me" }),
  configMap("parent", { is: "owner" }),
  owned("child", "parent"),
];

export const scenarios: readonly Scenario[] = [
  {
    name: "an owner and what it owns are deleted, and both come back",
    outcome: "RolledBack",
    before: family,
    spec: spec([deletion("parent"), deletion("child"), refusedCreate]),
  },
  {
    name: "what is owned is deleted, then its owner, and both come back",
    outcome: "RolledBack",
    before: family,
    spec: spec([deletion("child"), deletion("parent"), refusedCreate]),
  },
  { name: "all four types commit", outcome: "Committed", before: before(), spec: spec(changes()) },
  ...[0, 1, 2, 3, 4].map(
    (refused): Scenario => ({
      name: `change ${refused} of 5 is refused when it is made`,
      outcome: "RolledBack",
      before: before(refused),
      spec: spec(changes(refused)),
    }),
  ),
];
