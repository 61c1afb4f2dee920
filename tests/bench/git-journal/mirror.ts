// `npm run bench:git-journal [OBJECTS] [PEER]`: how long a first sync of 10,000 objects takes, and what changes cost.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, connect, loadConfig, type Resource } from "@janus/kube";
import { configMaps } from "@janus/types";
import { gitJournalCrds } from "../../../packages/git-journal/src/api/crds.ts";
import {
  API_VERSION,
  gitDestinations,
  gitRepoConfigs,
  watchRules,
} from "../../../packages/git-journal/src/api/names.ts";
import { startControlPlane } from "../../control-plane/control-plane.ts";
import { gitOf, startGitServer } from "../../fixtures/git-server.ts";
import { compiledProgram, imageEnvironment, nodeFlags } from "../../fixtures/image-program.ts";
import { removeMemory } from "../../fixtures/journal-memory.ts";
import { crds, must } from "../../load/world.ts";
import { useOf } from "../process-use.ts";

const OBJECTS = Number(process.argv[2] ?? 10_000);
/** Changes of each second, for so many seconds. */
const RATE = 100;
const SECONDS = 60;
const NAMESPACE = "default";
/** Of the value in an object, in bytes. */
const SIZE = 500;
const LANES = 16;
/** In s. */
const IDLE = 10;
/** The stage of the Dockerfile. */
const IMAGE = "git-journal";

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

const inLanes = async (count: number, run: (n: number) => Promise<unknown>): Promise<void> => {
  let next = 0;
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      for (let n = next++; n < count; n = next++) await run(n);
    }),
  );
};

const object = (n: number, value: string): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: `object-${n}` },
  data: { value: `${value} ${"x".repeat(SIZE)}` },
});
const at = { resource: configMaps, namespace: NAMESPACE };

/** A program that mirrors the objects to this repository once it is started. */
interface Mirror {
  readonly name: string;
  readonly directory: string;
  readonly start: () => Promise<ChildProcess>;
}

/** Measures one program: its first sync, how it idles, and what changes cost. */
const measure = async (api: Api, { name, directory, start }: Mirror): Promise<void> => {
  const git = gitOf(directory);
  const branch = (): string => git(["for-each-ref", "--format=%(refname)", "refs/heads"]).trim();
  const listed = (): readonly string[] => {
    const ref = branch();
    return ref === "" ? [] : git(["ls-tree", "-r", "--name-only", ref]).split("\n");
  };
  const files = (): number => listed().filter((file) => file.includes("object-")).length;
  const child = await start();
  const { pid = 0 } = child;
  try {
    const began = performance.now();
    while (files() < OBJECTS) await sleep(200);
    const first = useOf(pid);
    say(
      `${name}: first sync: ${seconds(began)}, ${git(["rev-list", "--count", branch()]).trim()} commits, ${first.peak.toFixed(0)} MiB at most, ${first.cpuOfAll.toFixed(1)} s of a core`,
    );
    await sleep(IDLE * 1000);
    const idle = useOf(pid);
    say(
      `${name}: idle: ${idle.resident.toFixed(0)} MiB, ${(((idle.cpuOfAll - first.cpuOfAll) / IDLE) * 100).toFixed(1)} % of a core`,
    );
    const changing = performance.now();
    let behind = 0;
    for (let second = 0; second < SECONDS; second += 1) {
      const until = performance.now() + 1000;
      await inLanes(RATE, async (n) =>
        must(
          await api.send({
            verb: "mergePatch",
            ...at,
            name: `object-${(second * RATE + n) % OBJECTS}`,
            body: { data: { value: `${name} ${second} ${"y".repeat(SIZE)}` } },
          }),
        ),
      );
      if (performance.now() > until) behind += 1;
      await sleep(Math.max(0, until - performance.now()));
    }
    const last = listed().find((file) => file.endsWith(`object-${(SECONDS * RATE - 1) % OBJECTS}.yaml`)) ?? "";
    const ended = performance.now();
    while (!git(["cat-file", "blob", `${branch()}:${last}`]).includes(`${name} ${SECONDS - 1} `)) await sleep(200);
    const after = useOf(pid);
    say(
      `${name}: ${SECONDS * RATE} changes in ${seconds(changing)} (${behind} of ${SECONDS} seconds were too short): the last was pushed ${seconds(ended)} later; ${after.peak.toFixed(0)} MiB at most, ${(((after.cpuOfAll - idle.cpuOfAll) / (SECONDS * RATE)) * 1000).toFixed(1)} s of a core for 1,000 changes`,
    );
  } finally {
    child.kill("SIGTERM");
    await once(child, "close");
  }
};

const program = await compiledProgram();
const plane = await startControlPlane({ log: say });
const server = await startGitServer({ tls: false });
const home = mkdtempSync(path.join(os.tmpdir(), "git-journal-"));
const flags = [
  "--git-journal",
  `--kubeconfig=${plane.kubeconfig}`,
  `--namespace=${NAMESPACE}`,
  "--leader-elect=false",
  `--work-dir=${path.join(home, "work")}`,
  "--http-port=0",
  "--webhook-port=0",
];
try {
  const api = connect(must(loadConfig({}, plane.kubeconfig)), { connections: LANES });
  for (const body of gitJournalCrds) must(await api.send({ verb: "create", resource: crds, body }));
  await inLanes(OBJECTS, async (n) => must(await api.send({ verb: "create", ...at, body: object(n, "first") })));
  say(`${OBJECTS} objects are there`);
  const create = async (resource: Resource, name: string, spec: object): Promise<void> => {
    const body = { apiVersion: API_VERSION, kind: resource.kind, metadata: { name }, spec };
    must(await api.send({ verb: "create", resource, namespace: NAMESPACE, body }));
  };
  await create(gitRepoConfigs, "repo", { repoUrl: server.url, allowedBranches: ["main"] });
  await create(gitDestinations, "prod", { repoRef: { name: "repo" }, branch: "main", baseFolder: "prod" });
  const rule = { destinationRef: { name: "prod" }, rules: [{ resources: ["configmaps"] }] };
  const janus: Mirror = {
    name: "janus",
    directory: server.directory,
    start: async () => {
      const child = spawn(process.execPath, [...nodeFlags(IMAGE), ...program, ...flags], {
        env: { ...process.env, ...imageEnvironment(IMAGE) },
        stdio: ["ignore", "ignore", "inherit"],
      });
      await sleep(5_000);
      await create(watchRules, "all", rule);
      return child;
    },
  };
  await measure(api, janus);
  const [, , , peer] = process.argv;
  if (peer !== undefined) {
    const other = await startGitServer({ tls: false });
    const env = {
      ...process.env,
      KUBECONFIG: plane.kubeconfig,
      GIT_URL: other.url,
      WORK_DIR: path.join(home, "peer"),
    };
    const start = () =>
      Promise.resolve(spawn("sh", ["-c", `exec ${peer}`], { env, stdio: ["ignore", "ignore", "inherit"] }));
    await measure(api, { name: "peer", directory: other.directory, start });
    other.stop();
  }
} finally {
  await removeMemory(flags);
  server.stop();
  rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  await plane.stop();
}
process.exit(0);
