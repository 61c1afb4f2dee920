import { expect, it, onTestFinished } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { creating, patching } from "../fixtures/changes.ts";
import { eventsOf } from "../fixtures/events.ts";
import { gadget, gadgets } from "../fixtures/gadgets.ts";
import { configMap, deployment, role, roleBinding, serviceAccount, within } from "../fixtures/manifests.ts";
import { crashing, ended, running } from "../fixtures/pod-status.ts";
import { podsOf, report } from "../fixtures/pods.ts";
import { recording } from "../fixtures/recording.ts";
import { type Txn, type Workspace, workspace } from "../fixtures/workspace.ts";

const web = (image: string) => deployment("web", image);
const roleOut = (more: object) => ({ ...patching(web("web:2")), waitFor: ["ready"], ...more });
const last = creating(configMap("last"));

const readyMessage = ({ status }: Txn): string =>
  status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";
const saidOf = async (place: Workspace, what: RegExp): Promise<Txn> => {
  await expect.poll(async () => readyMessage(await place.txn())).toMatch(what);
  return place.txn();
};
const imageOf = async (place: Workspace): Promise<unknown> => {
  const { spec } = (await place.read(web(""))) as unknown as {
    readonly spec: {
      readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
    };
  };
  return spec.template.spec.containers[0]?.image;
};
/** A Deployment that is rolled out. */
const rolledOut = async (): Promise<Workspace> => {
  const place = await workspace();
  await place.create(web("web:1"));
  for (const pod of await podsOf(place.namespace, "web", "web:1")) await report(pod, running);
  return place;
};

it("applies the next change only when the previous rollout is complete, and reports what it waits for", async () => {
  const place = await rolledOut();
  await place.janus();
  await place.submit([roleOut({}), last]);
  const { status } = await saidOf(place, /^waiting for Deployment .*\/web: ready: /);
  expect(status.items[0]).toMatchObject({
    committed: true,
    waitingFor: expect.stringMatching(/^ready: Deployment web: /) as unknown,
    waitingSince: expect.stringMatching(/^20/) as unknown,
  });
  expect(await place.exists(configMap("last"))).toBe(false);

  for (const pod of await podsOf(place.namespace, "web", "web:2")) await report(pod, running);
  const txn = await place.over();
  expect(txn.status.phase).toBe("Committed");
  expect(JSON.stringify(txn.status)).not.toContain("waitingFor");
  expect(await place.exists(configMap("last"))).toBe(true);
  const events = await eventsOf(place.namespace, "txn");
  expect(events.map(({ reason }) => reason).filter((reason) => reason.startsWith("Gate"))).toEqual([
    "GateWaiting",
    "GateMet",
  ]);
});

it("rolls back when a rollout is not complete in time, and names the Pod and what is wrong with it", async () => {
  const place = await rolledOut();
  await place.janus();
  await place.submit([creating(configMap("first")), roleOut({ waitTimeout: "5s" }), last]);
  const [pod] = await podsOf(place.namespace, "web", "web:2");
  if (pod === undefined) throw new Error("no Pod");
  await report(pod, crashing);
  const { status } = await place.over();
  expect(status.phase).toBe("RolledBack");
  expect(status.conditions.find(({ type }) => type === "Committed")).toMatchObject({ reason: "GateFailed" });
  const message = status.conditions.find(({ type }) => type === "Ready")?.message;
  expect(message).toMatch(
    /changes\[1\]: waitFor ready was not met within its waitTimeout: Deployment web: .*CrashLoopBackOff: exit code 1.*web-/,
  );
  expect(await place.exists(configMap("first"))).toBe(false);
  expect(await imageOf(place)).toBe("web:1");
  expect((await eventsOf(place.namespace, "txn")).filter(({ reason }) => reason === "GateFailed")).toHaveLength(1);
});

it("rolls back at once what can no longer be reached: a rollout past its progress deadline", async () => {
  const place = await rolledOut();
  await place.janus();
  const { status } = await place.run([
    {
      ...patching({
        ...web("web:2"),
        spec: { progressDeadlineSeconds: 1, template: { spec: { containers: [{ name: "web", image: "web:2" }] } } },
      }),
      waitFor: ["ready"],
    },
    last,
  ]);
  expect(status.phase).toBe("RolledBack");
  expect(status.conditions.find(({ type }) => type === "Ready")?.message).toContain(
    "waitFor ready was not met: Deployment web:",
  );
  expect(await imageOf(place)).toBe("web:1");
});

const job = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: { name: "migrate" },
  spec: {
    backoffLimit: 0,
    template: {
      metadata: { labels: { app: "migrate" } },
      spec: { restartPolicy: "Never", containers: [{ name: "web", image: "migrate:1" }] },
    },
  },
};

it.each([
  ["Succeeded", "ready", "Committed"],
  ["Succeeded", "condition=Complete", "Committed"],
  ["Failed", "ready", "RolledBack"],
  ["Failed", "condition=Complete", "RolledBack"],
] as const)("waits for a Job: one that has %s, with waitFor %s, is %s", async (how, gate, phase) => {
  const place = await workspace();
  await place.janus();
  await place.submit([{ ...creating(job), waitFor: [gate] }, last]);
  for (const pod of await podsOf(place.namespace, "migrate", "migrate:1")) await report(pod, ended(how));
  expect((await place.over()).status.phase).toBe(phase);
});

const settings = (data: Readonly<Record<string, string>>) => configMap("settings", data);
const untilDone = ["jsonpath={.data.state}=done", "cel=self.data.count == '2'"];

it("sends no request while nothing changes, and continues as soon as all gates are met", async () => {
  const place = await workspace();
  const { hook, requests } = recording();
  await place.janus(hook);
  await place.submit([creating(settings({})), last], { waitFor: untilDone });
  await saidOf(place, /jsonpath=.*has no value yet/);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  const before = requests.length;
  await new Promise((resolve) => setTimeout(resolve, 4000));
  expect(requests.slice(before).map(({ verb, purpose }) => `${verb} ${purpose}`)).toEqual([]);

  await place.patch(settings({ state: "done" }));
  await saidOf(place, /cel=/);
  await place.patch(settings({ count: "2" }));
  // The default holds for the last change, too.
  await saidOf(place, /ConfigMap .*\/last/);
  await place.patch(configMap("last", { state: "done", count: "2" }));
  expect((await place.over()).status.phase).toBe("Committed");
});

it("lets a change switch off what is the default for all", async () => {
  const place = await workspace();
  await place.janus();
  const { status } = await place.run([{ ...creating(settings({})), waitFor: [] }], { waitFor: untilDone });
  expect(status.phase).toBe("Committed");
});

it("rolls back when another client deletes what is waited for", async () => {
  const place = await workspace();
  await place.janus();
  await place.create(configMap("kept", { a: "1" }));
  await place.submit([patching(configMap("kept", { a: "2" })), { ...creating(settings({})), waitFor: untilDone }]);
  await saidOf(place, /waiting for ConfigMap/);
  await place.remove(settings({}));
  const { status } = await place.over();
  expect(status.phase).toBe("RolledBack");
  expect(status.conditions.find(({ type }) => type === "Committed")?.message).toContain(
    "was deleted by another client",
  );
  expect(await place.read(configMap("kept"))).toMatchObject({ data: { a: "1" } });
});

it("takes nothing that another client has put in the place of its target for that", async () => {
  const place = await workspace();
  await place.janus();
  await place.submit([{ ...creating(settings({})), waitFor: untilDone }]);
  await saidOf(place, /waiting for ConfigMap/);
  await place.remove(settings({}));
  await place.create(settings({ state: "done", count: "2" }));
  const { status } = await place.over();
  expect(status.phase).not.toBe("Committed");
  expect(await place.read(settings({}))).toMatchObject({ data: { state: "done" } });
});

it("resumes the wait after a restart, and writes nothing twice", async () => {
  const place = await workspace();
  const { hook, requests } = recording();
  const first = await place.janus(hook);
  await place.submit([{ ...creating(settings({})), waitFor: untilDone }, last]);
  await saidOf(place, /waiting for ConfigMap/);
  await first.stop();
  await place.janus(hook);
  await place.patch(settings({ state: "done", count: "2" }));
  expect((await place.over()).status.phase).toBe("Committed");
  expect(requests.filter(({ purpose }) => purpose === "change").map(({ verb }) => verb)).toEqual(["create", "create"]);
});

it("waits with many Transactions at once", async () => {
  const place = await workspace();
  await place.janus();
  const all = Array.from({ length: 20 }, (_, n) => `many-${n}`);
  for (const name of all) await place.submit([{ ...creating(configMap(name)), waitFor: untilDone }], { name });
  for (const name of all) await expect.poll(async () => readyMessage(await place.txn(name))).toMatch(/waiting for/);
  for (const name of all) await place.patch(configMap(name, { state: "done", count: "2" }));
  for (const name of all) expect((await place.over(name)).status.phase).toBe("Committed");
});

it("looks for itself where the ServiceAccount may not watch", async () => {
  const place = await workspace();
  await administrator.create(within(place.namespace, serviceAccount("blind")));
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "create", "update", "patch", "delete"] }];
  await administrator.create(within(place.namespace, role("blind", ...rules)));
  await administrator.create(
    within(place.namespace, roleBinding("blind", "Role", "blind", `${place.namespace}/blind`)),
  );
  await place.janus();
  await place.submit([{ ...creating(settings({})), waitFor: untilDone }], { serviceAccountName: "blind" });
  const { status } = await saidOf(place, /waiting for ConfigMap/);
  expect(status.conditions.find(({ type }) => type === "Prepared")?.message).toContain(
    `ServiceAccount blind may not watch ConfigMap ${place.namespace}/settings`,
  );
  await place.patch(settings({ state: "done", count: "2" }));
  expect((await place.over()).status.phase).toBe("Committed");
});

it("refuses what cannot be understood before anything is touched, and says where the mistake is", async () => {
  const place = await workspace();
  await place.janus();
  const { status } = await place.run([
    { ...creating(settings({})), waitFor: ["jsonpath={.data[}=x", "cel=self.("] },
    last,
  ]);
  expect(status.phase).toBe("Failed");
  const message = status.conditions.find(({ type }) => type === "Ready")?.message;
  expect(message).toMatch(/changes\[0\]: waitFor\[0\] "jsonpath={.data\[}=x", character \d+: /);
  expect(await place.exists(settings({}))).toBe(false);
});

it.each([
  ["True", running],
  ["False", crashing],
] as const)("says after a rollback whether what was restored is healthy: %s", async (isHealthy, status) => {
  const place = await rolledOut();
  await place.janus();
  await place.submit([roleOut({ waitTimeout: "2s" })], { rollbackWaitFor: ["ready"], rollbackWaitTimeout: "6s" });
  await saidOf(place, /waiting for Deployment/);
  for (const pod of await podsOf(place.namespace, "web", "web:1")) await report(pod, status);
  const txn = await place.over();
  expect(txn.status.phase).toBe("RolledBack");
  expect(txn.status.conditions.find(({ type }) => type === "Healthy")).toMatchObject({ status: isHealthy });
  expect(readyMessage(txn).includes("but not healthy: changes[0]: Deployment")).toBe(isHealthy === "False");
  expect(JSON.stringify(txn.status.items)).not.toContain("waitingFor");
});

it.each([
  ["2", "Committed", ""],
  [
    "5fd8f5d8c4",
    "RolledBack",
    "status.observedGeneration is no integer, so that ready cannot be told: wait for a condition=…",
  ],
])("reads an observedGeneration that is a text: %s", async (observed, phase, error) => {
  const place = await workspace();
  const { namespace } = place;
  const rules = { apiGroups: [`${namespace}.example.com`], resources: ["gadgets"], verbs: ["*"] };
  await place.create(role("gadgets", rules), roleBinding("gadgets", "Role", "gadgets", `${namespace}/deployer`));
  const definition = gadgets(namespace, { subresources: { status: {} } });
  await administrator.create(definition);
  onTestFinished(() => administrator.remove(definition));
  const one = gadget(namespace);
  await expect
    .poll(() =>
      place.create(one).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  await place.patch({ ...one, status: { observedGeneration: "1" } }, "status");
  await place.janus();
  await place.submit([{ ...patching({ ...one, size: 4 }), waitFor: ["ready"] }]);
  await saidOf(place, /its controller has seen generation 1, not yet 2/);
  await place.patch({ ...one, size: 4, status: { observedGeneration: observed } }, "status");
  const { status } = await place.over();
  expect(status.phase).toBe(phase);
  expect(status.items[0]?.error ?? "").toContain(error);
});
