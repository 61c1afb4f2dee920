import { expect, it, onTestFinished } from "vitest";
import { administrator, resourceOf } from "../fixtures/administrator.ts";
import { creating, patching } from "../fixtures/changes.ts";
import { kubectl } from "../fixtures/cluster.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { gadget, gadgets } from "../fixtures/gadgets.ts";
import { configMap, within } from "../fixtures/manifests.ts";
import { createAs, createDeep, nested } from "../fixtures/nested.ts";
import { workspace } from "../fixtures/workspace.ts";

const READY = 'jsonpath={.status.phase}: {.status.conditions[?(@.type=="Ready")].message}';

it.each(["1", "12345678901234567890"])(
  "refuses a Transaction that is nested as deeply as the API server accepts, and blocks no other one: %s",
  async (leaf) => {
    const place = await workspace();
    await createDeep(place.namespace, leaf);
    await place.janus();
    const { status } = await place.run([creating(configMap("fine", { a: "1" }))]);
    expect(status.phase).toBe("Committed");
    const told = () => kubectl("get", "txn", "deep", "-n", place.namespace, "-o", READY).then(({ stdout }) => stdout);
    await expect
      .poll(told)
      .toBe(
        "Failed: no changes were applied: the Transaction is nested deeper than 500 levels: flatten what its changes contain",
      );
  },
);

it("says of a Draft that is nested as deeply that it would fail, also once it is proposed, and lets it expire", async () => {
  const place = await workspace();
  const { namespace } = place;
  await createDeep(namespace, "1", '"lifecycle":"Draft",');
  await place.janus();
  const told = () =>
    kubectl("get", "txn", "deep", "-n", namespace, "-o", "jsonpath={.status.render}").then(({ stdout }) => stdout);
  await expect.poll(told).toContain("nested deeper than 500 levels");
  expect(JSON.parse(await told())).toEqual({
    observedGeneration: 1,
    renderedAt: expect.any(String),
    result: "Problems",
    message: "the Transaction is nested deeper than 500 levels: flatten what its changes contain",
  });
  const patched = (spec: object) =>
    kubectl("patch", "txn", "deep", "-n", namespace, "--type=merge", "-p", JSON.stringify({ spec }));
  expect(await patched({ lifecycle: "Proposed" })).toMatchObject({ code: 0 });
  await expect.poll(told).toContain('"observedGeneration":2');
  expect(await patched({ lifecycle: "Draft" })).toMatchObject({ code: 0 });
  expect(await patched({ draftTTL: "3s" })).toMatchObject({ code: 0 });
  await expect.poll(() => kubectl("get", "txn", "deep", "-n", namespace)).toMatchObject({ code: 1 });
});

it("refuses a target that is nested too deep to be compared", async () => {
  const place = await workspace();
  const { namespace } = place;
  await clusterAdmin(namespace);
  await place.create(gadgets(namespace));
  onTestFinished(() => administrator.remove(gadgets(namespace)));
  const { apiVersion, kind, metadata } = gadget(namespace);
  await expect.poll(() => resourceOf({ apiVersion, kind }).then(() => "served", String)).toBe("served");
  await createAs(
    `/apis/${apiVersion}/namespaces/${namespace}/gadgets`,
    `{"apiVersion":"${apiVersion}","kind":"${kind}","metadata":{"name":"${metadata.name}"},"spec":${nested("1")}}`,
  );
  await place.janus();
  const { status } = await place.run([patching({ ...within(namespace, gadget(namespace)), size: 4 })]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain("is nested deeper than 500 levels");
});
