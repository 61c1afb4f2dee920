// Runs the commands of docs/from-gitops-reverser.md where GitOps Reverser was, with an object of its own that goes on.
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { bareCluster } from "../deploy/own-cluster.ts";
import { commandsOf } from "../deploy/page-commands.ts";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { gitOf, startGitServer } from "../fixtures/git-server.ts";
import { helmFile, helmHome } from "../fixtures/helm.ts";
import { shellOf } from "../fixtures/shell.ts";

const program = path.resolve(import.meta.dirname, "../../packages/git-journal/src/shell/main.ts");

/** As far as it matters: other fields, and none of ours. */
const reversersDefinition = (kind: string, plural: string) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.configbutler.ai` },
  spec: {
    group: "configbutler.ai",
    scope: "Namespaced",
    names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
    versions: [
      {
        name: "v1alpha1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
          },
        },
      },
    ],
  },
});

it("docs/from-gitops-reverser.md goes from GitOps Reverser to Janus, with its objects", async () => {
  const cluster = await bareCluster();
  onTestFinished(cluster.stop);
  const server = await startGitServer({ tls: false });
  onTestFinished(server.stop);
  const home = await mkdtemp(path.join(os.tmpdir(), "from-gitops-reverser-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const shell = shellOf(cluster, { path: [path.dirname(helmFile)], env: helmHome });
  const run = async (script: string): Promise<void> => {
    const { code, stdout, stderr } = await shell(script);
    expect(code, `${script}\n${stdout}\n${stderr}`).toBe(0);
  };
  const { admin } = cluster;
  const git = gitOf(server.directory);

  // What the reverser has installed, and an object of a user.
  const system = "gitops-reverser-system";
  await admin(`create namespace ${system}`);
  await admin(`create deployment -n ${system} gitops-reverser --image=gitops-reverser`);
  for (const [kind, plural] of [
    ["GitRepoConfig", "gitrepoconfigs"],
    ["WatchRule", "watchrules"],
  ] as const)
    await admin("create -f -", reversersDefinition(kind, plural));
  await admin("wait --for=condition=Established --timeout=300s crd --all");
  await admin("create namespace shop");
  const apiVersion = "configbutler.ai/v1alpha1";
  await admin("create -f -", {
    apiVersion,
    kind: "GitRepoConfig",
    metadata: { name: "audit", namespace: "shop" },
    spec: { repoUrl: server.url, branch: "main", push: { interval: "1s", maxCommits: 20 } },
  });
  await admin("create -f -", {
    apiVersion,
    kind: "WatchRule",
    metadata: { name: "maps", namespace: "shop" },
    spec: {
      gitRepoConfigRef: { name: "audit" },
      rules: [
        { operations: ["CREATE", "UPDATE", "DELETE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] },
      ],
    },
  });
  await admin("create configmap -n shop settings --from-literal=currency=EUR");
  const written =
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop\ndata:\n  currency: EUR\n";
  git(
    ["fast-import", "--quiet"],
    `commit refs/heads/main\ncommitter bot <bot@example.com> 0 +0000\ndata 0\nM 100644 inline v1/configmaps/shop/settings.yaml\n` +
      `data ${written.length}\n${written}M 100644 inline README.md\ndata 3\nhi\n`,
  );
  // There, Janus was installed before.
  const image = "--set image.repository=registry.example.com/janus";
  await run(`helm install janus charts/janus -n janus-system --create-namespace ${image}`);

  // There is no node: Pods do not become ready.
  for (const block of commandsOf("docs/from-gitops-reverser.md", "Four commands"))
    await run(block.replace(/ --wait$/mu, ""));

  expect(await admin(`get deployment -n ${system} gitops-reverser -o jsonpath={.spec.replicas}`)).toBe("0");
  expect(await admin("get deployment -n janus-system janus-git-journal -o name")).toContain("janus-git-journal");
  controllerProcess(
    [`--kubeconfig=${cluster.kubeconfig}`, "--http-port=0", "--webhook-port=0", `--work-dir=${home}`],
    { PATH: process.env["PATH"] },
    program,
  );
  await admin("wait -n shop --for=condition=Ready --timeout=300s gitrepoconfig/audit watchrule/maps");
  const files = () => git(["ls-tree", "-r", "--name-only", "main"]).split("\n");
  await vi.waitUntil(() => files().includes("core/v1/configmaps/shop/settings.yaml"), {
    timeout: 300_000,
    interval: 200,
  });
  expect(files()).toContain("README.md");
  expect(files()).not.toContain("v1/configmaps/shop/settings.yaml");
});
