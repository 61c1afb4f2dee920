// The Git journal as a process of its own, with its flags: it starts, writes, ends cleanly, and is replaced when it is killed.
import path from "node:path";
import { expect, it, onTestFailed, onTestFinished } from "vitest";
import { leash } from "../control-plane/leash.ts";
import { administrator } from "../fixtures/administrator.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { type ControllerProcess, controllerProcess } from "../fixtures/controller-process.ts";
import { TIMING_FLAGS } from "../fixtures/leader-timing.ts";
import { type Replica, replica } from "../fixtures/replica.ts";
import { configMap, configuration, place, workDirectory } from "./mirror-world.ts";

const PROGRAM = path.resolve(import.meta.dirname, "../../packages/program/src/main.ts");

const flagsIn = (namespace: string, directory: string): readonly string[] => [
  "--git-journal",
  `--kubeconfig=${controlPlane.kubeconfig}`,
  `--namespace=${namespace}`,
  `--watch-namespace=${namespace}`,
  `--work-dir=${directory}`,
  "--webhook-port=0",
  "--git-batch-max-wait-sec=0",
  "--leases-renew-sec=5",
  "--leases-lease-sec=15",
  ...TIMING_FLAGS,
];

const start = (namespace: string, directory: string, ...more: readonly string[]): ControllerProcess =>
  controllerProcess(
    [...flagsIn(namespace, directory), "--http-port=0", ...more],
    { PATH: process.env["PATH"] },
    PROGRAM,
  );

/** Started again when it ends by itself, as on a node: where everything is slow, its term may be over. */
const onNode = async (namespace: string, ...more: readonly string[]): Promise<Replica> => {
  const home = workDirectory();
  const held = leash(home);
  const first = await replica("first", [...flagsIn(namespace, workDirectory()), ...more], home, held);
  onTestFailed(async () => console.error((await first.complaints()).join("\n")));
  onTestFinished(async () => {
    await first.end();
    await held.end();
  });
  await first.start();
  return first;
};

const fileOf = (namespace: string, name: string): string => `prod/core/v1/configmaps/${namespace}/${name}.yaml`;

it.each([
  ["as the leader", "--shards=false"],
  ["as a member", "--shards"],
])(
  "%s it writes what is live; killed, another one goes on; and it gives its Leases back at its end",
  async (_, flag) => {
    const { url, namespace, have, log, create } = await place();
    await create(...configuration(url), configMap("a"));
    const first = await onNode(namespace, flag);
    await have([fileOf(namespace, "a")]);
    const second = start(namespace, workDirectory(), flag);
    await expect.poll(() => second.url()).toBeDefined();
    await first.kill();
    await create(configMap("b"));
    await have([fileOf(namespace, "a"), fileOf(namespace, "b")]);
    expect(log("%s")).toHaveLength(2);
    const metrics = async (): Promise<string> => (await fetch(`${second.url()}/metrics`)).text();
    await expect.poll(metrics).toContain("gitopsreverser_commits_total 1\n");
    await expect.poll(metrics).toContain("janus_git_oldest_pending_seconds 0\n");
    second.kill("SIGTERM");
    expect(await second.ended).toBe(0);
    const leases = await administrator.list({ apiVersion: "coordination.k8s.io/v1", kind: "Lease" }, namespace);
    expect(
      leases.map(({ metadata, spec }) => [metadata.name, (spec as { holderIdentity?: string }).holderIdentity ?? ""]),
    ).toEqual(expect.arrayContaining([[expect.stringMatching(/^git-[0-9a-f]{16}$/u), ""]]));
  },
);

it("refuses to start in the work directory of another process", async () => {
  const { namespace } = await place();
  const directory = workDirectory();
  const first = start(namespace, directory);
  await expect.poll(() => first.url()).toBeDefined();
  const second = start(namespace, directory);
  expect(await second.ended).toBe(1);
  expect(second.stderr()).toContain(`the work directory ${directory} is used by process`);
});
