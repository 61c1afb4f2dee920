import { expect, it } from "vitest";
import { applying, creating, patching, updating } from "../fixtures/changes.ts";
import { kubectlWith } from "../fixtures/cluster.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { gadget, gadgets } from "../fixtures/gadgets.ts";
import { configMap, secret } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";
import type { Manifest } from "../fixtures/administrator.ts";

const before: Manifest = {
  ...configMap("nulls", { old: "1", keep: "k", new: "1" }),
  metadata: { name: "nulls", annotations: { "old-note": "n", note: "n" }, labels: { old: "l" } },
};

const dropping = {
  ...configMap("nulls"),
  metadata: { name: "nulls", annotations: { "old-note": null, unknown: null }, labels: null },
  data: { old: null, new: "2", unknown: null },
} as unknown as Manifest;

const deployment = (container: object, more: object = {}): Manifest => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "app" },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "app" } },
    template: {
      metadata: { labels: { app: "app" } },
      spec: { containers: [{ name: "app", image: "pause", ...container }], ...more },
    },
  },
});

const fails = { ...creating(configMap("never")), waitFor: ["jsonpath={.data.never}=x"], waitTimeout: "1s" };

it("removes in a Patch what is null, also where somebody else has set it, and brings it back", async () => {
  const place = await workspace();
  await place.apply(before);
  const was = await place.read(before);
  await place.janus();
  const failed = await place.run([patching(dropping), fails], { name: "failed" });
  expect(failed.status.phase).toBe("RolledBack");
  const { resourceVersion: _, ...rest } = (await place.read(before)).metadata;
  const { resourceVersion: __, ...metadata } = was.metadata;
  expect([rest, (await place.read(before))["data"]]).toEqual([metadata, was["data"]]);
  const txn = await place.run([patching(dropping)], { name: "drops" });
  expect(txn.status.phase).toBe("Committed");
  const { data, metadata: now } = await place.read(before);
  expect({ data, notes: now.annotations, labels: now.labels }).toEqual({
    data: { keep: "k", new: "2" },
    notes: { note: "n" },
    labels: undefined,
  });
});

it("removes in a Patch what is null in an item of a list, and in a Secret", async () => {
  const place = await workspace();
  const limits = { cpu: "1", memory: "1Gi" };
  await place.apply(
    deployment({ resources: { limits }, env: [{ name: "A", value: "1" }] }, { nodeSelector: { a: "b" } }),
  );
  await place.create(secret("key", { old: "1", keep: "1" }));
  await place.janus();
  const txn = await place.run([
    patching(deployment({ resources: { limits: { cpu: null } }, env: null }, { nodeSelector: null })),
    patching({ ...secret("key"), stringData: { old: null } }),
  ]);
  expect(txn.status).toMatchObject({ phase: "Committed" });
  const spec = (await place.read(deployment({})))["spec"];
  expect(spec).toMatchObject({ template: { spec: { containers: [{ resources: { limits: { memory: "1Gi" } } }] } } });
  expect(JSON.stringify(spec)).not.toMatch(/cpu|"env"|nodeSelector/u);
  expect(Object.keys((await place.read(secret("key")))["data"] as object)).toEqual(["keep"]);
});

it.each([
  ["Create", creating],
  ["Apply", applying],
])("leaves out of a content what is null, as in a manifest that Helm has rendered: %s", async (_, type) => {
  const place = await workspace();
  await place.janus();
  const txn = await place.run([
    type(
      deployment(
        { resources: { limits: { cpu: null, memory: "1Gi" }, requests: { memory: "1Gi" } } },
        { nodeSelector: null },
      ),
    ),
    type(dropping),
  ]);
  expect(txn.status).toMatchObject({ phase: "Committed" });
  const { data, metadata } = await place.read(before);
  expect({ data, notes: metadata.annotations, labels: metadata.labels }).toEqual({ data: { new: "2" } });
  expect(JSON.stringify((await place.read(deployment({})))["spec"])).not.toContain("cpu");
});

it("leaves out of an Update what is null", async () => {
  const place = await workspace();
  await place.create(before);
  await place.janus();
  const txn = await place.run([updating(dropping)]);
  expect(txn.status.phase).toBe("Committed");
  expect((await place.read(before))["data"]).toEqual({ new: "2" });
});

it("refuses a list with null in it, and says where", async () => {
  const place = await workspace();
  await place.janus();
  const txn = await place.run([creating(deployment({ args: ["a", null] }))]);
  expect(txn.status.phase).toBe("Failed");
  expect(JSON.stringify(txn.status)).toContain("content.spec.template.spec.containers[0].args[1] of Deployment");
});

it("takes null in a custom resource for a field to remove in a Patch, and for a value in an Update", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const schema = {
    type: "object",
    properties: {
      plain: { type: "string" },
      nullable: { type: "string", nullable: true },
      map: { type: "object", additionalProperties: { type: "string" } },
    },
  };
  await place.create(gadgets(place.namespace, { schema: { openAPIV3Schema: schema } }));
  const one = gadget(place.namespace);
  const { size: _, ...bare } = one as Manifest & { size: number };
  await expect
    .poll(() =>
      place.create({ ...bare, plain: "1", nullable: "1", map: { a: "1", b: "1" } }).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  await place.janus();
  const txn = await place.run([patching({ ...bare, plain: null, nullable: null, map: { a: null } })]);
  expect(txn.status).toMatchObject({ phase: "Committed" });
  const { plain, nullable, map } = await place.read(one);
  expect({ plain, nullable, map }).toEqual({ plain: undefined, nullable: undefined, map: { b: "1" } });
  const updated = await place.run([updating({ ...bare, plain: null, nullable: null, map: { b: "2" } })], {
    name: "update",
  });
  expect(updated.status).toMatchObject({ phase: "Committed" });
  const { apiVersion: _a, kind: _k, metadata: _m, ...rest } = await place.read(one);
  expect(rest).toEqual({ nullable: null, map: { b: "2" } });
  const applied = await place.run([applying({ ...bare, plain: "1", nullable: null })], { name: "apply" });
  expect(applied.status).toMatchObject({ phase: "Committed" });
});

const web = (selector: object): Manifest => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "web" },
  spec: { selector, ports: [{ port: 80 }] },
});

it("refuses in a Patch null for a key of a map that is replaced as a whole: it would remove all others", async () => {
  const place = await workspace();
  await place.apply(web({ a: "1", b: "2" }));
  await place.janus();
  const { status } = await place.run([patching(web({ a: null }))]);
  expect(status.phase).toBe("Failed");
  expect(status.items[0]?.error).toContain("spec.selector of Service");
  expect((await place.read(web({})))["spec"]).toMatchObject({ selector: { a: "1", b: "2" } });
  expect((await place.run([patching(web({ b: "3" }))], { name: "whole" })).status.phase).toBe("Committed");
  expect((await place.read(web({})))["spec"]).toMatchObject({ selector: { b: "3" } });
});

it("refuses a Patch whose nulls a client-side kubectl apply has left out, and says how to create it", async () => {
  const place = await workspace();
  await place.create(before);
  await place.janus();
  const manifest = (name: string): string =>
    JSON.stringify({
      apiVersion: "backup.janus.io/v1alpha1",
      kind: "Transaction",
      metadata: { name, namespace: place.namespace },
      spec: { serviceAccountName: "deployer", changes: [patching(dropping)] },
    });
  await kubectlWith({ stdin: manifest("lost") }, "apply", "-f", "-");
  const txn = await place.over("lost");
  expect(txn.status.phase).toBe("Failed");
  expect(txn.status.items[0]?.error).toMatch(
    /^content\.data\.old of ConfigMap .* was null, .* create the Transaction with kubectl janus apply/,
  );
  expect((await place.read(before))["data"]).toEqual(before["data"]);
  await kubectlWith({ stdin: manifest("kept") }, "apply", "--server-side", "-f", "-");
  expect((await place.over("kept")).status.phase).toBe("Committed");
  expect((await place.read(before))["data"]).toEqual({ keep: "k", new: "2" });
});
