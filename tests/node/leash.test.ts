// What is left of a node and its Pods when its process is gone.
import { spawn } from "node:child_process";
import { expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { runningWith } from "../fixtures/running.ts";

const file = (relative: string): string => JSON.stringify(new URL(relative, import.meta.url).href);

/** Starts a node in a process of its own, which then does `next` when it is told to. */
const nodeProcess = async (namespace: string, next: string) => {
  const program = `
    import { connect, loadConfig } from "@janus/kube";
    import { startNode } from ${file("../fixtures/node/start-node.ts")};
    const api = connect(loadConfig({}, ${JSON.stringify(controlPlane.kubeconfig)}).right);
    const node = await startNode(api, { namespace: "${namespace}" });
    console.log(node.name);
    process.stdin.once("data", async () => { ${next} });`;
  const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", program], {
    cwd: import.meta.dirname,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const name = await new Promise<string>((resolve) =>
    child.stdout.once("data", (text) => resolve(String(text).trim())),
  );
  return { name, go: () => child.stdin.write("\n") };
};

const polite = (mark: string): string => `: ${mark}; sleep 1000 & wait`;
const deaf = (mark: string): string => `: ${mark}; trap '' TERM; while :; do sleep 1; done`;

it.each([
  ["is stopped", "await node.stop(); process.exit(0);", []],
  ["is killed", "process.kill(process.pid, 'SIGKILL');", [{ kind: "Node" }]],
])("leaves no process when it %s", async (_, next, nodes) => {
  const namespace = await freshNamespace();
  const node = await nodeProcess(namespace, next);
  const mark = `mark-${namespace}`;
  const containers = [polite(mark), deaf(mark)].map((script, n) => ({
    name: `c${n}`,
    image: "busybox",
    command: ["sh", "-c", script],
  }));
  await administrator.create({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", namespace },
    spec: { containers },
  });
  await expect.poll(() => runningWith(mark)).toHaveLength(2);
  node.go();
  await expect.poll(() => runningWith(mark)).toEqual([]);
  const ref = { apiVersion: "v1", kind: "Node", metadata: { name: node.name } };
  await expect
    .poll(async () => (await administrator.list(ref)).filter(({ metadata }) => metadata.name === node.name))
    .toMatchObject(nodes);
  await administrator.remove(ref);
});
