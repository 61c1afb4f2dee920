import { expect, it, onTestFinished } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { creating, deleting, patching } from "../fixtures/changes.ts";
import { configMap, deployment } from "../fixtures/manifests.ts";
import { ended, running } from "../fixtures/pod-status.ts";
import { podsOf, report } from "../fixtures/pods.ts";
import { type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";

const message = ({ status }: Txn, type = "Ready"): string =>
  status?.conditions?.find((condition) => condition.type === type)?.message ?? "";

const says = (place: Workspace, what: RegExp): Promise<void> =>
  expect.poll(async () => message(await place.txn())).toMatch(what);

const END = { waitAt: "End" };
const READY = ["ready"];
const labelled = ["jsonpath={.metadata.labels.ok}"];
const label = (name: string): Manifest => ({ ...configMap(name), metadata: { name, labels: { ok: "" } } });
const job = (ttlSecondsAfterFinished: number): Manifest => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "migrate" },
  spec: {
    backoffLimit: 0,
    ttlSecondsAfterFinished,
    template: {
      metadata: { labels: { app: "migrate" } },
      spec: { restartPolicy: "Never", containers: [{ name: "web", image: "migrate:1" }] },
    },
  },
});
const finish = async (place: Workspace, how: "Succeeded" | "Failed" = "Succeeded"): Promise<void> => {
  for (const pod of await podsOf(place.namespace, "migrate", "migrate:1")) await report(pod, ended(how));
  await expect.poll(() => place.exists(job(0))).toBe(false);
};

it("applies all changes before it waits, so that what a target needs of a later one is there", async () => {
  const place = await workspace();
  await place.janus();
  const changes = [{ ...creating(deployment("web", "web:1")), waitFor: READY }, creating(configMap("needed"))];
  await place.submit(changes, END);
  await says(place, /^waiting for Deployment .*\/web: ready: /);
  expect(await place.exists(configMap("needed"))).toBe(true);
  expect((await place.txn()).status).toMatchObject({ phase: "Committing", progress: "1/2" });
  for (const pod of await podsOf(place.namespace, "web", "web:1")) await report(pod, running);
  expect((await place.over()).status).toMatchObject({ phase: "Committed", progress: "2/2" });
});

it("rolls everything back when a gate is not met at the end, and names each that was not", async () => {
  const place = await workspace();
  await place.create(configMap("old", { a: "1" }));
  await place.janus();
  const late = { waitFor: labelled, waitTimeout: "2s" };
  const { status } = await place.run(
    [
      patching(configMap("old", { a: "2" })),
      { ...creating(configMap("one")), ...late },
      { ...creating(configMap("two")), ...late },
      { ...creating(configMap("met")), waitFor: ["create"] },
    ],
    END,
  );
  expect(status.phase).toBe("RolledBack");
  expect(status.conditions.find(({ type }) => type === "Committed")).toMatchObject({
    reason: "GateFailed",
    message: expect.stringMatching(
      /^changes\[1\]: waitFor .* was not met within its waitTimeout: .*\(and 1 more\)/,
    ) as unknown,
  });
  expect(status.items.map(({ error = "" }) => error.replace(/ was not met.*/u, ""))).toEqual([
    "",
    "waitFor jsonpath={.metadata.labels.ok}",
    "waitFor jsonpath={.metadata.labels.ok}",
    "",
  ]);
  expect(await place.read(configMap("old"))).toMatchObject({ data: { a: "1" } });
  expect(await place.exists(configMap("met"))).toBe(false);
});

it("commits only when all gates are met at once, and nothing is reverted that was met before", async () => {
  const place = await workspace();
  await place.create(configMap("first", { a: "1" }));
  await place.janus();
  const changes = [
    { ...patching(configMap("first", { a: "2" })), waitFor: ["jsonpath={.data.a}=2"] },
    { ...creating(configMap("second")), waitFor: labelled },
  ];
  await place.submit(changes, END);
  await says(place, /ConfigMap .*\/second: /);
  await place.patch(configMap("first", { a: "1" }));
  const { status } = await place.over();
  expect(status.conditions.find(({ type }) => type === "Committed")).toMatchObject({ reason: "ConflictDetected" });
  expect(await place.exists(configMap("second"))).toBe(false);
});

it("sends a deletion that cannot be undone only when the gates are met", async () => {
  const place = await workspace();
  const claim: Manifest = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "none", resources: { requests: { storage: "1Gi" } } },
  };
  await place.create(claim);
  await place.janus();
  await place.submit([{ ...creating(configMap("made")), waitFor: labelled }, deleting(claim)], END);
  await says(place, /ConfigMap .*\/made: /);
  expect((await place.read(claim)).metadata.deletionTimestamp).toBeUndefined();
  await place.patch(label("made"));
  expect((await place.over()).status.phase).toBe("Committed");
  expect(await place.exists(claim)).toBe(false);
});

it("resumes the wait after a restart", async () => {
  const place = await workspace();
  const first = await place.janus();
  await place.submit(
    [
      { ...creating(configMap("a")), waitFor: labelled },
      { ...creating(configMap("b")), waitFor: labelled },
    ],
    END,
  );
  await says(place, /waiting for ConfigMap .*\/a: .*\(and 1 more\)/);
  await first.stop();
  await place.patch(label("a"));
  await place.janus();
  await says(place, /waiting for ConfigMap .*\/b: /);
  await place.patch(label("b"));
  expect((await place.over()).status.phase).toBe("Committed");
});

it.each([
  ["Succeeded", {}, "Committed", /all 2 changes are applied/],
  ["Succeeded", END, "Committed", /all 2 changes are applied/],
  ["Failed", {}, "RolledBack", /changes\[0\]: waitFor ready was not met: .*BackoffLimitExceeded/],
] as const)("knows how a Job has ended that has deleted itself: %s, %o", async (how, at, phase, said) => {
  const place = await workspace();
  await place.janus();
  const others = [{ ...creating(configMap("after")), waitFor: at === END ? labelled : [] }];
  await place.submit([{ ...creating(job(0)), waitFor: READY }, ...others], at);
  await says(place, /^waiting for Job/);
  await finish(place, how);
  if (at === END) {
    await says(place, /^waiting for ConfigMap/);
    await place.patch(label("after"));
  }
  const txn = await place.over();
  expect(txn.status.phase).toBe(phase);
  expect(message(txn)).toMatch(said);
});

it("says what to do about a Job that may have deleted itself unseen, and rolls back rightly", async () => {
  const place = await workspace();
  const controller = await place.janus();
  await place.submit([{ ...creating(job(0)), waitFor: READY }]);
  await says(place, /^waiting for Job/);
  await controller.stop();
  await finish(place);
  await place.janus();
  const txn = await place.over();
  expect(txn.status.phase).toBe("RolledBack");
  expect(message(txn, "Committed")).toMatch(
    /Job .* is gone before it was seen to be complete: with ttlSecondsAfterFinished 0 .* raise that/,
  );
});

const storageClass = (name: string, volumeBindingMode: string): Manifest => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name },
  provisioner: "kubernetes.io/no-provisioner",
  volumeBindingMode,
});
const claimOf = (storageClassName: string): Manifest => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], storageClassName, resources: { requests: { storage: "1Gi" } } },
});
const withClass = async (mode: string): Promise<readonly [Workspace, Manifest]> => {
  const place = await workspace();
  const made = storageClass(`class-${place.namespace}`, mode);
  await administrator.create(made);
  onTestFinished(() => administrator.remove(made));
  await place.janus();
  return [place, claimOf(made.metadata.name)];
};

it("takes a claim for ready that waits for its first consumer", async () => {
  const [place, claim] = await withClass("WaitForFirstConsumer");
  expect((await place.run([{ ...creating(claim), waitFor: READY }])).status.phase).toBe("Committed");
});

it("waits for a claim that a volume should be bound to at once, and says why there is none", async () => {
  const [place, claim] = await withClass("Immediate");
  await place.submit([{ ...creating(claim), waitFor: READY, waitTimeout: "20s" }]);
  await says(place, /not bound to a volume: phase Pending \(last: ProvisioningFailed: /);
  expect((await place.txn()).status.phase).toBe("Committing");
});

it("says why the Pods of a Job or a Deployment do not start, by their Events", async () => {
  const place = await workspace();
  await place.janus();
  await place.submit([{ ...creating(job(600)), waitFor: READY }]);
  const [pod] = await podsOf(place.namespace, "migrate", "migrate:1");
  const { name = "", uid = "" } = pod?.metadata ?? {};
  const { namespace } = place;
  await place.create({
    apiVersion: "v1",
    kind: "Event",
    metadata: { name: "mount" },
    involvedObject: { apiVersion: "v1", kind: "Pod", name, namespace, uid },
    type: "Warning",
    reason: "FailedMount",
    message: 'MountVolume.SetUp failed for volume "cert": secret "admission" not found',
    lastTimestamp: "2026-01-01T12:00:00Z",
  });
  await says(
    place,
    /Job migrate: .*last: FailedMount: MountVolume\.SetUp failed .*"admission" not found, Pod migrate-/,
  );
  expect((await place.txn()).status.phase).toBe("Committing");
});

it("fails at once for a Deployment that is paused, and says what to do", async () => {
  const place = await workspace();
  await place.janus();
  const web = deployment("web", "web:1");
  const paused = { ...web, spec: { ...(web["spec"] as object), paused: true } };
  const { status } = await place.run([{ ...creating(paused), waitFor: READY }]);
  expect(status.phase).toBe("RolledBack");
  expect(status.items[0]?.error).toMatch(/it is paused, .*set spec\.paused to false/);
});
