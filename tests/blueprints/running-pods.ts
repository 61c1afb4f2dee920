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

export const runningPod = async (namespace: string, name: string, ...containers: readonly string[]): Promise<void> => {
  await administrator.create(within(namespace, pod(name, ...containers)));
  const phase = async (): Promise<unknown> =>
    ((await administrator.read(within(namespace, pod(name)))) as { readonly status?: { readonly phase?: string } })
      ?.status?.phase;
  await expect.poll(phase, { timeout: 20_000 }).toBe("Running");
};

export const exec = (name: string, namespace: string, script: string, more: object = {}): object => ({
  func: "KubeExec",
  name,
  args: { namespace, pod: "db-0", command: ["sh", "-c", script], ...more },
});
