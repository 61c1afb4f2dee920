// Pods that run until they are told to end, and phases that execute a command in one.
import { expect } from "vitest";
import { administrator, type Manifest } from "../fixtures/administrator.ts";
import { within } from "../fixtures/manifests.ts";

/** Writes an output as `kando output` does. */
export const kando = (key: string, value: string): string =>
  `echo '###Phase-output###: {"key":"${key}","value":"${value}"}'`;

/** A Pod whose containers run until they are told to end. */
export const pod = (name: string, ...containers: readonly string[]): Manifest => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: containers.map((one) => ({
      name: one,
      image: "busybox",
      env: [{ name: "WHERE", value: `${name}/${one}` }],
    })),
  },
});

/** A StatefulSet whose Pods run until they are told to end, each with a claim of its own at /data. */
export const statefulSet = (name: string, container: string, replicas: number): Manifest => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name },
  spec: {
    replicas,
    podManagementPolicy: "Parallel",
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [{ name: container, image: "busybox", volumeMounts: [{ name: "data", mountPath: "/data" }] }],
      },
    },
    volumeClaimTemplates: [
      {
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } },
      },
    ],
  },
});

const isRunning = async (namespace: string, name: string): Promise<boolean> => {
  const found = (await administrator.read(within(namespace, pod(name)))) as
    | { readonly status?: { readonly phase?: string } }
    | undefined;
  return found?.status?.phase === "Running";
};

/** Until all of them run. */
export const podsRun = async (namespace: string, ...names: readonly string[]): Promise<void> => {
  for (const name of names)
    await expect.poll(() => isRunning(namespace, name), { message: `Pod ${name} runs` }).toBe(true);
};

export const runningPod = async (namespace: string, name: string, ...containers: readonly string[]): Promise<void> => {
  await administrator.create(within(namespace, pod(name, ...containers)));
  await podsRun(namespace, name);
};

export const exec = (name: string, namespace: string, script: string, more: object = {}): object => ({
  func: "KubeExec",
  name,
  args: { namespace, pod: "db-0", command: ["sh", "-c", script], ...more },
});
