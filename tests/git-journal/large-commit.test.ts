// A Transaction whose files are more than the memory is to have: its worker makes one commit of them all the same.
import { setTimeout as sleep } from "node:timers/promises";
import { decodeTransaction, fieldManager } from "@janus/api";
import { wall } from "@janus/runtime/parts";
import type { KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished } from "vitest";
import type { SeenFile } from "../../packages/git-journal/src/core/branch-event.ts";
import { ingested } from "../../packages/git-journal/src/core/kept-object.ts";
import { repositoryUrl } from "../../packages/git-journal/src/core/repository-url.ts";
import { branchIn } from "../../packages/git-journal/src/shell/branch.ts";
import { branchWorker, type WorkerContext } from "../../packages/git-journal/src/shell/branch-worker.ts";
import { fileTexts } from "../../packages/git-journal/src/shell/file-texts.ts";
import { journalMetrics } from "../../packages/git-journal/src/shell/metrics.ts";
import { storedTexts } from "../../packages/git-journal/src/shell/stored-texts.ts";
import { takeWorkDirectory } from "../../packages/git-journal/src/shell/work-directory.ts";
import { gitOf, startGitServer } from "../fixtures/git-server.ts";
import { branchOf, configMap, CONFIG_MAPS, FOLDER, pathOf, SETTINGS } from "../unit/git-journal/branch-world.ts";
import { right } from "../unit/git-journal/right.ts";
import { newDirectory } from "./world.ts";

const UID = "11111111-2222-3333-4444-555555555555";
const MIB = 2 ** 20;
const COUNT = 36;
/** As texts are kept: less than one commit has. */
const AT_HAND = 18 * MIB;
const NAMES = Array.from({ length: COUNT }, (_, n) => `large-${n}`);

const large = (name: string): KubeObject =>
  configMap(name, `${name} ${"x".repeat(MIB)}`, {
    resourceVersion: "2",
    managedFields: [
      { manager: fieldManager({ name: "deploy", uid: UID }), operation: "Update", time: "2026-01-01T00:00:09Z" },
    ],
  });

const inPhase = (phase: string) =>
  right(
    decodeTransaction({
      metadata: { name: "deploy", namespace: "shop", uid: UID, resourceVersion: "1", generation: 1 },
      spec: {
        serviceAccountName: "sa",
        changes: NAMES.map((name) => ({
          type: "Create",
          target: { apiVersion: "v1", kind: "ConfigMap", name },
          content: { data: {} },
        })),
      },
      status: {
        phase,
        items: NAMES.map(() => ({ prepared: true, committed: true, uid: "u", resourceVersion: "1" })),
        requestedBy: "alice",
      },
    }),
  );

it("one commit has all files of a Transaction, of which the memory never has more than a part", async () => {
  const server = await startGitServer({ tls: false });
  onTestFinished(server.stop);
  const git = gitOf(server.directory);
  const directory = newDirectory();
  const work = right(await takeWorkDirectory(directory, `${directory}/memory`));
  const repository = right(repositoryUrl(server.url));
  const journaled = { ...branchOf(), repository };
  const { key, branch } = journaled;
  const where = { url: repository.url, host: repository.host, port: repository.port, branch };
  const [
    {
      destination,
      selected: [resource],
    } = { selected: [] },
  ] = journaled.destinations;
  if (destination === undefined || resource === undefined) throw new Error("nothing is selected");

  const live = new Map(NAMES.map((name) => [name, large(name)]));
  const texts = fileTexts(() => Promise.resolve(""), AT_HAND);
  const fileOf = (object: KubeObject): SeenFile => {
    const secrets = { key: new Uint8Array(), recipients: [] };
    const result = ingested(object, { resource, folder: FOLDER, namespaceLabels: {}, secrets, format: "sha1" });
    if (result.type !== "kept") throw new Error("it is not kept");
    texts.put(result.object.fingerprint, result.file);
    return { destination: destination.name, resource: CONFIG_MAPS, path: result.path, ingested: result };
  };
  const places = new Map(
    NAMES.map((name) => [pathOf(name), { destination: destination.name, resource: CONFIG_MAPS, name }]),
  );
  const context: WorkerContext = {
    api: { send: () => Promise.reject(new Error("nothing is asked")) } as unknown as WorkerContext["api"],
    log: () => undefined,
    branch: branchIn(work, key, where, process.env, 1e9),
    lease: {
      acquire: () => worker.tell({ type: "lease", is: "held" }),
      release: () => Promise.resolve(),
      mayPushFor: () => 100,
      signal: () => new AbortController().signal,
    },
    streams: {
      read: (_, { name }) => Promise.resolve(E.right(fileOf(live.get(name) ?? large(name)))),
      find: () => places,
    },
    texts,
    stored: storedTexts(work, key, where, process.env),
    installation: { clusterUid: "u1", namespace: "janus", name: "journal", instance: "i" },
    timing: { refresh: 1_000_000, idle: 1_000_000 },
    metrics: journalMetrics({ states: () => [], notReady: () => [], now: wall }),
    configuration: { report: () => undefined, reportRepository: () => undefined, record: () => undefined },
    signal: new AbortController().signal,
    wake: () => undefined,
  };
  const worker = branchWorker(journaled, SETTINGS, context);
  worker.tell({ type: "wanted", branch: journaled, gone: new Set(), settings: SETTINGS });
  worker.tell({ type: "transactionsKnown" });
  worker.tell({ type: "listed", resource: CONFIG_MAPS, version: "v1", files: [] });
  await worker.work();
  worker.tell({ type: "transaction", transaction: inPhase("Committing") });
  for (const object of live.values()) worker.tell({ type: "seen", file: fileOf(object), by: { type: "unknown" } });
  worker.tell({ type: "transaction", transaction: inPhase("Committed") });
  for (let n = 0; n < 100 && git(["for-each-ref"]) === ""; n += 1) {
    await worker.work();
    await sleep(50);
  }
  expect(git(["log", "--format=%an: %s", "main"])).toBe(`alice: Transaction shop/deploy: Committed, ${COUNT} changes`);
  const sizes = git(["ls-tree", "-r", "--long", "main"])
    .split("\n")
    .filter((line) => line.includes("large-"));
  expect(sizes).toHaveLength(COUNT);
  expect(git(["fsck", "--strict", "--no-dangling"])).toBe("");
});
