import { mkdtemp } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { installation, type JanusProps, type Manifest } from "@janus/deploy";
import { afterAll, beforeAll, expect, it } from "vitest";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { askedBy, auditFlags } from "./audit.ts";
import { eventually, type OwnCluster, ownCluster } from "./own-cluster.ts";
import { rightsIn, rulesOf } from "./permissions.ts";

const name = "janus-controller";
const user = `system:serviceaccount:janus-system:${name}`;

/** Whatever takes more rights than usual. */
const props: JanusProps = { metricsAuth: true };

let directory: string;
let cluster: OwnCluster;
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), "janus-audit-"));
  cluster = await ownCluster(props, {
    directory,
    // On some clusters this is on, and asks for more rights than usual of who writes an owner reference.
    apiServerFlags: [
      ...(await auditFlags(directory)),
      "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
    ],
  });
});
afterAll(() => cluster.stop());

const rights = rightsIn(
  rulesOf(installation(props).filter(({ kind, metadata }) => kind.endsWith("Role") && metadata.name === name)),
);

const object = (kind: string, name: string, rest: object = {}): Manifest => ({
  apiVersion: "v1",
  kind,
  metadata: { name, namespace: "default" },
  ...rest,
});
const change = (type: string, kind: string, name: string, content?: object) => ({
  type,
  target: { apiVersion: "v1", kind, name },
  ...(content === undefined ? {} : { content }),
});
const transaction = (name: string, changes: readonly object[], spec: object = {}) => ({
  apiVersion: "backup.janus.io/v1alpha1",
  kind: "Transaction",
  metadata: { name, namespace: "default" },
  spec: { serviceAccountName: "deployer", changes, ...spec },
});
const port = { spec: { ports: [{ port: 80 }] } };

const isNotIn =
  (used: ReadonlySet<string>) =>
  (right: string): boolean =>
    !used.has(right);

it("the controller has no permission that it does not use, and lacks none", async () => {
  const deployment = installation().filter(({ kind }) => kind === "Deployment");
  await cluster.install(...deployment);
  const named = "get pods -n janus-system -o jsonpath={.items[0].metadata.name}";
  await eventually(async () => (await cluster.kubectl("admin", named)).code === 0);

  const quota = object("ResourceQuota", "one-service", { spec: { hard: { services: "2" } } });
  await cluster.install(object("ConfigMap", "map"), object("Secret", "secret"), quota);
  await eventually(async () => (await cluster.admin("get quota one-service -o jsonpath={.status.used}")).includes("1"));
  const edits = [
    change("Patch", "ConfigMap", "map", { data: { a: "b" } }),
    change("Patch", "Secret", "secret", { stringData: { a: "b" } }),
  ];
  const tooMany = ["first", "second"].map((name) => change("Create", "Service", name, port));
  // The last one cannot be made, which no dry run tells.
  await cluster.admin("create -f -", transaction("rolled-back", [...edits, ...tooMany]));
  await cluster.admin("create -f -", transaction("small", [change("Create", "ConfigMap", "new", {})]));
  const lock = { name: "janus-lock-default-configmap-locked", namespace: "default" };
  const spec = { holderIdentity: "somebody", leaseDurationSeconds: 3600 };
  await cluster.admin("create -f -", { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: lock, spec });
  const waiting = transaction("waiting", [change("Create", "ConfigMap", "locked", {})], { deletionPolicy: "Rollback" });
  await cluster.admin("create -f -", waiting);

  const kubeconfig = await cluster.userKubeconfig(user);
  const env = { POD_NAME: await cluster.admin(named), POD_NAMESPACE: "janus-system" };
  const { url } = controllerProcess([`--kubeconfig=${kubeconfig}`, "--http-port=0", "--metrics-auth"], env);
  await cluster.admin("wait --for=condition=RolledBack --timeout=300s txn/rolled-back");
  await cluster.admin("create -f -", transaction("committed", edits, { ttlSecondsAfterFinished: 1 }));
  await cluster.admin("wait --for=condition=Committed --timeout=300s txn/small");
  const tells = (event: RegExp) => eventually(async () => event.test(await cluster.admin("describe txn waiting")));
  const goesTo = (holderIdentity: string) =>
    cluster.admin(`patch lease ${lock.name} --type=merge -p=${JSON.stringify({ spec: { holderIdentity } })}`);
  await tells(/LockWaiting .* is held by somebody/);
  await goesTo("another");
  await tells(/LockWaiting .* is held by another/);
  // The event of a reason that comes back is counted, and not made anew.
  await goesTo("somebody");
  await tells(/LockWaiting .*\(x\d.* is held by somebody/);
  await cluster.admin("delete txn waiting --timeout=300s");
  await cluster.admin("wait --for=delete --timeout=300s txn/committed");

  await cluster.admin(
    "create clusterrolebinding reader --clusterrole=janus-metrics-reader --serviceaccount=default:deployer",
  );
  const authorization = `Bearer ${await cluster.admin("create token deployer")}`;
  const metrics = async () => (await fetch(`${url() ?? ""}/metrics`, { headers: { authorization } })).status;
  await expect.poll(metrics, { interval: 1000 }).toBe(200);

  // What was asked for is written down a moment later.
  const asked = () => askedBy(directory, user, name);
  await expect.poll(async () => rights.filter(isNotIn((await asked()).used))).toEqual([]);
  expect((await asked()).lacked).toEqual([]);
});
