import { applyManager } from "@janus/api";
import { expect, it } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { applying, patching } from "../fixtures/changes.ts";
import { configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";

it("keeps all other fields in a Patch that removes one, although managedFields were cleared", async () => {
  const place = await workspace();
  await place.create({
    ...configMap("app", { a: "1", theirs: "1" }),
    metadata: { name: "app", labels: { theirs: "1" }, annotations: { old: "1", theirs: "1" } },
  });
  await place.patch({ ...configMap("app"), metadata: { name: "app", managedFields: [{}] } });
  await place.janus();
  const { status } = await place.run([
    patching({ ...configMap("app", { a: "2" }), metadata: { name: "app", annotations: { old: null } } }),
  ]);
  const { data, metadata } = (await place.read(configMap("app"))) as unknown as Manifest;
  expect([status.phase, data, metadata["labels"], metadata["annotations"]]).toEqual([
    "Committed",
    { a: "2", theirs: "1" },
    { theirs: "1" },
    { theirs: "1" },
  ]);
});

const identity = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "app" } };

const app = (labels: object, volumes: readonly object[]): Manifest => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "app", labels },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "app" } },
    template: {
      metadata: { labels: { app: "app" } },
      spec: { containers: [{ name: "web", image: "web:1" }], ...(volumes.length === 0 ? {} : { volumes }) },
    },
  },
});

it("refuses an Apply that removes something and has items for a list of which nobody manages one, as what admission has put in", async () => {
  const place = await workspace();
  await place.create(app({ old: "1" }, [{ name: "injected", emptyDir: {} }]));
  // As after a creation by an Apply, and a policy that has put in the volume.
  const entry = {
    manager: applyManager({ name: "earlier", uid: "0f1f0c0e-7d7e-4d0e-9a59-7d3c5f3c6c12" }),
    operation: "Apply",
    apiVersion: "apps/v1",
    fieldsType: "FieldsV1",
    time: "2026-01-01T00:00:00Z",
    fieldsV1: {
      "f:metadata": { "f:labels": { "f:old": {} } },
      "f:spec": {
        "f:replicas": {},
        "f:selector": {},
        "f:template": {
          "f:metadata": { "f:labels": { "f:app": {} } },
          "f:spec": { "f:containers": { 'k:{"name":"web"}': { ".": {}, "f:image": {}, "f:name": {} } } },
        },
      },
    },
  };
  await place.patch({ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "app", managedFields: [entry] } });
  await place.janus();
  const volumes = [{ name: "mine", emptyDir: {} }];
  const refused = await place.run([applying(app({}, volumes))], { name: "refused" });
  expect([refused.status.phase, refused.status.items[0]?.error]).toEqual([
    "Failed",
    expect.stringMatching(
      /^nobody manages \.spec\.template\.spec\.volumes of Deployment .* apply the rest first, with that list as it was, and then this$/u,
    ),
  ]);
  // As it says.
  expect((await place.run([applying(app({}, []))], { name: "removes" })).status.phase).toBe("Committed");
  expect((await place.run([applying(app({}, volumes))], { name: "adds" })).status.phase).toBe("Committed");
  const { metadata, spec } = (await place.read(app({}, []))) as unknown as {
    readonly metadata: Manifest["metadata"];
    readonly spec: { readonly template: { readonly spec: { readonly volumes: readonly { readonly name: string }[] } } };
  };
  expect(spec.template.spec.volumes.map(({ name }) => name).toSorted()).toEqual(["injected", "mine"]);
  expect(metadata).not.toHaveProperty("labels");
});

it("refuses null in an item of a list that nobody manages: nothing shows which item it is", async () => {
  const place = await workspace();
  const { metadata, ...rest } = app({}, []);
  await place.create({ ...rest, metadata });
  await place.patch({ ...identity, metadata: { name: "app", managedFields: [{}] } });
  await place.janus();
  const spec = { template: { spec: { containers: [{ name: "web", args: null }] } } };
  const { status } = await place.run([patching({ ...identity, spec })]);
  expect([status.phase, status.items[0]?.error]).toEqual([
    "Failed",
    expect.stringMatching(/^nobody manages spec\.template\.spec\.containers of Deployment /u),
  ]);
});
