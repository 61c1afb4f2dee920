import { readFileSync } from "node:fs";
import path from "node:path";
import { connect, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished } from "vitest";
import { commandsOf } from "../deploy/page-commands.ts";
import { type OwnCluster, ownCluster } from "../deploy/own-cluster.ts";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { helmFile, helmHome } from "../fixtures/helm.ts";
import { startKubelet } from "../fixtures/kubelet.ts";
import { running, withoutImage } from "../fixtures/pod-status.ts";
import { type Shell, shellOf } from "../fixtures/shell.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const PAGE = "docs/from-helm.md";
const text = readFileSync(path.join(repository, PAGE), "utf8");

/** Runs what stands below this heading of the page, block by block, with this changed in it. Returns all that was printed. */
const follow = async (shell: Shell, heading: string, edit = (command: string) => command): Promise<string> => {
  let printed = "";
  for (const command of commandsOf(PAGE, heading).map(edit)) {
    const { code, stdout, stderr } = await shell(command);
    expect(code, `${command}\n${stdout}\n${stderr}`).toBe(0);
    printed += `${stdout}${stderr}`;
  }
  return printed;
};

/** What is left behind, in the words of the rows of the page's table. */
const leftIn = async ({ admin }: OwnCluster, namespace: string): Promise<Readonly<Record<string, string>>> => {
  const look = async (what: string) => (await admin(`get -n ${namespace} ${what}`)).trim();
  const deployment = (field: string) => look(`deployment/web -o jsonpath={${field}}`);
  const image = await deployment(".spec.template.spec.containers[0].image");
  const isComplete = (await deployment(".status.updatedReplicas")) === (await deployment(".status.readyReplicas"));
  return {
    "ConfigMap: version": await look("configmap/app-config -o jsonpath={.data.version}"),
    "Deployment: image": image.replace("registry.k8s.io/", ""),
    "Deployment: replicas": await deployment(".spec.replicas"),
    "Deployment: label `team`": await deployment(".metadata.labels.team"),
    "all Pods are ready": isComplete ? "yes" : "no",
  };
};

/** A row of the table for each fact, a cell for each way. */
const tableOfThePage = (ways: readonly string[]): Readonly<Record<string, Readonly<Record<string, string>>>> => {
  const rows = text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.split("|").slice(1, -1));
  return Object.fromEntries(
    ways.map((way, column) => [
      way,
      Object.fromEntries(
        rows
          .filter((cells) => cells.length === ways.length + 1)
          .slice(1)
          .map(([fact = "", ...cells]) => [fact.trim(), (cells[column] ?? "").replaceAll("*", "").trim()]),
      ),
    ]),
  );
};

it("every command of docs/from-helm.md works, and leaves behind what the page says", async () => {
  const cluster = await ownCluster();
  onTestFinished(cluster.stop);
  const shell = shellOf(cluster, { path: [path.dirname(helmFile)], env: helmHome });
  const user = "system:serviceaccount:janus-system:janus-controller";
  controllerProcess([`--kubeconfig=${await cluster.userKubeconfig(user)}`, "--http-port=0"]);

  const config = loadConfig({}, cluster.kubeconfig);
  if (E.isLeft(config)) throw new Error(config.left);
  const api = connect(config.right);
  onTestFinished(api.close);
  const namespaces = ["with-helm", "with-force", "with-client", "with-killed", "with-janus"];
  for (const namespace of namespaces)
    onTestFinished(await startKubelet(api, namespace, (image) => (image.endsWith(":none") ? withoutImage : running)));

  /** The same with other flags, in a namespace of its own. */
  const withHelm = (namespace: string, flag: string) =>
    follow(shell, "With Helm", (command) =>
      command
        .replaceAll("with-helm", namespace)
        .replaceAll(/helm (install|upgrade) shop/g, (start) =>
          start.includes("install") && flag === "--force-conflicts" ? start : `${start} ${flag}`,
        ),
    );
  const killed = follow(shell, "If the client dies", (command) => command.replaceAll("with-helm", "with-killed"));
  const [helm, forced, clientSide, dead, janus] = await Promise.all([
    withHelm("with-helm", ""),
    withHelm("with-force", "--force-conflicts"),
    withHelm("with-client", "--server-side=false"),
    killed,
    follow(shell, "With Janus"),
  ]);

  expect(helm).toContain("an error occurred while rolling back the release");
  expect(helm).toContain('conflicts with "kubectl" with subresource "scale" using apps/v1:\n- .spec.replicas');
  expect(helm).toMatch(/^3\s.*\sfailed\s.*Rollback "shop" failed: conflict/mu);
  for (const output of [forced, clientSide]) {
    expect(output).toContain("release shop failed, and has been rolled back");
    expect(output).toMatch(/^3\s.*\sdeployed\s.*Rollback to 1/mu);
  }
  expect(dead).toContain("STATUS: pending-upgrade");
  expect(dead).toContain("another operation (install/upgrade/rollback) is in progress");
  expect(janus).toMatch(/^shop-v2 +RolledBack +0\/2 /mu);
  expect(janus).toMatch(/Deployment web: .*container web in ImagePullBackOff: .*, Pod web-/u);
  expect(janus).toMatch(/^Healthy True /mu);

  const ways = ["with-helm", "with-force", "with-client", "with-janus"];
  const left = Object.fromEntries(
    await Promise.all(ways.map(async (namespace) => [namespace, await leftIn(cluster, namespace)] as const)),
  );
  expect(left).toEqual(tableOfThePage(ways));
  await follow(shell, "Clean up", (command) => `${command.trim()} with-force with-client`);
});
