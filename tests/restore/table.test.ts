import type { KubeObject } from "@janus/kube";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Manifest, type Ref } from "../fixtures/administrator.ts";
import { creating, deleting, patching, updating, type WrittenChange } from "../fixtures/changes.ts";
import { clusterAdmin } from "../fixtures/cluster-admin.ts";
import { collected, COLLECTED_WITHIN } from "../fixtures/collected.ts";
import { kubectl, kubectlWith } from "../fixtures/cluster.ts";
import { eventsOf } from "../fixtures/events.ts";
import { isChangeOf } from "../fixtures/gate.ts";
import { clusterRole, configMap, deployment, secret, service } from "../fixtures/manifests.ts";
import { type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";
import { custom, customKinds, GROUP } from "./kinds.ts";
import { policy } from "./policy.ts";
import { compared, openScene } from "./scene.ts";

beforeAll(openScene);

// End to end, under the running kube-controller-manager. Rows that are not here: tests/e2e/rollback.test.ts, conflicts.test.ts.

beforeAll(async () => {
  const list = { apiVersion: "v1", kind: "List", items: customKinds };
  await kubectlWith({ stdin: JSON.stringify(list) }, "apply", "--server-side", "-f", "-");
  await kubectl("wait", "--for=condition=Established", "crd", `plains.${GROUP}`, `splits.${GROUP}`);
});

/** Makes the changes and then one that fails; `meanwhile` happens between the two. */
const rolledBack = async (
  place: Workspace,
  changes: readonly WrittenChange[],
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Txn> => {
  await submitted(place, changes, meanwhile);
  return place.over();
};

const submitted = async (
  place: Workspace,
  changes: readonly WrittenChange[],
  meanwhile: () => Promise<unknown>,
): Promise<void> => {
  await place.janus(async (request, next) => {
    if (isChangeOf("last")(request)) {
      await meanwhile();
      await place.create(configMap("last", { whose: "somebody's" }));
    }
    return next(request);
  });
  await place.submit([...changes, creating(configMap("last"))]);
};

/** All of an object that a rollback has to give back; its uid too, where it was not deleted. */
const same = (object: KubeObject) => compared(object.kind, object);

const containersOf = (workload: KubeObject | undefined): readonly object[] => {
  const spec = workload?.["spec"] as { template: { spec: { containers: readonly object[] } } } | undefined;
  return spec?.template.spec.containers ?? [];
};

const said = async (place: Workspace): Promise<string> =>
  (await place.txn()).status.conditions?.find(({ type }) => type === "Ready")?.message ?? "";

/** The garbage collector has had its turn: it has taken something that was orphaned just now. */
const collectedOthers = async (place: Workspace): Promise<void> => {
  const ownerReferences = [
    { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "00000000-0000-4000-8000-000000000000" },
  ];
  await place.create({ ...configMap("orphan"), metadata: { name: "orphan", ownerReferences } });
  await collected(place, configMap("orphan"));
};

const owned = (manifest: Manifest, ...owners: readonly (KubeObject | undefined)[]): Manifest => ({
  ...manifest,
  metadata: {
    ...manifest.metadata,
    ownerReferences: owners.map((owner) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      name: owner?.metadata.name,
      uid: owner?.metadata.uid,
    })),
  },
});

/** kubectl, as a GitOps tool that does not force anything. */
const gitops = async ({ namespace }: Workspace, manifest: Manifest) =>
  kubectlWith(
    { stdin: JSON.stringify(manifest) },
    "apply",
    "--server-side",
    "--field-manager=gitops",
    "-n",
    namespace,
    "-f",
    "-",
  );

describe("Patch", () => {
  it("of an object that a GitOps tool applied: identical, and its next apply meets no conflict", async () => {
    const place = await workspace();
    const applied = configMap("config", { a: "1", b: "1" });
    await gitops(place, applied);
    const before = await place.read(applied);
    const { status } = await rolledBack(place, [patching(configMap("config", { a: "2", c: "2" }))]);
    expect(status.phase).toBe("RolledBack");
    const after = await place.read(applied);
    expect(same(after)).toEqual(same(before));
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(await gitops(place, configMap("config", { a: "3", b: "3" }))).toMatchObject({ code: 0 });
    expect((await place.read(applied))["data"]).toEqual({ a: "3", b: "3" });
  });

  it("of a Deployment at whose replicas an autoscaler is: the image is back, the replicas are theirs", async () => {
    const place = await workspace();
    const web = deployment("web", "myapp:v1.0");
    await place.create(web);
    await expect.poll(async () => (await place.read(web))["status"]).toMatchObject({ replicas: 1 });
    const before = await place.read(web);
    const { status } = await rolledBack(place, [patching(deployment("web", "myapp:v2.0"))], () =>
      kubectl("scale", "deployment", "web", "--replicas=3", "-n", place.namespace),
    );
    expect(status.phase).toBe("RolledBack");
    const after = await place.read(web);
    expect(after["spec"]).toEqual({ ...(before["spec"] as object), replicas: 3 });
  });

  it("of a Deployment to which another client has applied a container: the image is back, theirs stays", async () => {
    const place = await workspace();
    const web = deployment("web", "web:1");
    const [before] = await place.create(web);
    const template = { spec: { containers: [{ name: "proxy", image: "proxy:1" }] } };
    const theirs = { ...web, spec: { template } };
    const { status } = await rolledBack(place, [patching(deployment("web", "web:2"))], () => place.apply(theirs));
    expect(status.phase).toBe("RolledBack");
    expect(status.items[0]?.error).toBeUndefined();
    const [former] = containersOf(before);
    const after = containersOf(await place.read(web));
    expect(after).toEqual([former, { ...former, name: "proxy", image: "proxy:1" }]);
  });

  it("of a Pod that is bound to a node meanwhile: as before, on its node", async () => {
    const place = await workspace();
    const labelled = { apiVersion: "v1", kind: "Pod", metadata: { name: "web", labels: { by: "us" } } };
    const web = { ...labelled, metadata: { name: "web" }, spec: { containers: [{ name: "web", image: "web:1" }] } };
    const [before] = await place.create(web);
    const bind = async () => {
      const target = { apiVersion: "v1", kind: "Node", name: "node-1" };
      const metadata = { name: "web", labels: { "topology.kubernetes.io/zone": "a" } };
      const path = `/api/v1/namespaces/${place.namespace}/pods/web/binding`;
      const stdin = JSON.stringify({ apiVersion: "v1", kind: "Binding", metadata, target });
      expect(await kubectlWith({ stdin }, "create", "--raw", path, "-f", "-")).toMatchObject({ code: 0 });
    };
    const { status } = await rolledBack(place, [patching(labelled)], bind);
    expect(status.phase).toBe("RolledBack");
    expect(status.items[0]?.error).toBeUndefined();
    const after = await place.read(web);
    expect(after["spec"]).toEqual({ ...(before?.["spec"] as object), nodeName: "node-1" });
    expect(after.metadata.labels).toEqual({ "topology.kubernetes.io/zone": "a" });
  });

  it("of the type of a Service whose address is taken meanwhile: a new one, with a warning", async () => {
    const place = await workspace();
    const [before] = await place.create(service("web"));
    const spec = before?.["spec"] as { clusterIP: string };
    const external = { ...service("web"), spec: { type: "ExternalName", externalName: "example.com" } };
    const { status } = await rolledBack(place, [patching(external)], () =>
      place.create({ ...service("thief"), spec: { ports: [{ port: 80 }], clusterIP: spec.clusterIP } }),
    );
    const after = (await place.read(service("web")))["spec"] as typeof spec;
    expect(status.phase).toBe("RolledBack");
    expect(status.items[0]?.error).toContain(`spec.clusterIP was ${spec.clusterIP}, now ${after.clusterIP}`);
    expect(after).toMatchObject({ type: "ClusterIP", ports: [{ port: 80 }] });
    expect(after).not.toHaveProperty("externalName");
  });

  it.each([
    ["Patch", patching({ ...service("web"), spec: { type: "ClusterIP" } })],
    ["Update", updating({ ...service("web"), spec: { selector: { app: "web" }, ports: [{ port: 81 }] } })],
  ])("of the type of a Service whose port is taken after a %s: a new port, with a warning", async (_, change) => {
    const place = await workspace();
    const web = { ...service("web"), spec: { type: "NodePort", ports: [{ port: 80 }] } };
    const [before] = await place.create(web);
    const spec = before?.["spec"] as { clusterIP: string; ports: readonly { nodePort: number }[] };
    const { status } = await rolledBack(place, [change], () =>
      place.create({ ...service("thief"), spec: { type: "NodePort", ports: spec.ports } }),
    );
    const after = (await place.read(web))["spec"] as typeof spec;
    const [was, is] = [spec, after].map(({ ports }) => ports[0]?.nodePort);
    expect(status.phase).toBe("RolledBack");
    expect(status.items[0]?.error).toContain(`spec.ports[0].nodePort was ${was}, now ${is}`);
    expect(after).toEqual({ ...spec, ports: [{ ...spec.ports[0], nodePort: is }] });
  });

  it("of a DaemonSet: identical, but for the generation that the API server counts itself, which is reported", async () => {
    const place = await workspace();
    await clusterAdmin(place.namespace);
    const agent = { ...deployment("agent", "agent:1"), kind: "DaemonSet" };
    const [before] = await place.create(agent);
    const { status } = await rolledBack(place, [patching({ ...deployment("agent", "agent:2"), kind: "DaemonSet" })]);
    expect(status.phase).toBe("RolledBack");
    expect(status.items?.[0]?.error).toContain("deprecated.daemonset.template.generation");
    expect((await place.read(agent))["spec"]).toEqual(before?.["spec"]);
  });

  it("of what a policy has held to the change's value since: Failed, and said", async () => {
    const place = await workspace();
    const [config, other] = [configMap("config", { a: "1" }), configMap("other", {})];
    await place.create(config, other);
    const { status } = await rolledBack(place, [patching(configMap("config", { a: "2" }))], async () => {
      await policy(place.namespace, 'data: {"a": "2"}');
      const isHeld = async () =>
        (await place.patch({ ...other, metadata: { name: "other", labels: { n: `${Math.random()}` } } }))["data"];
      await expect.poll(isHeld).toEqual({ a: "2" });
    });
    expect(status.phase).toBe("Failed");
    expect(status.items?.[0]?.error).toContain("does not restore .data.a");
    expect((await place.read(config))["data"]).toEqual({ a: "2" });
  });

  it("of the cluster-scoped ClusterRole `a:b`: identical", async () => {
    const place = await workspace();
    await clusterAdmin(place.namespace);
    const rule = { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] };
    const role = clusterRole(`${place.namespace}:a:b`, rule);
    const [before] = await place.create(role);
    onTestFinished(() => place.remove(role));
    const { status } = await rolledBack(place, [
      patching({ ...role, metadata: { ...role.metadata, labels: { ours: "1" } }, rules: [{ ...rule, verbs: ["*"] }] }),
    ]);
    expect(status.phase).toBe("RolledBack");
    const after = await place.read(role);
    expect(same(after)).toEqual(before === undefined ? undefined : same(before));
    expect(after.metadata.uid).toBe(before?.metadata.uid);
  });
});

describe("Create", () => {
  const made = configMap("made", { a: "1" });
  const finalizers = ["example.com/late"];

  it("of what a controller has put a finalizer on: waits for it and says so; then it is gone", async () => {
    const place = await workspace();
    await submitted(place, [creating(made)], () =>
      place.patch({ ...configMap("made"), metadata: { name: "made", finalizers } }),
    );
    await expect.poll(() => said(place)).toMatch(/waiting for the finalizers of ConfigMap .*made: example.com\/late/);
    expect((await place.txn()).status.phase).toBe("RollingBack");
    await place.patch({ ...configMap("made"), metadata: { name: "made", finalizers: [] } });
    const { status } = await place.over();
    expect(status.phase).toBe("RolledBack");
    expect(status.conditions.find(({ type }) => type === "RolledBack")?.message).toContain(
      "rolled back because: ConfigMap",
    );
    expect(await place.exists(made)).toBe(false);
  });

  it("of a Pod that takes time to end: says so, and names no finalizers", async () => {
    const place = await workspace();
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web" },
      spec: { nodeName: "node-1", containers: [{ name: "web", image: "web" }] },
    };
    await submitted(place, [creating(pod)], () => Promise.resolve());
    await expect.poll(() => said(place)).toContain(`waiting until Pod ${place.namespace}/web is gone`);
    expect(await said(place)).not.toContain("finalizers");
    await kubectl("delete", "pod", "web", "-n", place.namespace, "--grace-period=0", "--force");
    expect((await place.over()).status.phase).toBe("RolledBack");
  });

  it("of what its controller has reported a status of: gone", async () => {
    const place = await workspace();
    const web = deployment("web", "myapp:v1.0");
    const { status } = await rolledBack(place, [creating(web)], () =>
      expect.poll(async () => (await place.read(web))["status"]).toMatchObject({ replicas: 1 }),
    );
    expect(status.phase).toBe("RolledBack");
    await expect.poll(() => place.names("apps/v1", "Deployment")).toEqual([]);
  });

  it("of an object that another client deleted and created again: not modified, and reported", async () => {
    const place = await workspace();
    let theirs: KubeObject | undefined;
    const { status } = await rolledBack(place, [creating(made)], async () => {
      await place.remove(made);
      [theirs] = await place.create(configMap("made", { a: "theirs" }));
    });
    expect(status).toMatchObject({
      phase: "Failed",
      items: [{ rolledBack: false, error: expect.stringContaining("created again by another client") as string }, {}],
    });
    expect(await place.read(made)).toEqual(theirs);
  });
});

describe("Delete", () => {
  it.each(["CREATE", "UPDATE"] as const)(
    "of an object that a policy modifies on %s since: restored, and each difference reported",
    async (operation) => {
      const place = await workspace();
      const config = configMap("config", { a: "1", b: "1" });
      const probe = configMap("probe");
      await place.create(config);
      const { status } = await rolledBack(place, [deleting(config)], async () => {
        const fields = 'data: {"a": "2"}, metadata: Object.metadata{labels: {"injected": "yes"}}';
        await policy(place.namespace, fields, operation);
        await expect
          .poll(async () => {
            if (await place.exists(probe)) await place.remove(probe);
            await place.create(probe);
            return (await place.patch({ ...probe, metadata: { name: "probe", annotations: { x: "y" } } }))["data"];
          })
          .toEqual({ a: "2" });
      });
      expect(status.phase).toBe("RolledBack");
      expect((await place.read(config))["data"]).toEqual({ a: "2", b: "1" });
      const told = `ConfigMap ${place.namespace}/config: the API server or admission has set other values for .metadata.labels, .data.a`;
      expect(status.items[0]?.error).toContain(told);
      expect(await said(place)).toContain(`rolled back, except for changes[0]: ${told}`);
      const warnings = async () =>
        (await eventsOf(place.namespace, "txn")).flatMap(({ type, message }) => (type === "Warning" ? [message] : []));
      await expect.poll(async () => (await warnings()).join("\n")).toContain(told);
    },
  );

  it("of an object whose finalizers are removed late: exists again, as before", async () => {
    const place = await workspace();
    const held = configMap("held", { a: "1" });
    const [before] = await place.create({
      ...held,
      metadata: { name: "held", labels: { l: "1" }, finalizers: ["example.com/late", "example.com/later"] },
    });
    const removeFinalizers = () => place.patch({ ...configMap("held"), metadata: { name: "held", finalizers: [] } });
    await submitted(place, [deleting(held)], () => Promise.resolve());
    await expect.poll(() => said(place)).toContain("example.com/late, example.com/later");
    await removeFinalizers();
    const { status } = await place.over();
    expect(status.phase).toBe("RolledBack");
    const after = await place.read(held);
    expect(same(after)).toEqual(before === undefined ? undefined : same(before));
    expect(after.metadata.uid).not.toBe(before?.metadata.uid);
    await removeFinalizers();
  });

  it.each([
    ["the owner first", ["owner", "owned", "owned-too"]],
    ["what it owns first", ["owned", "owned-too", "owner"]],
    ["the owner in between", ["owned", "owner", "owned-too"]],
  ])(
    "of an owner and what it owns: both are back, and the garbage collector leaves them alone: %s",
    async (_, names) => {
      const place = await workspace();
      const [owner] = await place.create(configMap("owner", { a: "1" }));
      const former = owner?.metadata.uid ?? "";
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: former }];
      const own = (name: string) => ({ ...configMap(name, { a: "1" }), metadata: { name, ownerReferences } });
      const before = await place.create(own("owned"), own("owned-too"));

      const { status } = await rolledBack(
        place,
        names.map((name) => deleting(configMap(name))),
      );
      expect(status.phase).toBe("RolledBack");
      await collectedOthers(place);
      const uid = (await place.read(configMap("owner"))).metadata.uid ?? "";
      expect(uid).not.toBe(former);
      for (const object of before) {
        const after = await place.read(configMap(object.metadata.name ?? ""));
        // As it was, its owners of fields included, but for the new uid of its owner.
        expect(same(after)).toEqual(JSON.parse(JSON.stringify(same(object)).replaceAll(former, uid)));
      }
    },
    COLLECTED_WITHIN,
  );

  it(
    "of an owner whose dependents go with it: the owner is back, and what is lost is said before and after",
    async () => {
      const place = await workspace();
      const [owner, other] = await place.create(configMap("owner", { a: "1" }), configMap("other"));
      const [child] = await place.create(
        owned(configMap("child"), owner),
        owned(configMap("shared"), owner, other),
        owned(configMap("deleted-too"), owner),
      );
      await place.create(owned(secret("grandchild"), child));
      const lost = `also deletes ConfigMap child, Secret grandchild`;
      const { status } = await rolledBack(
        place,
        [deleting(configMap("owner")), deleting(configMap("deleted-too"))],
        async () => {
          const before = (await eventsOf(place.namespace, "txn")).map(({ message }) => message).join("\n");
          expect(before).toContain(`ConfigMap ${place.namespace}/owner ${lost}`);
          expect.soft(before).not.toContain("shared");
          await collected(place, secret("grandchild"));
        },
      );
      expect(status).toMatchObject({
        phase: "RolledBack",
        items: [
          {
            rolledBack: true,
            dependents: "ConfigMap child, Secret grandchild",
            error: expect.stringContaining("child"),
          },
          { rolledBack: true },
          {},
        ],
      });
      expect(status.items[1]?.error).toBeUndefined();
      expect(await place.exists(configMap("shared"))).toBe(true);
      expect(await place.exists(configMap("child"))).toBe(false);
      const told = async () => (await eventsOf(place.namespace, "txn")).map(({ message }) => message).join("\n");
      await expect.poll(told).toContain(`deleted with it, and not restored`);
    },
    COLLECTED_WITHIN,
  );

  it("of a Pod with ephemeral containers: without them, and with a warning", async () => {
    const place = await workspace();
    await clusterAdmin(place.namespace);
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "web" },
      spec: { containers: [{ name: "web", image: "web" }] },
    };
    await place.create(pod);
    const before = await place.read(pod);
    const debug = { name: "debug", image: "debug", terminationMessagePolicy: "File" };
    const patch = JSON.stringify({ spec: { ephemeralContainers: [debug] } });
    await kubectl("patch", "pod", "web", "-n", place.namespace, "--subresource=ephemeralcontainers", "-p", patch);
    expect((await place.read(pod))["spec"]).toMatchObject({ ephemeralContainers: [debug] });
    const { status } = await rolledBack(place, [deleting(pod)]);
    expect(status).toMatchObject({
      phase: "RolledBack",
      items: [{ error: `Pod ${place.namespace}/web: its ephemeral containers were not restored` }, {}],
    });
    expect(same(await place.read(pod))).toEqual(same(before));
  });

  it("of a Service whose address and port are taken meanwhile: a new one, with a warning", async () => {
    const place = await workspace();
    const web = { ...service("web"), spec: { type: "NodePort", selector: { app: "web" }, ports: [{ port: 80 }] } };
    const [before] = await place.create(web);
    const spec = before?.["spec"] as { clusterIP: string; ports: readonly { nodePort: number }[] };
    const { status } = await rolledBack(place, [deleting(web)], () =>
      place.create({ ...service("thief"), spec: { type: "NodePort", clusterIP: spec.clusterIP, ports: spec.ports } }),
    );
    const after = (await place.read(web))["spec"] as typeof spec;
    const changed = `Service ${place.namespace}/web: spec.clusterIP was ${spec.clusterIP}, now ${after.clusterIP}`;
    expect(status).toMatchObject({
      phase: "RolledBack",
      items: [{ rolledBack: true, error: expect.stringContaining(changed) as string }, {}],
    });
    const ready = status.conditions.find(({ type }) => type === "Ready")?.message;
    expect(ready).toContain("rolled back, except for changes[0]: ");
    expect(ready).toContain(changed);
    expect(after.clusterIP).not.toBe(spec.clusterIP);
    expect(after).toMatchObject({ type: "NodePort", selector: { app: "web" }, ports: [{ port: 80 }] });
    expect(after.ports[0]?.nodePort).not.toBe(spec.ports[0]?.nodePort);
    const told = async () => (await eventsOf(place.namespace, "txn")).map(({ message }) => message).join("\n");
    await expect.poll(told).toContain(changed);
  });

  it("of a Service whose port for health checks is taken meanwhile: a new one, with a warning", async () => {
    const place = await workspace();
    const local = { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [{ port: 80 }] };
    const web = { ...service("web"), spec: local };
    const [before] = await place.create(web);
    const spec = before?.["spec"] as { healthCheckNodePort: number };
    const { healthCheckNodePort } = spec;
    const { status } = await rolledBack(place, [deleting(web)], () =>
      place.create({ ...service("thief"), spec: { ...local, healthCheckNodePort } }),
    );
    const after = (await place.read(web))["spec"] as { healthCheckNodePort: number };
    expect(status.phase).toBe("RolledBack");
    expect(status.items[0]?.error).toContain(
      `spec.healthCheckNodePort was ${healthCheckNodePort}, now ${after.healthCheckNodePort}`,
    );
  });

  it("of a Service of which only the port is taken meanwhile: a new port, with a warning, and the same address", async () => {
    const place = await workspace();
    const web = { ...service("web"), spec: { type: "NodePort", ports: [{ port: 80 }] } };
    const [before] = await place.create(web);
    const spec = before?.["spec"] as { clusterIP: string; ports: readonly { nodePort: number }[] };
    const { status } = await rolledBack(place, [deleting(web)], () =>
      place.create({ ...service("thief"), spec: { type: "NodePort", ports: spec.ports } }),
    );
    expect(status.phase).toBe("RolledBack");
    const after = (await place.read(web))["spec"] as typeof spec;
    expect(after.ports[0]?.nodePort).not.toBe(spec.ports[0]?.nodePort);
    expect(after.clusterIP).toBe(spec.clusterIP);
    const [was, is] = [spec, after].map(({ ports }) => ports[0]?.nodePort);
    expect(status.items[0]?.error).toContain(`spec.ports[0].nodePort was ${was}, now ${is}`);
  });

  it.each([
    { ...configMap("fixed", { a: "1" }), immutable: true },
    { ...secret("fixed", { a: "é" }), immutable: true },
  ])("of an immutable $kind: the old one, immutable", async (fixed) => {
    const place = await workspace();
    const [before] = await place.create(fixed);
    const { status } = await rolledBack(place, [deleting(fixed)]);
    expect(status.phase).toBe("RolledBack");
    const after = await place.read(fixed);
    expect(after["immutable"]).toBe(true);
    expect(same(after)).toEqual(before === undefined ? undefined : same(before));
  });
});

describe.each([
  ["with a status subresource", "Split"],
  ["whose status is part of it", "Plain"],
] as const)("a custom resource %s", (_, kind) => {
  const status = { phase: "Ready", since: 3 };
  const object = (spec: object, more: object = {}): Manifest => ({
    apiVersion: `${GROUP}/v1`,
    kind,
    metadata: { name: "one" },
    spec,
    ...more,
  });
  const ref: Ref = object({});

  it.each([
    ["Update", updating(object({ colour: "blue", ports: [{ port: 53 }] }))],
    ["Patch", patching(object({ colour: "blue", hosts: ["z"] }))],
    ["Delete", deleting(ref)],
  ] as const)("%s: identical", async (type, change) => {
    const place = await workspace();
    await clusterAdmin(place.namespace);
    await place.create(object(custom, kind === "Plain" ? { status } : {}));
    // A status of its own is lost with the object: a controller has to report it again.
    if (kind === "Split" && type !== "Delete") await place.patch({ ...ref, status }, "status");
    const before = await place.read(ref);
    const txn = await rolledBack(place, [change]);
    expect(txn.status.phase).toBe("RolledBack");
    const after = await place.read(ref);
    expect(same(after)).toEqual(same(before));
    expect(after.metadata.uid === before.metadata.uid).toBe(type !== "Delete");
  });
});

const plain = (hosts: readonly string[]): Manifest => ({
  apiVersion: `${GROUP}/v1`,
  kind: "Plain",
  metadata: { name: "plain" },
  spec: { hosts },
});

it("of a sensitive kind, in whose set others have a value, too: Failed, and that value is not shown", async () => {
  const place = await workspace({ sensitiveKinds: [`Plain.${GROUP}`] });
  await clusterAdmin(place.namespace);
  await place.create(plain(["a"]));
  const { status } = await rolledBack(place, [patching(plain(["hunter2"]))], () => place.apply(plain(["hunter2"])));
  expect(status.items[0]?.error).toContain(".spec.hosts[…] was modified by");
  expect(JSON.stringify([status, await eventsOf(place.namespace, "txn")])).not.toContain("hunter2");
});
