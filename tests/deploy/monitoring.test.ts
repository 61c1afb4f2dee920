import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { alerts, drawn } from "@janus/deploy";
import { describe, expect, it, onTestFinished } from "vitest";
import { gitJournalCrds } from "../../packages/git-journal/src/index.ts";
import { actionOn, actionSet, blueprint } from "../blueprints/objects.ts";
import { prepared } from "../blueprints/world.ts";
import { administrator } from "../fixtures/administrator.ts";
import { creating } from "../fixtures/changes.ts";
import { kubectl, kubectlWith, userKubeconfig } from "../fixtures/cluster.ts";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { configMap, within } from "../fixtures/manifests.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { workspace } from "../fixtures/workspace.ts";
import { selectorsIn } from "./promql.ts";

/** Grafana puts durations where it has this. */
const queries = drawn.map((expression) => expression.replaceAll("$__rate_interval", "5m"));
const runbooks = path.resolve(import.meta.dirname, "../../docs/runbooks");

/** The metrics of the Blueprint controller when an ActionSet has ended. */
const exposedByBlueprints = async (): Promise<string> => {
  const namespace = await prepared();
  const { url } = controllerProcess(
    [
      `--kubeconfig=${await userKubeconfig("another-blueprint-controller", ["system:masters"])}`,
      "--http-port=0",
      "--default-service-account=ops",
      `--watch-namespace=${namespace}`,
      `--leader-elect-resource-namespace=${namespace}`,
    ],
    {},
    fileURLToPath(import.meta.resolve("@janus/blueprints/main")),
  );
  const spec = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "made" } });
  const make = { func: "KubeOps", name: "make", args: { operation: "create", namespace, spec } };
  for (const manifest of [
    blueprint("ops", { backup: { phases: [make] } }),
    actionSet("run", actionOn("backup", "ops")),
  ])
    await administrator.create(within(namespace, manifest));
  const metrics = async (): Promise<string> => {
    const address = url();
    return address === undefined ? "" : (await fetch(`${address}/metrics`)).text();
  };
  await expect.poll(metrics).toContain('kanister_action_set_resolutions_total{resolution="success"} 1');
  return metrics();
};

/** The metrics of the Git journal with an object that is refused. */
const exposedByJournal = async (): Promise<string> => {
  const crds = JSON.stringify({ apiVersion: "v1", kind: "List", items: gitJournalCrds });
  // Another file of this run may have applied them.
  await kubectlWith({ stdin: crds }, "apply", "--server-side", "--force-conflicts", "-f", "-");
  await kubectl("wait", "--for=condition=Established", "--timeout=300s", "crd/gitrepoconfigs.configbutler.ai");
  const namespace = await freshNamespace();
  const directory = mkdtempSync(path.join(tmpdir(), "git-journal-metrics-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const { url } = controllerProcess(
    [
      `--kubeconfig=${await userKubeconfig("another-git-journal", ["system:masters"])}`,
      "--http-port=0",
      "--webhook-port=0",
      `--work-dir=${directory}`,
      `--watch-namespace=${namespace}`,
      `--leader-elect-resource-namespace=${namespace}`,
    ],
    { PATH: process.env["PATH"] },
    fileURLToPath(new URL("../../packages/git-journal/src/shell/main.ts", import.meta.url)),
  );
  await administrator.create({
    apiVersion: "configbutler.ai/v1alpha1",
    kind: "GitRepoConfig",
    metadata: { name: "refused", namespace },
    spec: { repoUrl: "ext::sh -c true", branch: "main" },
  });
  const metrics = async (): Promise<string> => {
    const address = url();
    return address === undefined ? "" : (await fetch(`${address}/metrics`)).text();
  };
  const refused = 'janus_git_not_ready{kind="GitRepoConfig",reason="InvalidURL",stalled="true"} 1';
  await expect.poll(metrics).toContain(refused);
  return metrics();
};

describe("alerts and dashboard", () => {
  it("are PromQL", () => {
    for (const expression of [...alerts.map(({ expression }) => expression), ...queries])
      expect(selectorsIn(expression).length).toBeGreaterThan(0);
    expect(() => selectorsIn("sum by (a (b)")).toThrow("not PromQL");
  });

  it("ask for metrics that the controller has, by labels that these have", async () => {
    const place = await workspace();
    const { url } = controllerProcess([
      // Not as the installed one, which may have its Lease only where the installation says.
      `--kubeconfig=${await userKubeconfig("another-controller", ["system:masters"])}`,
      "--http-port=0",
      `--watch-namespace=${place.namespace}`,
      `--leader-elect-resource-namespace=${place.namespace}`,
    ]);
    await place.run([creating(configMap("one", { a: "b" }))]);
    const ofBlueprints = await exposedByBlueprints();
    const ofJournal = await exposedByJournal();
    const exposed = `${await (await fetch(`${url() ?? ""}/metrics`)).text()}\n${ofBlueprints}\n${ofJournal}`;
    const samples = exposed.split("\n").filter((line) => /^(?:janus|kanister|gitopsreverser)_/u.test(line));
    const labelsOf = (metric: string): ReadonlySet<string> =>
      new Set(
        samples
          .filter((line) => new RegExp(`^${metric}[{ ]`).test(line))
          .flatMap((line) => [...line.matchAll(/[{,](\w+)=/g)].map(([, label]) => label ?? "")),
      );
    const names = new Set(samples.map((line) => /^\w+/.exec(line)?.[0]));
    // The Prometheus Operator adds this one.
    const strangers = [...alerts.map(({ expression }) => expression), ...queries].flatMap((expression) =>
      selectorsIn(expression).filter(
        ({ metric, labels }) =>
          !names.has(metric) || labels.some((label) => label !== "namespace" && !labelsOf(metric).has(label)),
      ),
    );
    expect(strangers).toEqual([]);
  });
});

describe("each alert", () => {
  it.each(alerts.map(({ name }) => [name]))("has its runbook: %s", (name) => {
    const page = path.join(runbooks, `${name}.md`);
    expect(existsSync(page)).toBe(true);
    const text = readFileSync(page, "utf8");
    expect(text).toMatch(new RegExp(`^# ${name}\n`));
    for (const part of ["Meaning", "Impact", "Diagnosis", "Mitigation"]) expect(text).toContain(`\n## ${part}\n`);
    expect(text).toContain("kubectl ");
  });

  it("is still there: no runbook is left over", () => {
    expect(readdirSync(runbooks).toSorted()).toEqual(alerts.map(({ name }) => `${name}.md`).toSorted());
  });
});
