import { applyManager } from "@janus/api";
import { expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { applying } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { kubectl, kubectlWith } from "../fixtures/cluster.ts";
import { gadget, gadgets } from "../fixtures/gadgets.ts";
import { workspace } from "../fixtures/workspace.ts";

it("has no internal error, whatever is nested in an element of managedFields that a user has written", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  await administrator.create(gadgets(place.namespace));
  const established = () =>
    kubectl("wait", "--for=condition=Established", "crd", `gadgets.${place.namespace}.example.com`).then(
      () => true,
      () => false,
    );
  await expect.poll(established).toBe(true);
  const { metadata, ...one } = gadget(place.namespace);
  const within = { ...one, list: [1, 2], metadata: { ...metadata, namespace: place.namespace } };
  const entry = {
    manager: applyManager({ name: "earlier", uid: "0f1f0c0e-7d7e-4d0e-9a59-7d3c5f3c6c12" }),
    operation: "Apply",
    apiVersion: one.apiVersion,
    fieldsType: "FieldsV1",
    time: "2026-01-01T00:00:00Z",
    fieldsV1: { "f:list": { [`v:${"[".repeat(4900)}${"]".repeat(4900)}`]: {} } },
  };
  await kubectlWith({ stdin: JSON.stringify(within) }, "create", "-f", "-");
  const hostile = { ...within, metadata: { ...within.metadata, managedFields: [entry] } };
  await kubectlWith({ stdin: JSON.stringify(hostile) }, "replace", "-f", "-");
  const { log } = await place.janus();
  const txn = await place.run([applying({ ...one, metadata, size: 5 })], { timeout: "20s" });
  expect(log.filter((line) => line.includes("internal error"))).toEqual([]);
  expect(txn.status.conditions.find(({ type }) => type === "Ready")?.message).not.toContain("timeout");
});
