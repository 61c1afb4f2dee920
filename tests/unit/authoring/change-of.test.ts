import { changeOf } from "@janus/authoring";
import { expect, it } from "vitest";

it("makes an Apply of a manifest, without what the target says and what only the API server sets", () => {
  const metadata = { name: "web", namespace: "shop", labels: { app: "web" } };
  const spec = { replicas: 2 };
  const ofServer = { uid: "u", resourceVersion: "7", generation: 2, creationTimestamp: null, managedFields: [] };
  expect(
    changeOf({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { ...metadata, ...ofServer },
      spec,
      status: { replicas: 1 },
    }),
  ).toEqual({
    target: { apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: "shop" },
    type: "Apply",
    content: { metadata: { labels: { app: "web" } }, spec },
  });
  expect(changeOf({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }, "Update")).toEqual({
    target: { apiVersion: "v1", kind: "ConfigMap", name: "a" },
    type: "Update",
    content: {},
  });
});
