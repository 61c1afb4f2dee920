// For the test runner of Node itself: `node --test`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parse, simulate } from "@janus/testing";
import { live, release } from "./manifests.js";

test("the manifest is valid", () => {
  assert.deepEqual(parse(release), { ok: true, value: release });
});

test("without the permission to create the Secret again, nothing is begun", () => {
  const denied = [{ verbs: ["create"], kind: "Secret" }];
  const { phase, why, problems, applied } = simulate(release, live, { denied });
  assert.equal(phase, "Failed", why);
  assert.deepEqual(applied, []);
  assert.match(problems.join(), /may not roll back Secret shop\/old-api-key: grant it the verb create on secrets/);
});

test("what an autoscaler sets meanwhile is kept by a rollback", () => {
  const target = { apiVersion: "apps/v1", kind: "Deployment", name: "shop" };
  const edits = [{ before: 2, target, patch: { spec: { replicas: 5 } } }];
  const { phase, why, objects } = simulate(release, live, { failAt: 2, edits });
  assert.equal(phase, "RolledBack", why);
  const shop = objects.find(({ kind }) => kind === "Deployment");
  assert.equal(shop.spec.replicas, 5);
  assert.equal(shop.spec.template.spec.containers[0].image, "registry.example.com/shop:1.0");
});
