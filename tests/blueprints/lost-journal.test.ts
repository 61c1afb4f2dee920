// Tests an ActionSet whose journal is lost while it runs: it fails, and none of its Pods runs on.
import { expect, it, onTestFinished } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { roleBinding, within } from "../fixtures/manifests.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { actionOn, actionSet, type ActionSetObject, actionSetRef, blueprint } from "./objects.ts";
import { client, controllerOf, nodeFor, prepared } from "./world.ts";

const sleep = { func: "KubeTask", name: "long", args: { image: "busybox", command: ["sleep", "600"] } };

it("fails, says so, and its Pods are deleted, but no other with its label alone", async () => {
  const namespace = await prepared();
  const node = await nodeFor(namespace);
  onTestFinished(node.stop);
  const first = controllerOf(client, namespace);
  await administrator.create(within(namespace, blueprint("recipe", { do: { phases: [sleep] } })));
  await administrator.create(within(namespace, actionSet("run", actionOn("do", "recipe"))));
  const read = async (): Promise<ActionSetObject> =>
    (await administrator.read(within(namespace, actionSetRef("run")))) as ActionSetObject;
  const podNames = async (): Promise<readonly string[]> =>
    (await administrator.list({ apiVersion: "v1", kind: "Pod" }, namespace)).map(({ metadata }) => metadata.name ?? "");
  await expect.poll(async () => (await read()).status?.state).toBe("running");
  await expect.poll(podNames).toHaveLength(1);
  await first.stop();
  const { uid = "" } = (await read()).metadata;
  const journal = { apiVersion: "v1", kind: "Secret", metadata: { name: `janus-actionset-${uid}` } };
  await administrator.remove(within(namespace, journal));
  const other = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "other", labels: { "janus.io/actionset-uid": uid } },
    spec: { containers: [{ name: "sleep", image: "busybox", command: ["sleep", "600"] }] },
  };
  await administrator.create(within(namespace, other));

  const second = controllerOf(client, namespace);
  onTestFinished(second.stop);
  await expect
    .poll(async () => (await read()).status)
    .toMatchObject({
      state: "failed",
      error: { message: "its journal is gone" },
    });
  await expect.poll(podNames).toEqual(["other"]);
});

it("none of its Pods in another namespace runs on where it is deleted, too, and nothing holds it back", async () => {
  const namespace = await prepared();
  const other = await freshNamespace();
  const node = await nodeFor(other);
  onTestFinished(node.stop);
  await administrator.create(within(other, roleBinding("ops", "ClusterRole", "admin", `${namespace}/ops`)));
  await administrator.create(within(other, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "subject" } }));
  const first = controllerOf(client, namespace);
  const there = { ...sleep, args: { ...sleep.args, namespace: other } };
  const object = { apiVersion: "v1", resource: "configmaps", name: "subject", namespace: other };
  await administrator.create(within(namespace, blueprint("recipe", { do: { phases: [there] } })));
  await administrator.create(within(namespace, actionSet("run", actionOn("do", "recipe", { object }))));
  const running = async () => (await administrator.list({ apiVersion: "v1", kind: "Pod" }, other)).length;
  await expect.poll(running).toBe(1);
  await first.stop();
  const run = within(namespace, actionSetRef("run"));
  const { uid = "" } = (await administrator.read(run))?.metadata ?? {};
  const journal = { apiVersion: "v1", kind: "Secret", metadata: { name: `janus-actionset-${uid}` } };
  await administrator.remove(within(namespace, journal));
  await administrator.remove(run);

  onTestFinished(controllerOf(client, namespace).stop);
  await expect.poll(() => administrator.read(run)).toBeUndefined();
  await expect.poll(running).toBe(0);
});
