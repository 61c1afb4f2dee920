// The functions that need no Pod, on the API server: KubeOps, ScaleWorkload and Wait.
import { expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { role, roleBinding, serviceAccount, within } from "../fixtures/manifests.ts";
import { actionOn, actionSet, blueprint } from "./objects.ts";
import { place } from "./world.ts";

const configMaps = (namespace: string, name: string): object => ({
  apiVersion: "v1",
  group: "",
  resource: "configmaps",
  name,
  namespace,
});

const configMap = (name: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\ndata:\n  ready: "false"\n`;

it("creates, patches and deletes objects, and waits for others", async () => {
  const { create, over, read, names, namespace } = await place();
  const ops = (name: string, args: object): object => ({ func: "KubeOps", name, args: { namespace, ...args } });
  await create(
    blueprint("ops", {
      backup: {
        phases: [
          ops("make", { operation: "create", spec: `${configMap("a")}---\n${configMap("b")}` }),
          ops("label", {
            operation: "patch",
            objectReference: configMaps(namespace, "a"),
            spec: "metadata: {labels: {patched: by-us}}",
          }),
          {
            func: "Wait",
            name: "wait",
            args: {
              timeout: "30s",
              conditions: {
                allOf: [{ condition: "{ $.data.ready }", objectReference: configMaps(namespace, "b") }],
              },
            },
          },
          ops("drop", { operation: "delete", objectReference: configMaps(namespace, "b") }),
        ],
      },
    }),
    actionSet("run", actionOn("backup", "ops")),
  );
  await expect.poll(async () => (await read("run")).status?.progress.runningPhase).toBe("wait");
  await administrator.patch(
    within(namespace, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" }, data: { ready: "true" } }),
  );
  const { status } = await over("run");
  const reference = { apiVersion: "v1", group: "", resource: "configmaps", kind: "ConfigMap", namespace };
  expect(status).toMatchObject({
    state: "complete",
    actions: [
      {
        phases: [
          { name: "make", output: { ...reference, name: "b" } },
          { name: "label", output: { ...reference, name: "a" } },
          { name: "wait", state: "complete" },
          { name: "drop", output: { ...reference, name: "b" } },
        ],
      },
    ],
  });
  const left = await names("v1", "ConfigMap");
  expect(left).toContain("a");
  expect(left).not.toContain("b");
  const a = await administrator.read(
    within(namespace, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } }),
  );
  expect(a?.metadata.labels).toEqual({ patched: "by-us" });
});

it("patches what has no strategic merge patch with a JSON merge patch", async () => {
  const { create, over, namespace } = await place();
  const reference = {
    apiVersion: "v1alpha1",
    group: "cr.kanister.io",
    resource: "blueprints",
    kind: "Blueprint",
    name: "patch",
    namespace,
  };
  await create(
    roleBinding("everything", "ClusterRole", "cluster-admin", `${namespace}/ops`),
    blueprint("patch", {
      backup: {
        phases: [
          {
            func: "KubeOps",
            name: "label",
            args: { operation: "patch", objectReference: reference, spec: "metadata: {labels: {patched: by-us}}" },
          },
        ],
      },
    }),
    actionSet("run", actionOn("backup", "patch")),
  );
  const { status } = await over("run");
  expect(status.error).toBeUndefined();
  expect(status.actions[0]?.phases[0]).toMatchObject({ state: "complete", output: reference });
  const patched = await administrator.read(within(namespace, blueprint("patch", {})));
  expect(patched?.metadata.labels).toEqual({ patched: "by-us" });
});

it("scales a workload, and tells of its original replicas", async () => {
  const { create, over, namespace } = await place();
  const web = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" } };
  await create(
    {
      ...web,
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: "web" } },
        template: { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    },
    blueprint("scale", {
      backup: {
        phases: [
          {
            func: "ScaleWorkload",
            name: "down",
            args: { namespace, name: "web", kind: "deployment", replicas: "0", waitForReady: false },
          },
        ],
      },
    }),
    actionSet("run", actionOn("backup", "scale")),
  );
  const { status } = await over("run");
  expect(status.error).toBeUndefined();
  expect(status.actions[0]?.phases[0]).toMatchObject({ state: "complete", output: { originalReplicaCount: "3" } });
  const scaled = await administrator.read(within(namespace, web));
  expect(scaled?.["spec"]).toMatchObject({ replicas: 0 });
});

it("runs what the ServiceAccount may do with one object alone", async () => {
  const { create, over, namespace } = await place();
  const one = { apiGroups: [""], resources: ["configmaps"], resourceNames: ["subject"], verbs: ["get", "patch"] };
  await create(
    serviceAccount("narrow"),
    role("narrow", one),
    roleBinding("narrow", "Role", "narrow", `${namespace}/narrow`),
    ...["subject", "other"].map((name) =>
      blueprint(name, {
        do: {
          phases: [
            {
              func: "KubeOps",
              name: "label",
              args: {
                operation: "patch",
                namespace,
                objectReference: configMaps(namespace, name),
                spec: "data: {a: b}",
              },
            },
          ],
        },
      }),
    ),
    ...["subject", "other"].map((name) => {
      const spec = { serviceAccountName: "narrow", actions: [actionOn("do", name)] };
      return { ...actionSet(name), spec };
    }),
  );
  expect((await over("subject")).status).toMatchObject({ state: "complete" });
  expect((await over("other")).status.error?.message).toBe(
    `nothing was run: ServiceAccount ${namespace}/narrow may not patch configmaps in namespace ${namespace} (phase label)`,
  );
});

it("runs nothing where the ServiceAccount may not do what the arguments say", async () => {
  const { create, over, namespace } = await place();
  await create(
    blueprint("scale", {
      backup: {
        phases: [
          {
            func: "ScaleWorkload",
            name: "down",
            args: { namespace: "default", name: "{{ .Object.metadata.name }}", kind: "Deployment", replicas: 0 },
          },
        ],
      },
    }),
    actionSet("run", actionOn("backup", "scale")),
  );
  const { status } = await over("run");
  expect(status.error?.message).toBe(
    `nothing was run: ${["get deployments", "get deployments/scale", "patch deployments/scale", "list pods"]
      .map((what) => `ServiceAccount ${namespace}/ops may not ${what} in namespace default (phase down)`)
      .join(
        "; ",
      )}; the ActionSet names no ServiceAccount, and so has ops: set spec.serviceAccountName or the label janus.io/service-account`,
  );
});
