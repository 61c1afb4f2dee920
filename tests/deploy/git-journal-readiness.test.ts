// The Deployment of the Git journal on nodes: both Pods are ready, and the Service of the webhook reaches the leader alone.
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { installation } from "@janus/deploy";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runNodes } from "./nodes.ts";
import { eventually, type OwnCluster, ownCluster } from "./own-cluster.ts";

const program = path.resolve(import.meta.dirname, "../../packages/program/src/main.ts");
const NAME = "janus-git-journal";

let cluster: OwnCluster;
let directory: string;
beforeAll(async () => {
  cluster = await ownCluster({ gitJournal: {} });
  directory = await mkdtemp(path.join(os.tmpdir(), "git-journal-pods-"));
});
afterAll(async () => {
  await cluster.stop();
  await rm(directory, { recursive: true, force: true });
});

interface List {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly endpoints?: readonly { readonly targetRef: { readonly name: string } }[];
  }[];
}

const listed = async (what: string): Promise<List["items"]> =>
  (JSON.parse(await cluster.admin(`get ${what} -n janus-system -o json`)) as List).items;

/** The Pods to which the API server is sent. */
const called = async (): Promise<readonly string[]> =>
  (await listed(`endpointslices -l kubernetes.io/service-name=${NAME}`)).flatMap(({ endpoints }) =>
    (endpoints ?? []).map(({ targetRef }) => targetRef.name),
  );

const leader = async (): Promise<string> =>
  (
    await cluster.admin(
      `get lease ${NAME}-leader -n janus-system -o jsonpath={.spec.holderIdentity} --ignore-not-found`,
    )
  ).split("_")[0] ?? "";

it("the webhook is called on the leader alone, and on the next one when its Pod is deleted", async () => {
  await cluster.install(...installation({ gitJournal: {} }).filter(({ metadata }) => metadata.name === NAME));
  await runNodes(cluster, {
    program,
    // On one machine they share ports and directories.
    flagsOf: (pod) => [`--work-dir=${path.join(directory, pod)}`, "--webhook-port=0"],
    env: { PATH: process.env["PATH"] },
  });
  await cluster.admin(`rollout status deployment/${NAME} -n janus-system --timeout=300s`);
  expect(await listed("pods")).toHaveLength(2);
  const first = await leader();
  await eventually(async () => (await called()).join() === first);

  await cluster.admin(`delete pod ${first} -n janus-system --wait=false`);
  await eventually(async () => {
    const next = await leader();
    return next !== "" && next !== first && (await called()).join() === next;
  });
});
