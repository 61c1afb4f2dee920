// The Git journal as it is installed: with its Roles and no other rights, its policies, and the configuration of its webhook.
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { installation, yaml } from "@janus/deploy";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { start } from "../cli/command-line.ts";
import { freePorts } from "../control-plane/free-ports.ts";
import { kubectlWith } from "../fixtures/cluster.ts";
import { gitOf, startGitServer } from "../fixtures/git-server.ts";
import { installed, type Installed } from "../fixtures/installed.ts";

const USER = "system:serviceaccount:janus-system:janus-git-journal";
const manifests = installation({ gitJournal: { shards: true, flags: ["--git-batch-max-wait-sec=1"] } });

let cluster: Installed;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), "janus-git-journal-installed-"));
  const [port = 0] = await freePorts(1);
  // Those of the Deployment, but for what only a Pod has.
  const flags = [
    "--git-journal",
    "--shards",
    "--git-batch-max-wait-sec=1",
    `--webhook-port=${port}`,
    `--work-dir=${directory}`,
  ];
  cluster = await installed(flags, undefined, undefined, { manifests, user: USER });
});
afterAll(async () => {
  await cluster.end();
  await rm(directory, { recursive: true, force: true });
});

const apply = async (stdin: string): Promise<void> => {
  const { kubeconfig } = cluster.controlPlane;
  const { code, stderr } = await kubectlWith({ kubeconfig, stdin }, "apply", "--server-side", "-f", "-");
  if (code !== 0) throw new Error(stderr);
};

const objects = (...items: readonly object[]): Promise<void> =>
  apply(JSON.stringify({ apiVersion: "v1", kind: "List", items }));

const apiVersion = "configbutler.ai/v1alpha1";

/** All that `*` selects, in namespaces and in the cluster. */
const everything = (repoUrl: string): readonly object[] => [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "journal" } },
  {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "git", namespace: "journal" },
    stringData: { username: "me", password: "s3cret" },
  },
  {
    apiVersion,
    kind: "GitRepoConfig",
    metadata: { name: "cluster", namespace: "journal" },
    spec: {
      repoUrl,
      allowedBranches: ["main"],
      secretRef: { name: "git" },
      accessPolicy: { allowClusterRules: true },
    },
  },
  {
    apiVersion,
    kind: "GitDestination",
    metadata: { name: "prod", namespace: "journal" },
    spec: { repoRef: { name: "cluster" }, branch: "main", baseFolder: "prod" },
  },
  {
    apiVersion,
    kind: "ClusterWatchRule",
    metadata: { name: "all" },
    spec: {
      destinationRef: { name: "prod", namespace: "journal" },
      rules: [
        { scope: "Cluster", resources: ["*"] },
        { scope: "Namespaced", resources: ["*"] },
      ],
    },
  },
];

const webhook = () =>
  cluster.kubectl("get", "validatingwebhookconfiguration", "janus-git-journal", "-o", "jsonpath={.webhooks[0]}");

it("writes all that * selects with no right but its own, and keeps its webhook when it is installed again", async () => {
  const authorization = `Basic ${Buffer.from("me:s3cret").toString("base64")}`;
  const server = await startGitServer({ authorization, tls: false });
  onTestFinished(server.stop);
  const replica = await cluster.replica("journal");
  await replica.start();
  onTestFinished(replica.end);
  await objects(...everything(server.url));
  const names = ["gitrepoconfig/cluster", "gitdestination/prod", "clusterwatchrule/all"];
  await cluster.kubectl("wait", "-n", "journal", "--for=condition=Ready", "--timeout=300s", ...names);

  const files = gitOf(server.directory)(["ls-tree", "-r", "--name-only", "main"]).split("\n");
  for (const file of [
    "core/v1/secrets/journal/git.yaml",
    "core/v1/serviceaccounts/journal/default.yaml",
    "rbac.authorization.k8s.io/v1/clusterroles/janus-git-journal.yaml",
    "apiextensions.k8s.io/v1/customresourcedefinitions/watchrules.configbutler.ai.yaml",
  ])
    expect(files).toContain(`prod/${file}`);
  const made = [
    "apiregistration.k8s.io/v1/apiservices/v1.apps.yaml",
    "core/v1/services/default/kubernetes.yaml",
    "rbac.authorization.k8s.io/v1/clusterroles/system%3Anode.yaml",
    "rbac.authorization.k8s.io/v1/clusterrolebindings/cluster-admin.yaml",
  ];
  expect(files.filter((file) => made.some((one) => file === `prod/${one}`))).toEqual([]);

  await expect.poll(webhook).toMatch(/"caBundle".*"rules".*configmaps/su);
  const before = await webhook();
  await apply(yaml(manifests.filter(({ kind }) => kind !== "Deployment")));
  expect(await webhook()).toBe(before);

  const doctor = async (): Promise<string> => {
    const env = { KUBECONFIG: cluster.controlPlane.kubeconfig };
    return (await start(["doctor", "-n", "journal"], { env }).ended).stdout.replaceAll(/\s+/gu, " ");
  };
  const healthy = await doctor();
  expect(healthy).toMatch(/✔ of the Git journal: \S+ leads/u);
  expect(healthy).toContain("✘ the webhook janus-git-journal is called, and no Pod answers");
  expect(healthy).toContain("✔ janus-git-journal-rules: ");
  expect(healthy).toContain("✔ janus-git-journal-secrets: ");
  expect(healthy).toContain("✔ all 3 objects of the Git journal in journal are Ready");
  const elsewhere = start(["doctor", "-n", "default"], { env: { KUBECONFIG: cluster.controlPlane.kubeconfig } });
  expect((await elsewhere.ended).stdout).not.toContain("are Ready");
  await cluster.kubectl("delete", "secret", "git", "-n", "journal");
  const touched = ["gitrepoconfig", "cluster", "-n", "journal", "--type=merge", "--patch"];
  await cluster.kubectl("patch", ...touched, '{"spec":{"allowedBranches":["main","other"]}}');
  await expect.poll(doctor).toContain("✘ GitRepoConfig journal/cluster: SecretNotFound: ");

  const complaints = await replica.complaints();
  expect(complaints.filter((line) => line.startsWith("{"))).toEqual([]);
  expect(await replica.metrics()).toMatch(/^gitopsreverser_commits_total [1-9]/mu);
});
