import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished } from "vitest";
import { progressSchema } from "../../packages/cli/src/reference/json-reference.ts";
import { creating } from "../fixtures/changes.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { configMap, deployment, service, within } from "../fixtures/manifests.ts";
import { proxy } from "../fixtures/proxy.ts";
import { serveSnapshots } from "../fixtures/snapshot-kinds.ts";
import { undescribed } from "../fixtures/undescribed.ts";
import { transaction, workspace } from "../fixtures/workspace.ts";
import { janus, janusWith, start } from "./command-line.ts";

const stream = (...manifests: readonly object[]): string => manifests.map((one) => JSON.stringify(one)).join("\n---\n");
const labelled = <A extends { readonly metadata: object }>(manifest: A, labels: object) => ({
  ...manifest,
  metadata: { ...manifest.metadata, labels },
});
const as = ["--service-account", "deployer"];
const kubeconfigOf = (server: string) => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "proxy", cluster: { server } }],
  users: [{ name: "nobody", user: {} }],
  contexts: [{ name: "proxy", context: { cluster: "proxy", user: "nobody" } }],
  "current-context": "proxy",
});

it("applies manifests as one Transaction, tells each step on a line, and ends with 0", async () => {
  const { namespace, read, create, janus: controller } = await workspace();
  await create(configMap("changed", { version: "1.0", kept: "yes" }));
  await controller();
  const manifests = stream(service("web"), configMap("changed", { version: "2.0" }));
  const { code, stdout, stderr } = await janusWith(manifests, "apply", "-f", "-", "-n", namespace, ...as);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/1\/2 applied: Apply ConfigMap \S*changed\n(.*\n)*2\/2 applied: Apply Service \S*web\n/u);
  expect(stdout.trimEnd().split("\n").at(-1)).toBe("Committed 2/2: all 2 changes are applied");
  expect(stdout).not.toContain("\u001b");
  expect((await read(configMap("changed")))["data"]).toEqual({ version: "2.0", kept: "yes" });
});

it("ends with 2 if everything was rolled back, and says why", async () => {
  const { namespace, exists, janus: controller } = await workspace();
  await controller();
  const manifests = stream(configMap("before"), deployment("web", "web:v1"));
  const flags = ["-n", namespace, ...as, "--wait-for", "ready", "--timeout", "5s"];
  const { code, stdout, stderr } = await janusWith(manifests, "apply", "-f", "-", ...flags);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^To find out why: kubectl janus explain \S+ -n \S+$/mu);
  expect(stdout).toMatch(/2\/2 waiting: Apply Deployment \S*web: ready:/u);
  expect(stdout).toContain("1/2 rolled back: Apply ConfigMap");
  expect(stdout.trimEnd().split("\n").at(-1)).toMatch(
    /^RolledBack 0\/2: every target is as it was before; rolled back because:/u,
  );
  expect(await exists(configMap("before"))).toBe(false);
});

it("ends with 1 and starts nothing if the plan says that it would fail", async () => {
  const { namespace, names } = await workspace();
  const { code, stdout, stderr } = await janusWith(stream(configMap("a")), "apply", "-f", "-", "-n", namespace);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toContain("It would fail, with nothing changed:");
  expect(await names("backup.janus.io/v1alpha1", "Transaction")).toEqual([]);
});

it("tells each event as JSON with -o json, and the name alone with -o name", async () => {
  const { namespace, janus: controller } = await workspace();
  await controller();
  const json = await janusWith(stream(configMap("a")), "apply", "-f", "-", "-n", namespace, ...as, "-o", "json");
  const events = json.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(events.at(-1)).toMatchObject({
    namespace,
    phase: "Committed",
    progress: "1/1",
    items: [{ state: "Applied" }],
  });
  expect(events.flatMap((event) => undescribed(progressSchema(), event))).toEqual([]);
  const named = await janusWith(
    stream(configMap("b")),
    "apply",
    "-f",
    "-",
    "-n",
    namespace,
    ...as,
    "-o",
    "name",
    "--no-wait",
  );
  expect(named).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^transaction\.backup\.janus\.io\/apply-\w+\n$/u),
  });
  const left = await janusWith(stream(configMap("c")), "apply", "-f", "-", "-n", namespace, ...as, "--no-wait");
  expect(left.stdout).toMatch(
    new RegExp(`^Transaction ${namespace}/(apply-\\w+) is created: kubectl janus watch \\1 -n ${namespace}\n$`, "u"),
  );
});

it("deletes with --prune what has the labels and is not in the manifests, in the same Transaction", async () => {
  const { namespace, create, exists, janus: controller } = await workspace();
  const app = { app: "shop" };
  const owned = { ...labelled(configMap("owned"), app) };
  const [old] = await create(labelled(configMap("old"), app), labelled(configMap("kept"), app), configMap("other"));
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "kept", uid: old?.metadata.uid ?? "" }];
  await create({ ...owned, metadata: { ...owned.metadata, ownerReferences } }, labelled(service("gone"), app));
  await controller();
  const flags = ["-f", "-", "-n", namespace, ...as, "--prune", "-l", "app=shop"];
  const unlabelled = await janusWith(stream(configMap("new")), "apply", ...flags);
  expect(unlabelled).toMatchObject({ code: 1, stderr: expect.stringContaining("does not have the labels app=shop") });
  const manifests = stream(labelled(configMap("kept"), app), labelled(configMap("new"), app));
  const plan = await janusWith(manifests, "plan", ...flags);
  expect(plan.stdout).toMatch(/delete {5}Service \S+\/gone\n.*delete {5}ConfigMap \S+\/old/u);
  const { code } = await janusWith(manifests, "apply", ...flags);
  expect(code).toBe(0);
  const there = async (name: string): Promise<boolean> => exists(configMap(name));
  expect(await Promise.all(["kept", "new", "other", "old"].map(there))).toEqual([true, true, true, false]);
  expect(await exists(service("gone"))).toBe(false);
});

it("deletes with --prune nothing whose deletion cannot be undone", async () => {
  const { namespace, create } = await workspace();
  await serveSnapshots();
  const snapshot = (name: string) => ({
    ...labelled(configMap(name), { app: "shop" }),
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshot",
  });
  await create(labelled(configMap("old"), { app: "shop" }), snapshot("nightly-1"));
  const flags = ["-n", namespace, "-o", "yaml", "--prune", "-l", "app=shop"];
  const { stdout } = await janusWith(stream(snapshot("nightly-2")), "plan", "-f", "-", ...flags);
  expect(stdout).toContain("name: old");
  expect(stdout).not.toContain("nightly-1");
});

it("deletes with --prune nothing in the namespace of the context, if no manifest is there", async () => {
  const [prod, staging] = [await workspace(), await workspace()];
  const inProd = (name: string) => within(prod.namespace, labelled(configMap(name), { app: "shop" }));
  await prod.create(labelled(configMap("old"), { app: "shop" }));
  await staging.create(labelled(configMap("theirs"), { app: "shop" }));
  const flags = ["-n", staging.namespace, "-o", "yaml", "--prune", "-l", "app=shop"];
  const { stdout } = await janusWith(stream(inProd("web")), "plan", "-f", "-", ...flags);
  expect(stdout).toContain("name: old");
  expect(stdout).not.toContain("name: theirs");
  const both = await janusWith(
    stream(inProd("web"), labelled(configMap("web"), { app: "shop" })),
    "plan",
    "-f",
    "-",
    ...flags,
  );
  expect(both.stdout).toContain("name: theirs");
});

it("takes --prune of a Transaction for a mistake", async () => {
  const { namespace } = await workspace();
  const own = { ...transaction("own"), spec: { serviceAccountName: "deployer", changes: [creating(configMap("a"))] } };
  const flags = ["-f", "-", "-n", namespace, "--prune", "-l", "app=shop"];
  for (const [command, code] of [
    ["plan", 3],
    ["apply", 1],
  ] as const)
    expect(await janusWith(stream(own), command, ...flags)).toMatchObject({
      code,
      stderr: expect.stringContaining("list the deletions in its changes, and leave the flag out") as unknown,
    });
});

it("takes --prune without labels for a mistake", async () => {
  const { namespace } = await workspace();
  const { code, stderr } = await janusWith(stream(configMap("a")), "apply", "-f", "-", "-n", namespace, "--prune");
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("--prune needs --selector") });
});

it("is interrupted by Ctrl-C alone: the Transaction goes on, and it says how to get back", async () => {
  const { namespace, janus: controller, over, submit } = await workspace();
  await controller();
  await submit([{ ...creating(deployment("web", "web:v1")), waitFor: ["ready"] }], { timeout: "20s" });
  const running = start(["watch", "txn", "-n", namespace]);
  onTestFinished(() => running.kill("SIGKILL"));
  await expect.poll(running.written).toContain("waiting");
  running.kill("SIGINT");
  const { code, stderr } = await running.ended;
  expect(code).toBe(130);
  expect(stderr).toContain(`kubectl janus watch txn -n ${namespace}`);
  expect(stderr).toContain(`kubectl janus rollback txn -n ${namespace}`);
  expect((await over()).status.phase).toBe("RolledBack");
});

it("says on Ctrl-C, as early as it may come, that a Transaction may have been created, and how to find out", async () => {
  const { namespace } = await workspace();
  const config = loadConfig({}, controlPlane.kubeconfig);
  if (E.isLeft(config)) throw new Error(config.left);
  const creation = Promise.withResolvers<void>();
  const { way, stop } = await proxy(config.right, new Map(), ({ method, url = "" }) => {
    if (method === "POST" && /\/transactions\?(?!.*dryRun)/u.test(url)) creation.resolve();
  });
  onTestFinished(stop);
  const directory = mkdtempSync(path.join(tmpdir(), "janus-kubeconfig-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const kubeconfig = path.join(directory, "config");
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(way().server)));
  const args = ["apply", "-f", "-", "-n", namespace, "--name", "txn", ...as, "--kubeconfig", kubeconfig];
  const running = start(args, { stdin: stream(configMap("a")) });
  onTestFinished(() => running.kill("SIGKILL"));
  await Promise.race([creation.promise, running.ended]);
  running.kill("SIGINT");
  const { code, stderr } = await running.ended;
  expect({ code, stderr }).toMatchObject({ code: 130 });
  expect(stderr).toMatch(
    new RegExp(
      `^error: interrupted\\. .*${namespace}/txn(?:.|\\n)*kubectl janus (?:get|watch) txn -n ${namespace}`,
      "u",
    ),
  );
});

it("watches on through a Transaction that is deleted, and says so", async () => {
  const { namespace } = await workspace();
  const { code, stderr } = await janus("watch", "nothing", "-n", namespace);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `error: Transaction ${namespace}/nothing does not exist; to list them: kubectl janus get -n ${namespace}\n`,
  });
});
