import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Manifest } from "../fixtures/administrator.ts";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { configMap, lease, secret } from "../fixtures/manifests.ts";
import { eventually, type OwnCluster, ownCluster } from "./own-cluster.ts";

const user = "system:serviceaccount:janus-system:janus-controller";

/** Whoever has stolen the controller's token. */
const thief = (args: string, stdin?: object) => cluster.kubectl("admin", `--as=${user} ${args}`, stdin);

const labelled = (manifest: Manifest, rest: object = {}): Manifest => ({
  ...manifest,
  metadata: { ...manifest.metadata, labels: { "app.kubernetes.io/managed-by": "janus" }, ...rest },
});

const tokenOf = (name: string, account: string): Manifest => ({
  ...labelled(secret(name), { annotations: { "kubernetes.io/service-account.name": account } }),
  type: "kubernetes.io/service-account-token",
});

/** As it is admitted to the namespace. */
const podOf = (image: string) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "leader", namespace: "janus-system" },
  spec: {
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
    containers: [
      {
        name: "controller",
        image,
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
      },
    ],
  },
});

const patch = (kind: string) => ({
  type: "Patch",
  target: { apiVersion: "v1", kind, name: "theirs" },
  content: { [kind === "Secret" ? "stringData" : "data"]: { color: "green" } },
});

const transaction = (name: string, ...more: readonly object[]) => ({
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { name },
  spec: { serviceAccountName: "deployer", changes: [patch("ConfigMap"), patch("Secret"), ...more] },
});

let cluster: OwnCluster;
beforeAll(async () => {
  cluster = await ownCluster({ leaderElection: { leaseName: "the-leader", leaseNamespace: "default" } });
  await cluster.admin("create -f -", configMap("theirs", { color: "blue" }));
  await cluster.admin("create -f -", configMap("their-rollback", { color: "blue" }));
  await cluster.admin("create -f -", secret("theirs", { color: "blue" }));
  await eventually(async () => (await cluster.kubectl("admin", "get sa default -n janus-system")).code === 0);
  await cluster.admin("create -f -", podOf("example.com/janus"));
  await eventually(async () =>
    (await thief("delete configmap theirs --dry-run=server")).stderr.includes("only its own"),
  );
});
afterAll(() => cluster.stop());

describe("what the controller never writes is refused, whoever has its token", () => {
  it.each<[string, string, object?]>([
    ["somebody's ConfigMap", "delete configmap theirs"],
    ["somebody's Secret", 'patch secret theirs --type=merge -p={"data":null}'],
    [
      "somebody's Secret, called ours",
      'patch secret theirs --type=merge -p={"metadata":{"labels":{"app.kubernetes.io/managed-by":"janus"}}}',
    ],
    ["a ConfigMap of a name that others look at", "create -f -", labelled(configMap("aws-auth"))],
    ["a ConfigMap that is named like ours", 'patch configmap their-rollback --type=merge -p={"data":null}'],
    ["a token", "create -f -", tokenOf("a-rollback", "deployer")],
    ["the Lease of a node", "create -n kube-node-lease -f -", lease("node-1")],
    ["a Lease of that name elsewhere", "create -n janus-system -f -", lease("the-leader")],
    ["the image of a Pod", "apply --server-side --force-conflicts -f -", podOf("example.com/evil")],
  ])("%s", async (_, args, stdin) => {
    expect(await thief(args, stdin)).toMatchObject({ code: 1, stderr: expect.stringContaining("controller of Janus") });
  });
});

it("and it can do all its work: commit, roll back, lead, try the fence, mark its Pod; also where somebody has taken its labels off", async () => {
  const kubeconfig = await cluster.userKubeconfig(user);
  const env = { POD_NAME: "leader", POD_NAMESPACE: "janus-system" };
  const { url, log } = controllerProcess(
    [
      `--kubeconfig=${kubeconfig}`,
      "--http-port=0",
      "--leader-elect-resource-name=the-leader",
      "--leader-elect-resource-namespace=default",
    ],
    env,
  );
  const held = labelled(secret("held"), { finalizers: ["example.com/hold"], labels: {} });
  await cluster.admin("create -f -", held);
  await cluster.admin("create -f -", transaction("committed"));
  await cluster.admin("wait --for=condition=Committed --timeout=300s txn/committed");
  const deletion = { type: "Delete", target: { apiVersion: "v1", kind: "Secret", name: "held" } };
  await cluster.admin("create -f -", transaction("rolled-back", deletion));
  await cluster.admin("wait --for=jsonpath={.metadata.deletionTimestamp} --timeout=300s secret/held");
  await cluster.admin("annotate txn rolled-back backup.janus.io/request-rollback=now");
  await cluster.admin('patch secret held --type=merge -p={"metadata":{"finalizers":null}}');
  await cluster.admin("wait --for=condition=RolledBack --timeout=300s txn/rolled-back");
  await cluster.admin("delete txn --all");

  // Whoever may edit them must not keep it from its work, nor the namespace from its end.
  await cluster.admin("create -f -", transaction("unlabelled", deletion));
  await cluster.admin("wait --for=jsonpath={.metadata.deletionTimestamp} --timeout=300s secret/held");
  await cluster.admin("label configmap,secret -l janus.io/transaction=unlabelled app.kubernetes.io/managed-by-");
  await cluster.admin('patch secret held --type=merge -p={"metadata":{"finalizers":null}}');
  await cluster.admin("wait --for=condition=Committed --timeout=300s txn/unlabelled");
  await eventually(
    async () => (await cluster.admin("get configmap,secret -l janus.io/transaction=unlabelled -o name")) === "",
  );
  await cluster.admin("delete txn --all");

  const status = async () => (await fetch(`${url() ?? ""}/status`)).json();
  await expect.poll(status).toMatchObject({ leader: true, fence: "up" });
  await cluster.admin(
    "wait -n janus-system --for=jsonpath={.metadata.labels.backup\\.janus\\.io/leader}=true pod/leader",
  );
  expect(log.filter(({ message, error }) => `${message} ${String(error)}`.includes("controller of Janus"))).toEqual([]);
});
