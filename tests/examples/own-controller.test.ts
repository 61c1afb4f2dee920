import { readFile } from "node:fs/promises";
import path from "node:path";
import { jsonLog, startWork, watchdog } from "@janus/runtime/parts";
import { expect, it } from "vitest";
import { TIMING_FLAGS } from "../fixtures/leader-timing.ts";
import { configMaps, labelKeeper } from "../../examples/own-controller/label-keeper.ts";
import { answerEverywhere, crashEverywhere, type Subject } from "../crash/any-controller.ts";
import { administrator, connection } from "../fixtures/administrator.ts";
import { controlPlane, kubectl, kubectlWith, userKubeconfig } from "../fixtures/cluster.ts";
import { type ControllerProcess, controllerProcess } from "../fixtures/controller-process.ts";
import { configMap, within } from "../fixtures/manifests.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";

interface Probe {
  readonly httpGet: { readonly path: string };
}

interface Container {
  readonly env: readonly { readonly name: string }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface Deployment {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
}

const example = path.resolve(import.meta.dirname, "../../examples/own-controller");

/** A manifest of the example, for another namespace than `default`. */
const manifest = async (file: string, namespace: string): Promise<string> =>
  (await readFile(path.join(example, file), "utf8")).replaceAll("namespace: default", `namespace: ${namespace}`);

const labelsOf = async (namespace: string, name: string): Promise<unknown> =>
  (await administrator.read(within(namespace, configMap(name))))?.metadata.labels;

const metricsOf = async (one: ControllerProcess): Promise<string> => {
  const url = one.url();
  return url === undefined ? "" : (await fetch(`${url}/metrics`)).text();
};

const leads = async (one: ControllerProcess): Promise<boolean> =>
  /^label_keeper_leader_elected 1$/m.test(await metricsOf(one));

it("labels ConfigMaps with the permissions of its manifest; one of two processes leads, and the other one takes over", async () => {
  const namespace = await freshNamespace();
  const rbac = await manifest("rbac.yaml", namespace);
  expect(await kubectlWith({ stdin: rbac }, "apply", "-f", "-")).toMatchObject({ code: 0 });
  const kubeconfig = await userKubeconfig(`system:serviceaccount:${namespace}:label-keeper`);
  const start = (): ControllerProcess =>
    controllerProcess(
      [
        `--kubeconfig=${kubeconfig}`,
        `--namespace=${namespace}`,
        `--watch-namespace=${namespace}`,
        "--http-port=0",
        ...TIMING_FLAGS,
      ],
      {},
      path.join(example, "main.ts"),
    );
  const both = [start(), start()];
  await administrator.create(within(namespace, configMap("first")));
  await expect.poll(() => labelsOf(namespace, "first")).toMatchObject({ "example.com/team": "unowned" });
  const leading = await Promise.all(both.map(leads));
  expect(leading.filter(Boolean)).toHaveLength(1);
  both[leading.indexOf(true)]?.kill("SIGKILL");
  await administrator.create(within(namespace, configMap("second")));
  await expect.poll(() => labelsOf(namespace, "second")).toMatchObject({ "example.com/team": "unowned" });
  const [heir] = both.filter((_, n) => leading[n] === false);
  expect(heir?.log.filter(({ level }) => level === "error")).toEqual([]);
  heir?.kill("SIGTERM");
  expect(await heir?.ended).toBe(0);
  await kubectl("delete", "clusterrole,clusterrolebinding", "label-keeper");
});

it("is deployed by its manifest, under the restricted Pod Security Standard, with probes that its port serves", async () => {
  const namespace = await freshNamespace();
  await kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/warn=restricted");
  const stdin = await manifest("deployment.yaml", namespace);
  const applied = await kubectlWith({ stdin }, "apply", "-f", "-", "-o", "json");
  expect(applied).toMatchObject({ code: 0, stderr: "" });
  const [container] = (JSON.parse(applied.stdout) as Deployment).spec.template.spec.containers;
  const own = controllerProcess(
    [`--kubeconfig=${controlPlane.kubeconfig}`, `--watch-namespace=${namespace}`, "--http-port=0"],
    Object.fromEntries(container?.env.map(({ name }) => [name, namespace]) ?? []),
    path.join(example, "main.ts"),
  );
  for (const probe of [container?.livenessProbe, container?.readinessProbe])
    await expect
      .poll(async () => (own.url() === undefined ? 0 : (await fetch(`${own.url()}${probe?.httpGet.path}`)).status))
      .toBe(200);
  const lease = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace, name: "label-keeper-leader" },
  };
  await expect.poll(() => administrator.read(lease)).toBeDefined();
});

it("keeps a copy, looking at two objects: by its own flags, on the changes of both, with events", async () => {
  const namespace = await freshNamespace();
  const copier = controllerProcess(
    [
      `--kubeconfig=${controlPlane.kubeconfig}`,
      `--watch-namespace=${namespace}`,
      "--http-port=0",
      "--leader-elect=false",
      "--suffix=twin",
    ],
    {},
    path.join(import.meta.dirname, "copier.ts"),
  );
  const original = within(namespace, configMap("original", { a: "1" }));
  const twin = within(namespace, configMap("original-twin"));
  const labelled = { ...original, metadata: { ...original.metadata, labels: { copy: "wanted" } } };
  await administrator.create(within(namespace, configMap("other")));
  await administrator.create(labelled);
  await expect.poll(() => administrator.read(twin)).toMatchObject({ data: { a: "1" } });
  await kubectl("delete", "configmap", "original-twin", "-n", namespace);
  await expect.poll(() => administrator.read(twin)).toMatchObject({ data: { a: "1" } });
  await expect
    .poll(async () => (await kubectl("describe", "configmap", "original", "-n", namespace)).stdout)
    .toMatch(/Normal +Copied .*x2 over.*copier +copied to original-twin/u);
  expect(await administrator.read(within(namespace, configMap("other-twin")))).toBeUndefined();
  expect(copier.log.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
  copier.kill("SIGTERM");
  expect(await copier.ended).toBe(0);
});

it("shows its version", async () => {
  const { ended, stdout } = controllerProcess(["--version"], {}, path.join(example, "main.ts"));
  expect(await ended).toBe(0);
  expect(stdout()).toBe("1.0.0\n");
});

it("shows its flags, which are those of every controller", async () => {
  const { ended, stdout } = controllerProcess(["--help"], {}, path.join(example, "main.ts"));
  expect(await ended).toBe(0);
  expect(stdout()).toContain("Usage: label-keeper [flags]");
  expect(stdout()).toContain("--leader-elect-resource-name <name>");
});

/** The controller at work on these ConfigMaps, in a namespace of its own each time. */
const labelling = (...names: readonly string[]): Subject<readonly object[]> => ({
  start: (api, namespace) =>
    startWork(
      { name: "label-keeper", resource: configMaps, controller: labelKeeper },
      { api, log: jsonLog("error"), watchdog: watchdog() },
      { watchNamespaces: [namespace], concurrency: 1 },
    ),
  prepare: async () => {
    const namespace = await freshNamespace();
    for (const name of names) await administrator.create(within(namespace, configMap(name, { name })));
    return namespace;
  },
  ended: async (namespace) => {
    const all = await Promise.all(names.map((name) => administrator.read(within(namespace, configMap(name)))));
    const world = all.map((object) => ({ labels: object?.metadata.labels, data: object?.["data"] }));
    return world.every(({ labels }) => labels !== undefined) ? world : undefined;
  },
});

it("ends in the same way, wherever it is killed, and whichever response is lost", async () => {
  const { wrong, runs } = await crashEverywhere(connection(controlPlane.kubeconfig), labelling("a", "b", "c"));
  expect(wrong).toEqual([]);
  expect(runs).toBeGreaterThan(6);
});

it("ends in the same way, whatever it is answered that passes", async () => {
  const { wrong, runs } = await answerEverywhere(connection(controlPlane.kubeconfig), labelling("a"));
  expect(wrong).toEqual([]);
  expect(runs).toBeGreaterThan(20);
});
