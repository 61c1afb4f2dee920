import { type Change, decodeTransaction, FINALIZER, type Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import * as fc from "fast-check";
import { transaction, UID } from "./transaction.ts";

/** A uid or version, mostly the one that is right. */
export const word = fc.constantFrom("1", "1", "1", "1", "2", "3");
export const error = fc.constantFrom("", "no", "x".repeat(300));

const target = (apiVersion: string, kind: string, name: string) => ({ apiVersion, kind, name });
const content = { data: { a: "1" } };

const crd = {
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { kind: "Thing", plural: "things" },
    versions: [{ name: "v1", subresources: { status: {} } }],
  },
};

/** Changes of every type, of namespaced, cluster-scoped, enabling and not yet existing kinds; no two of one target. */
const changes: readonly Change[] = [
  { type: "Create", target: target("v1", "ConfigMap", "created"), content },
  { type: "Patch", target: target("v1", "ConfigMap", "patched"), content },
  { type: "Update", target: target("v1", "ConfigMap", "updated"), content, resourceVersion: "1" },
  { type: "Apply", target: target("v1", "ConfigMap", "applied"), content },
  { type: "Delete", target: target("v1", "Secret", "deleted") },
  { type: "Delete", target: target("v1", "ConfigMap", "deleted") },
  { type: "Create", target: target("v1", "Namespace", "fresh"), content: {} },
  { type: "Create", target: { ...target("v1", "ConfigMap", "inside"), namespace: "fresh" }, content },
  { type: "Create", target: target("apiextensions.k8s.io/v1", "CustomResourceDefinition", "things"), content: crd },
  { type: "Create", target: target("example.com/v1", "Thing", "thing"), content: {} },
  { type: "Patch", target: target("rbac.authorization.k8s.io/v1", "ClusterRole", "a:b"), content: { rules: [] } },
  { type: "Delete", target: target("v1", "PersistentVolumeClaim", "data") },
];

/** Booleans and fields of an item as anybody might have written them; many of them mean nothing. */
const wireItem = fc.record(
  {
    lockLease: fc.constant("lease"),
    leaseNamespace: fc.constant("shop"),
    prepared: fc.boolean(),
    committed: fc.boolean(),
    rolledBack: fc.boolean(),
    error,
    uid: word,
    resourceVersion: word,
    snapshot: fc.record({ store: fc.constant("deploy-v2-rollback"), key: fc.constantFrom("item-0-1", "item-1-2") }),
    created: word,
  },
  { requiredKeys: [] },
);

/** Items that the codec knows, of every state. */
const goodItem = fc
  .tuple(fc.constantFrom("", "p", "pr", "pc", "pce", "pcr", "pcre", "pe", "pre", "e"), fc.boolean(), fc.boolean(), word)
  .map(([flags, existed, made, at]) => ({
    prepared: flags.includes("p"),
    committed: flags.includes("c"),
    rolledBack: flags.includes("r"),
    ...(flags.includes("e") || flags === "pr" ? { error: "no" } : {}),
    ...(flags.includes("p") && existed
      ? { uid: at, resourceVersion: at, snapshot: { store: "deploy-v2-rollback", key: `item-0-${at}` } }
      : {}),
    ...(flags.includes("c") && made ? { created: at } : {}),
  }));

export const store = fc.record({
  kind: fc.constantFrom("ConfigMap", "Secret"),
  name: fc.constantFrom("deploy-v2-rollback", "deploy-v2-rollback-1"),
  uid: word,
  digest: fc.constant("sha256:0"),
});

const wireStatus = fc.record(
  {
    phase: fc.constantFrom(
      "Preparing",
      "Committing",
      "Committing",
      "Committing",
      "RollingBack",
      "Pending",
      "Preparing",
      "Prepared",
      "Committing",
      "Committed",
      "RollingBack",
      "RolledBack",
      "Failed",
    ),
    version: fc.nat(),
    startedAt: fc.constantFrom("2026-01-01T11:59:30Z", "2026-01-01T11:00:00Z", "yesterday", ""),
    completedAt: fc.constantFrom("2026-01-01T12:00:00Z"),
    journal: fc.record({ name: fc.constant(`janus-journal-${UID}`), uid: word }),
    snapshots: fc.array(store, { maxLength: 2 }),
    items: fc.oneof(
      { weight: 9, arbitrary: fc.array(goodItem, { minLength: 4, maxLength: 4 }) },
      { weight: 1, arbitrary: fc.array(wireItem, { maxLength: 5 }) },
    ),
    recovery: fc.record({ attempts: fc.nat({ max: 6 }) }),
    conditions: fc.array(
      fc.record({
        type: fc.constantFrom("Ready", "Prepared", "Failed"),
        status: fc.constantFrom("True", "False"),
        reason: fc.constant("Because"),
        message: fc.constantFrom("", "of this"),
        lastTransitionTime: fc.constant("2026-01-01T12:00:00Z"),
      }),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: ["phase"] },
);

/** True now and then. */
export const seldom = fc.nat({ max: 5 }).map((n) => n === 0);

/** What stands in the API server, decoded as the shell does it. What does not decode is never decided on. */
export const arbitraryTransaction: fc.Arbitrary<Transaction> = fc
  .record({
    changes: fc.uniqueArray(fc.constantFrom(...changes), { minLength: 1, maxLength: 4 }),
    status: wireStatus,
    deleted: seldom,
    forsaken: seldom,
    annotations: fc.subarray(["request-rollback", "retry-rollback"], { maxLength: 1 }),
    deletionPolicy: fc.constantFrom("Release", "Rollback"),
    timeout: fc.constantFrom("1s", "1m", "30m", "30m"),
  })
  .map(({ changes: some, status, deleted, forsaken, annotations, deletionPolicy, timeout }) =>
    decodeTransaction({
      metadata: {
        ...transaction(some).metadata,
        finalizers: forsaken ? ["other/finalizer"] : [FINALIZER, "other/finalizer"],
        annotations: Object.fromEntries(annotations.map((name) => [`backup.janus.io/${name}`, ""])),
        ...(deleted ? { deletionTimestamp: "2026-01-01T12:00:00Z" } : {}),
      },
      // In the order of the list above, mostly: what others need comes first.
      spec: {
        serviceAccountName: "deploy-sa",
        deletionPolicy,
        timeout,
        changes: forsaken ? some : some.toSorted((a, b) => changes.indexOf(a) - changes.indexOf(b)),
      },
      status,
    }),
  )
  .filter(E.isRight)
  .map(({ right }) => right);
