import { FINALIZER, REQUEST_ROLLBACK } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import { expect, it } from "vitest";
import { dueAt, cacheTransform } from "../../../packages/controller/src/shell/reconcile/cache-transform.ts";

const metadata = { namespace: "here", name: "txn", uid: "1", resourceVersion: "7" };
const of = (status: object, spec: object = {}, more: object = {}): KubeObject => ({
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { ...metadata, ...more },
  spec: { serviceAccountName: "deployer", changes: [], ...spec },
  status,
});
const completedAt = "2026-01-01T00:00:00Z";
const reversibleUntil = "2026-01-02T00:00:00Z";

it("remembers of a Transaction who it is and what tells whether it is to be looked at, and nothing else", () => {
  const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "all of it", [REQUEST_ROLLBACK]: "" };
  const whole = of(
    { phase: "Failed", completedAt, journal: { name: "j", uid: "2" }, items: [{}], conditions: [{}] },
    {},
    {
      annotations,
      managedFields: [{ manager: "janus" }],
      finalizers: [FINALIZER],
    },
  );
  expect(cacheTransform(whole)).toEqual({
    apiVersion: "backup.janus.io/v1alpha1",
    kind: "Transaction",
    metadata: { ...metadata, finalizers: [FINALIZER], annotations: { [REQUEST_ROLLBACK]: "" } },
    spec: {},
    status: { phase: "Failed", completedAt, journal: { name: "j", uid: "2" } },
  });
});

it.each([
  { what: "that nobody has looked at", object: of({}), due: 0 },
  { what: "under way", object: of({ phase: "Committing" }), due: 0 },
  { what: "of a phase that nobody knows", object: of({ phase: "Elsewhere" }), due: 0 },
  {
    what: "that has ended, before it is cleaned up",
    object: of({ phase: "Committed" }, {}, { finalizers: [FINALIZER] }),
    due: 0,
  },
  { what: "that is Committed", object: of({ phase: "Committed", completedAt }), due: undefined },
  { what: "that is RolledBack", object: of({ phase: "RolledBack", completedAt }), due: undefined },
  { what: "that has Failed before it touched anything", object: of({ phase: "Failed", completedAt }), due: undefined },
  { what: "that has Failed later", object: of({ phase: "Failed", completedAt, journal: {} }), due: 0 },
  {
    what: "that expires",
    object: of({ phase: "Committed", completedAt }, { ttlSecondsAfterFinished: 60 }),
    due: Date.parse(completedAt) + 60_000,
  },
  {
    what: "that is Committed and may be rolled back, before its locks are released",
    object: of({ phase: "Committed", completedAt, journal: {} }, {}, { finalizers: [FINALIZER] }),
    due: 0,
  },
  {
    what: "that rests until its window has passed, although it expires before",
    object: of(
      { phase: "Committed", completedAt, reversibleUntil, journal: {} },
      { ttlSecondsAfterFinished: 60 },
      { finalizers: [FINALIZER] },
    ),
    due: Date.parse(reversibleUntil),
  },
  {
    what: "that rests and is to be rolled back",
    object: of(
      { phase: "Committed", completedAt, reversibleUntil, journal: {} },
      {},
      { finalizers: [FINALIZER], annotations: { [REQUEST_ROLLBACK]: "yes" } },
    ),
    due: 0,
  },
  {
    what: "that rests and was deleted",
    object: of(
      { phase: "Committed", completedAt, reversibleUntil, journal: {} },
      {},
      { finalizers: [FINALIZER], deletionTimestamp: completedAt },
    ),
    due: 0,
  },
  {
    what: "that rests without its finalizer",
    object: of({ phase: "Committed", completedAt, reversibleUntil, journal: {} }),
    due: 0,
  },
  {
    what: "whose window has passed and that is cleaned up",
    object: of({ phase: "Committed", completedAt, reversibleUntil }),
    due: undefined,
  },
  {
    what: "that has ended, and of which a rollback is requested",
    object: of({ phase: "RolledBack", completedAt }, {}, { annotations: { [REQUEST_ROLLBACK]: "yes" } }),
    due: 0,
  },
])("knows when to look at one $what: $due", ({ object, due }) => {
  expect(dueAt(object)).toBe(due);
  expect(dueAt(cacheTransform(object))).toBe(due);
});

it("expects one without ttlSecondsAfterFinished to expire after the default", () => {
  const ended = { phase: "Committed", completedAt };
  expect(dueAt(cacheTransform(of(ended)), 60)).toBe(Date.parse(completedAt) + 60_000);
  expect(dueAt(cacheTransform(of(ended, { ttlSecondsAfterFinished: 5 })), 60)).toBe(Date.parse(completedAt) + 5000);
});
