import { expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { creating } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { gadget, gadgets } from "../fixtures/gadgets.ts";
import { configMap, deployment, role, roleBinding, serviceAccount } from "../fixtures/manifests.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";

const FINALIZER = "example.com/operator";

it("keeps an operator, and all that it needs, until the custom resource is gone of which it is to remove the finalizer", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  await place.janus();
  const one = gadget(place.namespace);
  const operator = deployment("operator", "works:1");
  const held = { ...one, metadata: { ...one.metadata, namespace: place.namespace, finalizers: [FINALIZER] } };
  const made = [
    serviceAccount("operator"),
    role("operator", { apiGroups: [`${place.namespace}.example.com`], resources: ["gadgets"], verbs: ["*"] }),
    roleBinding("operator", "Role", "operator", `${place.namespace}/operator`),
    configMap("operator", { loglevel: "debug" }),
    operator,
  ];
  const all = [gadgets(place.namespace), ...made, held];
  await place.submit(
    all.map((manifest) => creating(manifest)),
    { rollbackWindow: "1h" },
  );
  const phase = async () => (await place.txn()).status?.phase;
  await expect.poll(phase, { interval: 300 }).toBe("Committed");
  await place.patch({
    ...transaction("txn"),
    metadata: { name: "txn", annotations: { "backup.janus.io/request-rollback": "" } },
  });
  const { uid = "" } = (await place.txn()).metadata;
  const deferred = async () => JSON.stringify(await place.read(configMap(`janus-journal-${uid}`)));
  await expect.poll(deferred, { interval: 300 }).toContain('"deferred-1"');
  for (const manifest of made) expect(await place.exists(manifest)).toBe(true);
  await place.patch({ ...held, metadata: { ...held.metadata, finalizers: [] } });
  const { status } = await place.over();
  expect(status.phase).toBe("RolledBack");
  for (const manifest of made) expect(await place.exists(manifest)).toBe(false);
  expect(await administrator.read(gadgets(place.namespace))).toBeUndefined();
});
