import { REQUEST_ROLLBACK, RETRY_ROLLBACK } from "@janus/api";
import { expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { applying, creating, deleting, patching, type WrittenChange } from "../fixtures/changes.ts";
import { kubectl } from "../fixtures/cluster.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { gadget as gadgetIn, gadgets } from "../fixtures/gadgets.ts";
import { configMap, deployment, service } from "../fixtures/manifests.ts";
import { refusing } from "../fixtures/refusing.ts";
import { transaction, type Workspace, workspace } from "../fixtures/workspace.ts";

const committedAs = async (place: Workspace, name: string, ...changes: readonly WrittenChange[]): Promise<void> => {
  await place.submit(changes, { name, rollbackWindow: "1h" });
  await expect.poll(async () => (await place.txn(name)).status?.phase).toBe("Committed");
};

const committed = (place: Workspace, ...changes: readonly WrittenChange[]): Promise<void> =>
  committedAs(place, "txn", ...changes);

const takenBack = async (place: Workspace, name = "txn") => {
  const annotations = { [REQUEST_ROLLBACK]: "yes" };
  await place.patch({ ...transaction(name), metadata: { name, annotations } });
  const phase = async () => (await place.txn(name)).status?.phase;
  await expect.poll(phase).toMatch(/RolledBack|Failed/);
  return (await place.over(name)).status;
};

/** The API server tells when something was created to the second. */
const aSecondLater = async (): Promise<void> => {
  await new Promise((resolve) => setTimeout(resolve, 1_100));
};

const web = deployment("web", "web:1");

it("does not delete a Deployment that has adopted Pods which were there before", async () => {
  const place = await workspace();
  await place.create(web);
  await expect.poll(() => place.names("v1", "Pod")).toHaveLength(1);
  await kubectl("delete", "deployment", "web", "--cascade=orphan", "-n", place.namespace);
  const [pods, [replicaSet]] = [await place.names("v1", "Pod"), await place.names("apps/v1", "ReplicaSet")];
  await aSecondLater();
  await place.janus();
  await committed(place, { ...creating(web), waitFor: ["jsonpath={.status.replicas}=1"] });
  const { phase, items } = await takenBack(place);
  expect(phase).toBe("Failed");
  expect(items[0]?.error).toBe(
    `Deployment ${place.namespace}/web is not deleted, since it has adopted older objects, which would go with it (ReplicaSet ${replicaSet}, Pod ${pods[0]}): delete it yourself, with --cascade=orphan to keep them`,
  );
  expect(await place.names("v1", "Pod")).toEqual(pods);
});

it("deletes a Deployment with the Pods that were made for it", async () => {
  const place = await workspace();
  await place.janus();
  await aSecondLater();
  await committed(place, { ...creating(web), waitFor: ["jsonpath={.status.replicas}=1"] });
  expect((await takenBack(place)).phase).toBe("RolledBack");
  await expect.poll(() => place.names("v1", "Pod")).toEqual([]);
});

it("does not delete a Service without a selector whose Endpoints were there before", async () => {
  const place = await workspace();
  const endpoints: Manifest = {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { name: "external" },
    subsets: [{ addresses: [{ ip: "192.0.2.7" }], ports: [{ port: 80 }] }],
  };
  await place.create(endpoints);
  await aSecondLater();
  await place.janus();
  await committed(place, creating(service("external")));
  const { phase, items } = await takenBack(place);
  expect([phase, items[0]?.error]).toEqual(["Failed", expect.stringContaining("(Endpoints external)")]);
  expect(await place.exists(endpoints)).toBe(true);
});

it("does not delete a custom resource that owns an object which was there before", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const [definition, gadget] = [gadgets(place.namespace), gadgetIn(place.namespace)];
  await administrator.create(definition);
  onTestFinished(() => administrator.remove(definition));
  await place.create(configMap("older", { precious: "1" }));
  await aSecondLater();
  await place.janus();
  await committed(place, creating(gadget));
  const { apiVersion, kind, metadata } = await place.read(gadget);
  const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }];
  await place.patch({ ...configMap("older"), metadata: { name: "older", ownerReferences } });
  await place.create({ ...configMap("younger"), metadata: { name: "younger", ownerReferences } });
  const { phase, items } = await takenBack(place);
  expect([phase, items[0]?.error]).toEqual(["Failed", expect.stringContaining("(ConfigMap older)")]);
  expect(await place.exists(configMap("older"))).toBe(true);
});

it("does not delete what a later Transaction has changed", async () => {
  const place = await workspace();
  await place.janus();
  await committed(place, creating(configMap("made", { a: "1" })), creating(configMap("other")));
  const later = await place.run([applying(configMap("made", { later: "1" }))], { name: "later" });
  const { phase, items } = await takenBack(place);
  expect(phase).toBe("Failed");
  expect(items[0]?.error).toBe(
    `ConfigMap ${place.namespace}/made is not deleted, since Transaction later (uid ${later.metadata.uid}) has changed it: roll that back first, and retry with the annotation backup.janus.io/retry-rollback, or delete it yourself`,
  );
  expect(await place.exists(configMap("made"))).toBe(true);
  expect(await place.exists(configMap("other"))).toBe(false);
});

it("deletes what a later Transaction has changed, once that is rolled back", async () => {
  const place = await workspace();
  await place.janus();
  await committed(place, creating(configMap("made", { a: "1" })));
  await committedAs(place, "later", patching(configMap("made", { later: "1" })));
  expect((await takenBack(place, "later")).phase).toBe("RolledBack");
  expect((await takenBack(place)).phase).toBe("RolledBack");
  expect(await place.exists(configMap("made"))).toBe(false);
});

it("does not delete what it has left for a reason, once that is gone, before somebody asks for it", async () => {
  const place = await workspace({ recoveryDelay: 3_000 });
  await place.janus();
  await committed(place, creating(configMap("made", { a: "1" })));
  await committedAs(place, "later", patching(configMap("made", { later: "1" })));
  expect((await takenBack(place)).phase).toBe("Failed");
  expect((await takenBack(place, "later")).phase).toBe("RolledBack");
  // Retries after three seconds, and after twelve more, would have deleted it.
  await new Promise((resolve) => setTimeout(resolve, 16_000));
  expect((await place.txn()).status?.phase).toBe("Failed");
  expect(await place.exists(configMap("made"))).toBe(true);
  await place.patch({ ...transaction("txn"), metadata: { name: "txn", annotations: { [RETRY_ROLLBACK]: "yes" } } });
  await expect.poll(async () => (await place.txn()).status?.phase).toBe("RolledBack");
  expect(await place.exists(configMap("made"))).toBe(false);
});

const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "web", image: "web:1" }] } };
const replicaSet: Manifest = {
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: { name: "old", labels: { app: "web" } },
  spec: { replicas: 1, selector: { matchLabels: { app: "web" } }, template },
};

it("deletes a workload before it creates again what that would adopt", async () => {
  const place = await workspace();
  await place.create(replicaSet);
  await expect.poll(() => place.names("v1", "Pod")).toHaveLength(1);
  await aSecondLater();
  await place.janus();
  const created = { ...creating(web), waitFor: ["jsonpath={.status.replicas}=1"] };
  await committed(place, created, deleting(replicaSet));
  expect((await takenBack(place)).phase).toBe("RolledBack");
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(await place.names("apps/v1", "ReplicaSet")).toEqual(["old"]);
  expect(await place.names("apps/v1", "Deployment")).toEqual([]);
});

it("does not delete what owns an object that the rollback has created again", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const definition = gadgets(place.namespace);
  await administrator.create(definition);
  onTestFinished(() => administrator.remove(definition));
  await place.create(configMap("settings", { a: "1" }));
  const gadget = gadgetIn(place.namespace);
  // As its operator does with what it finds.
  await place.janus(async (request, next) => {
    const answer = await next(request);
    if (request.verb === "create" && request.purpose === "restore") {
      const { apiVersion, kind, metadata } = await place.read(gadget);
      const ownerReferences = [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }];
      await place.patch({ ...configMap("settings"), metadata: { name: "settings", ownerReferences } });
    }
    return answer;
  });
  await committed(place, creating(gadget), deleting(configMap("settings")));
  const { phase, items } = await takenBack(place);
  expect([phase, items[0]?.error]).toEqual([
    "Failed",
    expect.stringContaining("would go with it (ConfigMap settings): delete it yourself, with --cascade=orphan"),
  ]);
  expect(await place.exists(configMap("settings"))).toBe(true);
});

it("lists once for many created objects", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const definition = gadgets(place.namespace);
  await administrator.create(definition);
  onTestFinished(() => administrator.remove(definition));
  let lists = 0;
  await place.janus((request, next) => {
    if (request.purpose === "find-owned") lists += 1;
    return next(request);
  });
  const many = ["a", "b", "c", "d", "e", "f"].map((name) => ({ ...gadgetIn(place.namespace), metadata: { name } }));
  await committed(place, ...many.map((one) => creating(one)));
  lists = 0;
  expect((await takenBack(place)).phase).toBe("RolledBack");
  const kinds = (await kubectl("api-resources", "--namespaced", "--verbs=list", "-o", "name")).stdout.split(
    "\n",
  ).length;
  expect(lists).toBeLessThan(2 * kinds);
});

const idle: Manifest = {
  ...replicaSet,
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "idle" } },
    template: { ...template, metadata: { labels: { app: "idle" } } },
  },
};

it("deletes a Deployment although there are more objects with owners than are examined, and says so", async () => {
  const place = await workspace();
  const names = Array.from({ length: 60 }, (_, n) => `owner-${n}`);
  const owners = await place.create(...names.map((name) => configMap(name)));
  const ownerReferences = owners.map(({ metadata: { name, uid } }) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    name,
    uid,
  }));
  const many = Array.from(
    { length: 170 },
    (_, n): Manifest => ({ ...idle, metadata: { name: `idle-${n}`, ownerReferences } }),
  );
  await place.create(...many);
  await place.janus();
  await committed(place, creating(web));
  const { phase, items } = await takenBack(place);
  expect([phase, items[0]?.error]).toEqual(["RolledBack", expect.stringContaining("may have deleted older objects")]);
});

it("deletes a custom resource although another kind cannot be listed, and says so", async () => {
  const place = await workspace();
  await clusterAdmin(place.namespace);
  const definition = gadgets(place.namespace);
  await administrator.create(definition);
  onTestFinished(() => administrator.remove(definition));
  // A real one that is broken would hold up all other tests that list it.
  const broken = refusing((request) => request.verb === "list" && request.resource.plural === "podtemplates", 120_000);
  await place.janus(broken.hook);
  await committed(place, creating(gadgetIn(place.namespace)));
  const { phase, items } = await takenBack(place);
  expect([phase, items[0]?.error]).toEqual(["RolledBack", expect.stringContaining("podtemplates could not be listed")]);
});
