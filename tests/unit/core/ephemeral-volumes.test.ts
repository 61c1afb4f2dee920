import type { ResolvedChange } from "@janus/api";
import { expect, it } from "vitest";
import { claimsDeletedBy } from "../../../packages/controller/src/core/kubernetes/deleted-claims.ts";
import { outline } from "../../../packages/controller/src/core/kubernetes/outline.ts";

const target = { apiVersion: "v1", kind: "Pod", name: "web" };

const pod = (...volumes: readonly object[]) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web" },
  spec: { containers: [], volumes },
});

const scratch = { name: "scratch", ephemeral: { volumeClaimTemplate: { spec: {} } } };
const deletion: ResolvedChange = { type: "Delete", target };

it("with a Pod go the claims of its ephemeral volumes", () => {
  const live = pod({ name: "config", configMap: { name: "config" } }, scratch);
  for (const object of [live, outline(live)]) {
    const { names, count, includes } = claimsDeletedBy(deletion, object) ?? {};
    expect([names, count]).toEqual(["PersistentVolumeClaim web-scratch", 1]);
    expect(["web-scratch", "web-config"].map((name) => includes?.(name))).toEqual([true, false]);
  }
});

it("no claim goes with a Pod without ephemeral volumes, or with a change of one", () => {
  expect(
    claimsDeletedBy(deletion, pod({ name: "data", persistentVolumeClaim: { claimName: "data" } })),
  ).toBeUndefined();
  const labelled: ResolvedChange = { type: "Patch", target, content: { metadata: { labels: { a: "b" } } } };
  expect(claimsDeletedBy(labelled, pod(scratch))).toBeUndefined();
});
