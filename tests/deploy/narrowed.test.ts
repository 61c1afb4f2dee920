import { afterAll, beforeAll, expect, it } from "vitest";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { type OwnCluster, ownCluster } from "./own-cluster.ts";

let cluster: OwnCluster;
beforeAll(async () => {
  cluster = await ownCluster({ actsAs: [{ namespace: "default", serviceAccounts: ["deployer"] }] });
});
afterAll(() => cluster.stop());

const transaction = (name: string, serviceAccountName: string) => ({
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { name, namespace: "default" },
  spec: {
    serviceAccountName,
    changes: [{ type: "Create", target: { apiVersion: "v1", kind: "ConfigMap", name }, content: { data: { a: "b" } } }],
  },
});

it("a controller that may act as certain ServiceAccounts only works for these, and touches nothing for others", async () => {
  const kubeconfig = await cluster.userKubeconfig("system:serviceaccount:janus-system:janus-controller");
  const { url } = controllerProcess([`--kubeconfig=${kubeconfig}`, "--http-port=0"]);
  await cluster.admin("create -f -", transaction("allowed", "deployer"));
  await cluster.admin("create -f -", transaction("not-allowed", "default"));
  await cluster.admin("wait --for=condition=Committed --timeout=300s txn/allowed");
  // A denial of the controller's own permissions has to last for half a minute: an API server that has just started denies them, too.
  await cluster.admin("wait --for=condition=Failed --timeout=300s txn/not-allowed");
  const message = "get txn not-allowed -o jsonpath={.status.conditions[?(@.type=='Failed')].message}";
  expect(await cluster.admin(message)).toMatch(
    /^no changes were applied: .*cannot impersonate resource "serviceaccounts"/,
  );

  // It tries the fence as itself.
  const status = async () => (await fetch(`${url() ?? ""}/status`)).json();
  await expect.poll(status).toMatchObject({ leader: true, fence: "up" });
});
