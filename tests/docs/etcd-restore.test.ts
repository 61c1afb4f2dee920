import { cp, rm } from "node:fs/promises";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { configMap, secret } from "../fixtures/manifests.ts";
import { ownCluster } from "../deploy/own-cluster.ts";

const held = (name: string) => ({ ...secret(name), metadata: { name, finalizers: ["example.com/hold"] } });

/** Changes a ConfigMap, and then deletes a Secret, which takes until its finalizer is off. */
const transaction = (name: string, timeout: string) => ({
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { name },
  spec: {
    serviceAccountName: "deployer",
    timeout,
    changes: [
      { type: "Patch", target: { apiVersion: "v1", kind: "ConfigMap", name }, content: { data: { color: "green" } } },
      { type: "Delete", target: { apiVersion: "v1", kind: "Secret", name } },
    ],
  },
});

it("after etcd was restored, active Transactions resume, or are rolled back if their timeout has passed", async () => {
  const cluster = await ownCluster();
  onTestFinished(cluster.stop);
  const data = path.join(cluster.directory, "etcd");
  const backup = path.join(cluster.directory, "backup");
  const color = (name: string) => cluster.admin(`get configmap ${name} -o jsonpath={.data.color}`);
  const removeFinalizers = (name: string) =>
    cluster.admin(`patch secret ${name} --type=merge -p={"metadata":{"finalizers":null}}`);
  const user = "system:serviceaccount:janus-system:janus-controller";
  const flags = [`--kubeconfig=${await cluster.userKubeconfig(user)}`, "--http-port=0"];
  const first = controllerProcess(flags);

  for (const [name, timeout] of [
    ["in-time", "30m"],
    ["late", "20s"],
  ] as const) {
    await cluster.admin("create -f -", configMap(name, { color: "blue" }));
    await cluster.admin("create -f -", held(name));
    await cluster.admin("create -f -", transaction(name, timeout));
  }
  for (const name of ["in-time", "late"])
    await cluster.admin(`wait --for=jsonpath={.metadata.deletionTimestamp} --timeout=300s secret/${name}`);
  await cluster.pause("etcd");
  await cp(data, backup, { recursive: true });
  cluster.resume("etcd");

  // Much happens later that is not in the backup.
  await removeFinalizers("in-time");
  await cluster.admin("wait --for=condition=Committed --timeout=300s txn/in-time");
  await cluster.admin('patch configmap in-time --type=merge -p={"data":{"color":"red"}}');
  first.kill("SIGTERM");
  await first.ended;

  await cluster.pause("etcd");
  await rm(data, { recursive: true });
  await cp(backup, data, { recursive: true });
  for (const name of ["etcd", "kube-apiserver", "kube-controller-manager"] as const) await cluster.restart(name);
  expect(await cluster.admin("get txn in-time -o jsonpath={.status.phase}")).toBe("Committing");
  expect(await color("in-time")).toBe("green");

  const second = controllerProcess(flags);
  await removeFinalizers("in-time");
  await cluster.admin("wait --for=condition=Committed --timeout=300s txn/in-time");
  await cluster.admin("wait --for=jsonpath={.status.phase}=RollingBack --timeout=300s txn/late");
  await removeFinalizers("late");
  await cluster.admin("wait --for=condition=RolledBack --timeout=300s txn/late");
  expect(await Promise.all(["in-time", "late"].map(color))).toEqual(["green", "blue"]);
  const status = async () => (await fetch(`${second.url() ?? ""}/status`)).json();
  await expect.poll(status).toMatchObject({ leader: true, fence: "up" });
});
