// The objects and changes that scenarios are made of.
import type { JsonObject } from "@janus/api";
import type { Ref } from "./users.ts";

/** An object with this label is refused when it is really made, changed or deleted, and accepted by a dry run. */
export const REFUSED = { "tests.janus.io/refused": "for-real" };

/** While its namespace has a ConfigMap of this name, one with this label is annotated whenever it is updated. */
export const MUTATION = "mutation";
export const MUTATED = { "tests.janus.io/mutated": "yes" };

export const configMap = (name: string, data: JsonObject = {}, metadata: JsonObject = {}): JsonObject & Ref => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});

export const secret = (name: string, metadata: JsonObject = {}): JsonObject & Ref => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, ...metadata },
  data: { token: "c2VjcmV0" },
});

export const service = (name: string, metadata: JsonObject = {}): JsonObject & Ref => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, ...metadata },
  spec: { selector: { app: name }, ports: [{ name: "http", port: 80 }] },
});

/** Somebody's lock on a target. */
export const lock = (target: string, leaseDurationSeconds: number): JsonObject & Ref => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: `lock of ${target}` },
  spec: { holderIdentity: "somebody", leaseDurationSeconds },
});

export const transaction: Ref = {
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { name: "txn" },
};

const target = ({ apiVersion, kind, metadata: { name } }: Ref): JsonObject => ({ apiVersion, kind, name });

const serviceAccount = (name: string): Ref => ({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });

export const creation = (object: JsonObject & Ref, content: JsonObject = object): JsonObject => ({
  type: "Create",
  target: target(object),
  content,
});
export const update = (object: JsonObject & Ref): JsonObject => ({
  type: "Update",
  target: target(object),
  content: object,
});
export const patch = (ref: Ref, content: JsonObject): JsonObject => ({ type: "Patch", target: target(ref), content });
export const application = (object: JsonObject & Ref): JsonObject => ({
  type: "Apply",
  target: target(object),
  content: object,
});
export const replacement = (object: JsonObject & Ref): JsonObject => ({
  type: "Replace",
  target: target(object),
  content: object,
});
export const deletion = (ref: Ref): JsonObject => ({ type: "Delete", target: target(ref) });

/** Of an object without any field of its own, which leaves no mark by itself. */
export const bareCreation = (name: string, metadata: JsonObject = {}): JsonObject => ({
  type: "Create",
  target: target(serviceAccount(name)),
  content: { metadata },
});

export const refusedCreation: JsonObject = bareCreation("refused", { labels: REFUSED });

/** A lockTimeout that is raised to what the writes need: the locks of these Transactions are good for five seconds. */
export const spec = (changes: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  serviceAccountName: "deploy",
  lockTimeout: "1s",
  ...more,
  changes,
});

export const bystander = configMap("bystander", { nobody: "touches me" });
