import { expect, it, onTestFinished } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { applying, creating, updating } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { configMap } from "../fixtures/manifests.ts";
import { type Txn, workspace } from "../fixtures/workspace.ts";

const twice: Manifest = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "twice" },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "twice" } },
    template: {
      metadata: { labels: { app: "twice" } },
      spec: {
        containers: [
          {
            name: "c",
            image: "registry.k8s.io/pause:3.10",
            env: [
              { name: "JAVA_OPTS", value: "-Xmx1g" },
              { name: "JAVA_OPTS", value: "$(JAVA_OPTS) -Dx=1" },
            ],
          },
        ],
      },
    },
  },
};

it.each([
  ["Create", creating],
  ["Apply", applying],
])("refuses the first time already what the API server refuses in any later apply: %s", async (_, type) => {
  const place = await workspace();
  await place.janus();
  const txn = await place.run([type(twice)]);
  expect(txn.status.phase).toBe("Failed");
  expect(JSON.stringify(txn.status)).toContain("JAVA_OPTS");
  expect(txn.status.conditions.find(({ type }) => type === "Failed")?.message).toContain(
    `twice in the content of Deployment ${place.namespace}/twice: keep one of them`,
  );
  expect(await place.exists(twice)).toBe(false);
});

const committed = (txn: Txn) => expect(txn.status).toMatchObject({ phase: "Committed" });

it.each([
  ["Apply", applying],
  ["Update", updating],
])("leaves the rules of an aggregated ClusterRole to the control plane: %s", async (_, type) => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const label = `${place.namespace}.example.com/aggregate`;
  const role = (name: string, more: object): Manifest => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: `${place.namespace}-${name}` },
    ...more,
  });
  const admin = role("admin", {
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: "true" } }] },
    rules: [],
  });
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] }];
  const part = role("part", { rules });
  onTestFinished(async () => {
    await place.remove(admin);
    await place.remove(part);
  });
  await place.janus();
  const labelled = { ...part, metadata: { ...part.metadata, labels: { [label]: "true" } } };
  committed(
    await place.run([applying(admin), applying(labelled), applying(configMap("v", { version: "1" }))], { name: "one" }),
  );
  await expect.poll(async () => (await place.read(admin))["rules"]).toEqual(rules);
  const { metadata } = await place.read(admin);
  committed(await place.run([type(admin), type(configMap("v", { version: "2" }))], { name: "two" }));
  const now = await place.read(admin);
  // Of the same generation of rules: nobody has written them since.
  const writer = (entries: typeof metadata.managedFields = []) =>
    entries.find(({ manager }) => manager === "clusterrole-aggregation-controller");
  expect(now["rules"]).toEqual(rules);
  expect(writer(metadata.managedFields)).toBeDefined();
  expect(writer(now.metadata.managedFields)).toEqual(writer(metadata.managedFields));
});
