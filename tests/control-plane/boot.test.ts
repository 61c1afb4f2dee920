import { expect, it } from "vitest";
import { kubectl, kubectlWith, userKubeconfig } from "../fixtures/cluster.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";

it("refuses a user whom RBAC does not know, and lets in who is bound", async () => {
  const namespace = await freshNamespace();
  const kubeconfig = await userKubeconfig(`somebody:${namespace}`, ["readers"]);
  const read = () => kubectlWith({ kubeconfig }, "get", "configmaps", "-n", namespace);

  expect((await read()).stderr).toContain(`User "somebody:${namespace}" cannot list resource "configmaps"`);
  await kubectl("create", "rolebinding", "read", "--clusterrole=view", "--group=readers", "-n", namespace);
  await expect.poll(async () => (await read()).code).toBe(0);
});

it("runs the controllers of a cluster: a Deployment gets its ReplicaSet, a quota its usage, an orphan is collected", async () => {
  const namespace = await freshNamespace();
  const stdin = `
apiVersion: v1
kind: ResourceQuota
metadata: {name: few}
spec: {hard: {configmaps: "10"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}]}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: orphan
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: gone, uid: 00000000-0000-0000-0000-000000000000}]
`;
  expect(await kubectlWith({ stdin }, "apply", "-n", namespace, "-f", "-")).toMatchObject({ code: 0 });

  const get = async (...what: readonly string[]) => (await kubectl("get", "-n", namespace, ...what)).stdout;
  await expect.poll(() => get("replicasets", "-l", "app=web", "-o", "name")).toContain("replicaset.apps/web-");
  await expect.poll(() => get("pods", "-l", "app=web", "-o", "name")).toContain("pod/web-");
  await expect.poll(() => get("resourcequota/few", "-o", "jsonpath={.status.used.configmaps}")).toMatch(/^[12]$/);
  await expect.poll(() => get("configmap/orphan", "--ignore-not-found", "-o", "name")).toBe("");
});
