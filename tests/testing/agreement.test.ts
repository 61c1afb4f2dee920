import type { SimulatedObject } from "@janus/testing";
import { describe, expect, it } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { applying, creating, deleting, patching, updating } from "../fixtures/changes.ts";
import { configMap, deployment, role, secret, service, serviceAccount } from "../fixtures/manifests.ts";
import { type Case, prepare, real, simulated } from "./agreement.ts";

const labelled = (manifest: Manifest, metadata: object): Manifest => ({
  ...manifest,
  metadata: { ...manifest.metadata, ...metadata },
});

const containers = (...list: readonly object[]): object => ({ spec: { template: { spec: { containers: list } } } });

const CONFIG = labelled(configMap("app", { version: "1", colour: "blue" }), { labels: { team: "a" } });
const KEY = secret("key", { token: "t", other: "o" });
const WEB = deployment("web", "web:1");

const CASES: Readonly<Record<string, Case>> = {
  "all types on ConfigMaps and Secrets": {
    live: [CONFIG, KEY, configMap("old", { a: "1" }), configMap("all", { a: "1", b: "1" })],
    changes: [
      patching(labelled(configMap("app", { version: "2", extra: "e" }), { annotations: { note: "n" } })),
      creating(secret("fresh", { a: "1" })),
      updating(configMap("all", { a: "2" })),
      deleting(configMap("old")),
      applying(secret("key", { token: "u" })),
      applying(configMap("brand-new", { a: "1" })),
    ],
  },
  "lists by their keys": {
    live: [WEB, service("front")],
    changes: [
      patching({
        ...WEB,
        ...containers({ name: "web", env: [{ name: "A", value: "1" }] }, { name: "proxy", image: "p" }),
      }),
      patching({
        ...service("web"),
        spec: {
          ports: [
            { port: 443, name: "tls" },
            { port: 80, name: "http" },
          ],
        },
      }),
      creating(configMap("last", { a: "1" })),
    ],
  },
  "an Update that takes away what others have set": {
    live: [
      labelled(configMap("one", { a: "1", b: "1" }), { finalizers: ["example.com/hold"] }),
      role("reader", { apiGroups: [""], resources: ["pods"], verbs: ["get"] }),
      serviceAccount("robot"),
    ],
    changes: [
      updating(labelled(configMap("one"), { labels: { l: "1" } })),
      updating(role("reader", { apiGroups: [""], resources: ["pods", "services"], verbs: ["get"] })),
      patching({ ...serviceAccount("robot"), imagePullSecrets: [{ name: "a" }] }),
      deleting(serviceAccount("robot-2")),
    ],
  },
  "deletions, created again": {
    live: [
      labelled(configMap("one", { a: "1" }), { labels: { l: "1" }, annotations: { n: "1" } }),
      secret("two", { a: "1" }),
      role("three", { apiGroups: [""], resources: ["pods"], verbs: ["get"] }),
    ],
    changes: [
      deleting(configMap("one")),
      deleting(secret("two")),
      deleting(role("three")),
      creating(configMap("four", { a: "1" })),
    ],
  },
  "what is refused before the first change": {
    live: [CONFIG],
    changes: [
      creating(configMap("app", { a: "1" })),
      deleting(configMap("none")),
      patching(configMap("app-2", { a: "1" })),
      { ...patching(configMap("app-3", {})), resourceVersion: "1" },
    ],
  },
  "an edit of another client that a rollback keeps": {
    live: [CONFIG],
    changes: [patching(configMap("app", { version: "2" })), creating(configMap("last"))],
    edits: [
      { before: 1, target: { apiVersion: "v1", kind: "ConfigMap", name: "app" }, patch: { data: { colour: "red" } } },
    ],
  },
  "an edit of another client that is a conflict": {
    live: [CONFIG],
    changes: [patching(configMap("app", { version: "2" })), creating(configMap("last"))],
    edits: [
      { before: 1, target: { apiVersion: "v1", kind: "ConfigMap", name: "app" }, patch: { data: { version: "9" } } },
    ],
  },
  "an edit of what was created": {
    live: [],
    changes: [creating(configMap("app", { version: "2" })), creating(configMap("last"))],
    edits: [
      { before: 1, target: { apiVersion: "v1", kind: "ConfigMap", name: "app" }, patch: { data: { more: "9" } } },
    ],
  },
  "finalizers and annotations": {
    live: [
      labelled(configMap("one", { a: "1" }), { finalizers: ["example.com/hold", "example.com/keep"] }),
      labelled(configMap("two", { a: "1" }), { annotations: { n: "1" } }),
    ],
    changes: [
      applying(labelled(configMap("one"), { finalizers: ["example.com/more"] })),
      updating(labelled(configMap("two", { b: "2" }), { labels: { l: "1" } })),
      creating(configMap("last")),
    ],
  },
  "several edits of other clients": {
    live: [CONFIG, KEY],
    changes: [
      patching(configMap("app", { version: "2", extra: "e" })),
      updating(secret("key", { token: "u" })),
      creating(configMap("last", { a: "1" })),
    ],
    edits: [
      { before: 1, target: { apiVersion: "v1", kind: "ConfigMap", name: "app" }, patch: { data: { extra: null } } },
      {
        before: 2,
        target: { apiVersion: "v1", kind: "Secret", name: "key" },
        patch: { metadata: { labels: { l: "1" } } },
      },
    ],
  },
  "a target that another client deletes": {
    live: [CONFIG],
    changes: [patching(configMap("app", { version: "2" })), creating(configMap("last"))],
    edits: [{ before: 1, target: { apiVersion: "v1", kind: "ConfigMap", name: "app" }, patch: null }],
  },
  "gates on all, before and after a rollback": {
    live: [CONFIG, service("front")],
    changes: [
      patching(configMap("app", { version: "2" })),
      patching({ ...service("front"), spec: { selector: { app: "b" } } }),
      creating(configMap("last")),
    ],
    spec: { waitFor: ["ready"], rollbackWaitFor: ["ready"] },
  },
  "kinds of several groups": {
    live: [WEB],
    changes: [
      updating({ ...WEB, spec: { ...(WEB["spec"] as object), replicas: 2 } }),
      creating({
        apiVersion: "networking.k8s.io/v1",
        kind: "NetworkPolicy",
        metadata: { name: "deny" },
        spec: { podSelector: {}, policyTypes: ["Ingress"] },
      }),
      creating({
        apiVersion: "autoscaling/v2",
        kind: "HorizontalPodAutoscaler",
        metadata: { name: "scale" },
        spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
      }),
      creating(configMap("last")),
    ],
  },
  "an edit just before the change": {
    live: [CONFIG],
    changes: [updating(configMap("app", { version: "2" })), creating(configMap("last"))],
    edits: [
      { before: 0, target: { apiVersion: "v1", kind: "ConfigMap", name: "app" }, patch: { data: { version: "9" } } },
    ],
  },
  "a gate that is met": {
    live: [CONFIG],
    changes: [{ ...patching(configMap("app", { version: "2" })), waitFor: ["ready"] }, creating(configMap("last"))],
  },
  "a gate that is not met": {
    live: [CONFIG],
    changes: [
      { ...patching(configMap("app", { version: "2" })), waitFor: ["jsonpath={.data.version}=3"], waitTimeout: "1s" },
      creating(configMap("last")),
    ],
  },
};

const POSITIONS = Object.entries(CASES).flatMap(([name, one]) =>
  [undefined, ...one.changes.keys()].map((failAt) => ({ name, one, failAt })),
);

const key = ({ kind, metadata }: SimulatedObject): string => `${kind} ${metadata.name}`;

const sorted = (objects: readonly SimulatedObject[]): readonly SimulatedObject[] =>
  objects.toSorted((a, b) => key(a).localeCompare(key(b)));

describe("the model and the real API server agree", () => {
  it.each(POSITIONS)("on $name, with changes[$failAt] refused", async ({ one, failAt }) => {
    const { place, before } = await prepare(one);
    const { objects: expected, ...model } = simulated(one, place, before, failAt);
    const { objects, ...outcome } = await real(one, place, failAt);
    expect(model).toEqual(outcome);
    expect(sorted(objects).map(key)).toEqual(sorted(expected).map(key));
    // The API server adds its defaults to what was created.
    expect(sorted(objects)).toMatchObject(sorted(expected));
  });
});
