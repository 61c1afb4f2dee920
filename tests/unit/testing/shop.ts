import type { SimulatedObject } from "@janus/testing";

/** What a release of a shop finds. */
export const LIVE: readonly SimulatedObject[] = [
  {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "app", labels: { team: "a" } },
    data: { version: "1", colour: "blue" },
  },
  {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "web" },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: "web" } },
      template: {
        metadata: { labels: { app: "web" } },
        spec: {
          containers: [
            { name: "web", image: "web:1", env: [{ name: "A", value: "1" }], ports: [{ containerPort: 80 }] },
            { name: "sidecar", image: "sidecar:1" },
          ],
        },
      },
    },
  },
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "old" },
    spec: { selector: { app: "old" }, ports: [{ port: 80 }] },
  },
];

export const CONFIG = { apiVersion: "v1", kind: "ConfigMap", name: "app" };
export const WEB = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
export const OLD = { apiVersion: "v1", kind: "Service", name: "old" };

export const transactionOf = (changes: readonly object[], spec: object = {}): object => ({
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { name: "release", namespace: "shop" },
  spec: { serviceAccountName: "deployer", ...spec, changes },
});

/** A change of each type. */
export const CHANGES: readonly object[] = [
  { type: "Patch", target: CONFIG, content: { data: { version: "2" } } },
  {
    type: "Create",
    target: { apiVersion: "v1", kind: "Secret", name: "key" },
    content: { stringData: { token: "t" } },
  },
  {
    type: "Apply",
    target: WEB,
    content: { spec: { template: { spec: { containers: [{ name: "web", image: "web:2" }] } } } },
  },
  { type: "Delete", target: OLD },
  {
    type: "Update",
    target: { apiVersion: "v1", kind: "ConfigMap", name: "other" },
    content: { data: { a: "2" } },
  },
];

export const OTHER: SimulatedObject = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "other", annotations: { note: "n" } },
  data: { a: "1", b: "1" },
};
