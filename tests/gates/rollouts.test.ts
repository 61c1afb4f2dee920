import { setTimeout } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { isKwokToBeHad } from "../control-plane/binaries/find.ts";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { creating, patching, type WrittenChange } from "../fixtures/changes.ts";
import { gadget, gadgets } from "../fixtures/gadgets.ts";
import { image, onNode, runKwok } from "../fixtures/kwok.ts";
import { configMap, role, roleBinding } from "../fixtures/manifests.ts";
import { type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";

const labels = { app: "web" };
const podOf = (image: string) => ({ spec: { containers: [{ name: "web", image }] } });

/** Of one of these kinds, with Pods of this image. */
const workload = (kind: string, image: string, spec: object = {}): Manifest => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "web" },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { ...podOf(image).spec, ...onNode } },
    ...spec,
  },
});

const KINDS: Readonly<Record<string, object>> = {
  Deployment: { replicas: 3 },
  StatefulSet: { replicas: 2, serviceName: "web" },
  DaemonSet: {},
};

const messageOf = ({ status }: Txn, type: string): string =>
  status?.conditions?.find((condition) => condition.type === type)?.message ?? "";

const imageIn = async (place: Workspace, kind: string): Promise<string> => {
  const { spec } = (await place.read(workload(kind, ""))) as unknown as {
    readonly spec: {
      readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
    };
  };
  return spec.template.spec.containers[0]?.image ?? "";
};

interface Pod {
  readonly spec: { readonly containers: readonly { readonly image: string }[] };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly restartCount: number }[];
  };
}

const readyPods = async ({ namespace }: Workspace): Promise<readonly Pod[]> => {
  const pods = (await administrator.list({ apiVersion: "v1", kind: "Pod" }, namespace)) as unknown as readonly Pod[];
  return pods.filter(({ status }) =>
    status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"),
  );
};
const readyImages = async (place: Workspace): Promise<readonly string[]> =>
  (await readyPods(place)).map(({ spec }) => spec.containers[0]?.image ?? "");

const before = configMap("config", { version: "1" });
const last = creating(configMap("last"));

/** A ConfigMap and a workload, and all Pods of that run. */
const rolledOut = async (kind: string, more: object = {}): Promise<Workspace> => {
  const place = await workspace();
  await place.janus();
  await place.create(before);
  const created = creating(workload(kind, image("works"), { ...KINDS[kind], ...more }));
  expect((await place.run([created], { name: "first", waitFor: ["ready"] })).status.phase).toBe("Committed");
  return place;
};

/** To Pods of this image, then one more change. */
const rollout = (kind: string, to: string, more: Partial<WrittenChange> = {}): readonly WrittenChange[] => [
  patching(configMap("config", { version: "2" })),
  { ...patching({ ...workload(kind, to), spec: { template: podOf(to) } }), waitFor: ["ready"], ...more },
  last,
];

const isRolledBack = async (place: Workspace, kind: string): Promise<void> => {
  expect(await imageIn(place, kind)).toBe(image("works"));
  expect(await place.read(before)).toMatchObject({ data: { version: "1" } });
  expect(await place.exists(configMap("last"))).toBe(false);
};

describe.skipIf(!(await isKwokToBeHad(process.env, console.log)))("on a Node where Pods run", () => {
  runKwok();

  it.each(Object.keys(KINDS))("a %s that is rolled out is Committed when all its Pods are", async (kind) => {
    const place = await rolledOut(kind);
    const replicas = (await readyImages(place)).length;
    expect(replicas).toBeGreaterThan(0);
    const { status } = await place.run(rollout(kind, image("works", 2)));
    expect(status.phase).toBe("Committed");
    const ready = await readyImages(place);
    expect(ready.filter((one) => one === image("works", 2))).toHaveLength(replicas);
  });

  it.each(Object.keys(KINDS))("a %s that crash-loops is rolled back with what came before it", async (kind) => {
    const place = await rolledOut(kind);
    const txn = await place.run(rollout(kind, image("crashes"), { waitTimeout: "8s" }));
    expect(txn.status.phase).toBe("RolledBack");
    expect(messageOf(txn, "Ready")).toMatch(
      /changes\[1\]: waitFor ready was not met within its waitTimeout: .*container web in CrashLoopBackOff: exit code 1, Pod web-/,
    );
    await isRolledBack(place, kind);
  });

  it.each([
    ["Deployment", {}],
    ["DaemonSet", {}],
    ["StatefulSet", { podManagementPolicy: "Parallel" }],
  ])("a %s (%o) is healthy again after a rollback, and the Transaction is over only then", async (kind, more) => {
    const place = await rolledOut(kind, more);
    const ready = await readyImages(place);
    const options = { rollbackWaitFor: ["ready"], rollbackWaitTimeout: "30s" };
    const txn = await place.run(rollout(kind, image("crashes"), { waitTimeout: "5s" }), options);
    expect(txn.status.conditions.find(({ type }) => type === "Healthy")).toMatchObject({ status: "True" });
    expect(await readyImages(place)).toEqual(ready);
  });

  // https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#forced-rollback
  it("a StatefulSet whose Pods start one by one is healthy again only when the Pod that crashes is deleted", async () => {
    const place = await rolledOut("StatefulSet");
    const options = { rollbackWaitFor: ["ready"], rollbackWaitTimeout: "40s" };
    await place.submit(rollout("StatefulSet", image("crashes"), { waitTimeout: "5s" }), options);
    await expect.poll(() => imageIn(place, "StatefulSet")).toBe(image("crashes"));
    await expect.poll(() => imageIn(place, "StatefulSet")).toBe(image("works"));
    await expect.poll(async () => messageOf(await place.txn(), "Ready")).toMatch(/CrashLoopBackOff.*Pod web-1/);
    await setTimeout(3000);
    expect((await place.txn()).status.phase).toBe("RollingBack");
    await place.remove({ apiVersion: "v1", kind: "Pod", metadata: { name: "web-1" } });
    const txn = await place.over();
    expect(txn.status.conditions.find(({ type }) => type === "Healthy")).toMatchObject({ status: "True" });
    expect(await readyImages(place)).toEqual([image("works"), image("works")]);
  });

  it("a Deployment that exceeds its progress deadline is rolled back at once", async () => {
    const place = await rolledOut("Deployment", { progressDeadlineSeconds: 3 });
    const txn = await place.run(rollout("Deployment", image("crashes"), { waitTimeout: "10m" }));
    expect(txn.status.phase).toBe("RolledBack");
    expect(messageOf(txn, "Ready")).toMatch(/waitFor ready was not met: Deployment web: .*progress deadline/i);
    await isRolledBack(place, "Deployment");
  });

  it.each(Object.keys(KINDS))("a %s that recovers in time is Committed", async (kind) => {
    const place = await rolledOut(kind);
    const replicas = (await readyPods(place)).length;
    const { status } = await place.run(rollout(kind, image("recovers"), { waitTimeout: "40s" }));
    expect(status.phase).toBe("Committed");
    // One of the old Pods may not have gone yet.
    const pods = (await readyPods(place)).filter(({ spec }) => spec.containers[0]?.image === image("recovers"));
    const restarts = pods.map(({ status }) => status?.containerStatuses?.[0]?.restartCount);
    expect(restarts).toEqual(Array.from({ length: replicas }, () => 3));
    expect(await place.exists(configMap("last"))).toBe(true);
  });
});

/** Says of each gadget that it is not ready, and some time later that it is; or that it never will be. */
const slowController = (place: Workspace, after: number, verdict: object): void => {
  const over = new AbortController();
  const kind = { ...gadget(place.namespace), metadata: { name: "one", namespace: place.namespace } };
  const report = async (conditions: readonly object[]): Promise<void> => {
    const seen = await administrator.read(kind);
    const status = { observedGeneration: seen?.metadata.generation, conditions };
    if (seen !== undefined) await administrator.patch({ ...kind, status }, "status");
  };
  const work = async (): Promise<void> => {
    while (!over.signal.aborted && (await administrator.read(kind)) === undefined) await setTimeout(50);
    await report([
      { type: "Ready", status: "False", reason: "Provisioning", message: "the database is being created" },
    ]);
    await setTimeout(after);
    if (!over.signal.aborted) await report([verdict]);
  };
  const done = work();
  onTestFinished(async () => {
    over.abort();
    await done;
  });
};

const served = async (): Promise<Workspace> => {
  const place = await workspace();
  const { namespace } = place;
  await place.create(
    role("gadgets", { apiGroups: [`${namespace}.example.com`], resources: ["gadgets"], verbs: ["*"] }),
    roleBinding("gadgets", "Role", "gadgets", `${namespace}/deployer`),
  );
  const definition = gadgets(namespace, { subresources: { status: {} } });
  await administrator.create(definition);
  onTestFinished(() => administrator.remove(definition));
  await place.janus();
  await place.run([creating(configMap("first"))], { name: "first" });
  return place;
};

describe("a custom resource whose controller is slow", () => {
  it("is waited for", async () => {
    const place = await served();
    slowController(place, 4000, { type: "Ready", status: "True", reason: "Provisioned", message: "" });
    await place.submit([{ ...creating(gadget(place.namespace)), waitFor: ["ready", "condition=Ready"] }, last]);
    await expect.poll(async () => messageOf(await place.txn(), "Ready")).toMatch(/the database is being created/);
    expect(await place.exists(configMap("last"))).toBe(false);
    expect((await place.over()).status.phase).toBe("Committed");
    expect(await place.exists(configMap("last"))).toBe(true);
  });

  it("is rolled back as soon as its controller says that it is stalled", async () => {
    const place = await served();
    slowController(place, 4000, { type: "Stalled", status: "True", reason: "NoQuota", message: "no quota is left" });
    const txn = await place.run([{ ...creating(gadget(place.namespace)), waitFor: ["condition=Ready"] }, last]);
    expect(txn.status.phase).toBe("RolledBack");
    expect(messageOf(txn, "Ready")).toContain("no quota is left");
    expect(await place.exists(gadget(place.namespace))).toBe(false);
  });
});
