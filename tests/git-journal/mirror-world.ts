// The world of the suites of the running Git journal: its kinds, a namespace, a git server, and controllers in this process.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type Api, type Hook, connect, loadConfig } from "@janus/kube";
import { jsonLog, type Work, watchdog } from "@janus/runtime/parts";
import * as E from "fp-ts/lib/Either.js";
import { expect, onTestFinished, vi } from "vitest";
import { gitJournalCrds } from "../../packages/git-journal/src/api/crds.ts";
import { attribution } from "../../packages/git-journal/src/shell/attribution.ts";
import { type JournalFlags, startWork, type Surroundings } from "../../packages/git-journal/src/shell/work.ts";
import { takeWorkDirectory } from "../../packages/git-journal/src/shell/work-directory.ts";
import { administrator, type Manifest, resourceOf } from "../fixtures/administrator.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { gitOf, startGitServer } from "../fixtures/git-server.ts";
import { within } from "../fixtures/manifests.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";

const API_VERSION = "configbutler.ai/v1alpha1";

for (const crd of gitJournalCrds) await administrator.apply(crd as unknown as Manifest);
for (const kind of ["GitRepoConfig", "GitDestination", "WatchRule", "ClusterWatchRule"])
  await vi.waitUntil(
    () =>
      resourceOf({ apiVersion: API_VERSION, kind }).then(
        () => true,
        () => false,
      ),
    { timeout: 300_000 },
  );

const config = loadConfig({}, controlPlane.kubeconfig);
if (E.isLeft(config)) throw new Error(config.left);
/** The administrator's. */
export const client = connect(config.right, { writeTimeout: 2_000, deadline: 5_000, connections: 100 });

export const manifest = (kind: string, name: string, spec: object): Manifest => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name },
  spec,
});

export const configMap = (
  name: string,
  data: Readonly<Record<string, string>> = { a: "1" },
  labels = {},
): Manifest => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels },
  data,
});

/** Names the namespace of the controller, too, where its Leases and its key are. */
const flagsFor = (namespace: string): JournalFlags => ({
  namespace,
  watchNamespaces: [namespace],
  settings: {
    selection: { watchAll: false, excludes: [], secrets: true },
    limits: { maxFiles: 200, maxBytes: 1024 * 1024, maxWait: 200 },
  },
  ingests: true,
  discoveryRefresh: 300_000,
  largestClone: 1024 * 1024 * 1024,
  workers: { global: 4, perRepository: 2 },
  shards: false,
  leases: { leaseDuration: 4_000, renewDeadline: 3_000, retryPeriod: 300, writeTimeout: 800 },
});

interface ControllerOptions {
  /** Default: the administrator's. */
  readonly as?: Api;
  readonly hooks?: readonly Hook[];
  /** Of an earlier one, after its end. */
  readonly directory?: string;
  readonly identity?: string;
  readonly flags?: Partial<JournalFlags>;
  readonly authors?: Surroundings["authors"];
  readonly env?: Surroundings["env"];
  readonly follow?: NonNullable<Surroundings["follow"]>;
  /** Default: true. */
  readonly leads?: boolean;
}

export const workDirectory = (): string => {
  const directory = mkdtempSync(path.join(os.tmpdir(), "git-journal-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));
  return directory;
};

/** A controller for the objects of a namespace. */
export const controllerOf = async (
  namespace: string,
  {
    as = client,
    hooks = [],
    directory = workDirectory(),
    identity = directory,
    flags = {},
    authors = attribution(),
    env = process.env,
    follow,
    leads = true,
  }: ControllerOptions = {},
): Promise<Work> => {
  mkdirSync(directory, { recursive: true });
  const work = await takeWorkDirectory(directory, path.join(directory, "memory"));
  if (E.isLeft(work)) throw new Error(work.left);
  const send: Api["send"] = hooks.reduceRight<Api["send"]>((next, hook) => (request) => hook(request, next), as.send);
  const api = { ...as, send };
  const running = startWork(
    {
      api,
      renewals: api,
      pod: "test",
      log: jsonLog("error"),
      watchdog: watchdog(),
    },
    { ...flagsFor(namespace), ...flags },
    { work: work.right, identity, env, authors, ...(follow === undefined ? {} : { follow }) },
  );
  if (leads) running.lead?.(api);
  onTestFinished(running.stop);
  return running;
};

export interface Place {
  readonly namespace: string;
  readonly git: ReturnType<typeof gitOf>;
  /** The texts of all files by their paths. */
  readonly files: () => Readonly<Record<string, string>>;
  /** Waits until these files are there, and no others beside the marker. */
  readonly have: (paths: readonly string[]) => Promise<void>;
  readonly log: (format?: string) => readonly string[];
  readonly create: (...manifests: readonly Manifest[]) => Promise<void>;
  readonly patch: (manifest: Manifest) => Promise<void>;
  readonly remove: (manifest: Manifest) => Promise<void>;
  /** The condition Ready. */
  readonly ready: (
    kind: string,
    name: string,
  ) => Promise<Readonly<Record<"status" | "reason" | "message", string>> | undefined>;
}

const MARKER = ".configbutler/owner.yaml";

interface PlaceOptions extends NonNullable<Parameters<typeof startGitServer>[0]> {
  /** Default: a new one. */
  readonly namespace?: string;
}

/** A namespace, and a server with an empty repository. */
export const place = async ({
  namespace: given,
  ...options
}: PlaceOptions = {}): Promise<Place & { readonly url: string; readonly asked: () => number }> => {
  const server = await startGitServer({ tls: false, ...options });
  onTestFinished(server.stop);
  const namespace = given ?? (await freshNamespace());
  const git = gitOf(server.directory);
  const hasBranch = (): boolean => git(["for-each-ref", "refs/heads/main"]) !== "";
  const names = (): readonly string[] =>
    hasBranch()
      ? git(["ls-tree", "-r", "--name-only", "main"])
          .split("\n")
          .filter((at) => at !== "")
      : [];
  return {
    url: server.url,
    /** How many requests there were. */
    asked: () => server.requests.length,
    namespace,
    git,
    files: () => Object.fromEntries(names().map((at) => [at, git(["cat-file", "blob", `main:${at}`])])),
    have: async (paths) => {
      const wanted = paths.toSorted();
      await expect
        .poll(
          () =>
            names()
              .filter((at) => !at.endsWith(MARKER))
              .toSorted(),
          { interval: 50 },
        )
        .toEqual(wanted);
    },
    log: (format = "%an: %s") => (hasBranch() ? git(["log", `--format=${format}`, "main"]).split("\n") : []),
    create: async (...manifests) => {
      for (const one of manifests) await administrator.create(within(namespace, one));
    },
    patch: async (one) => void (await administrator.patch(within(namespace, one))),
    remove: (one) => administrator.remove(within(namespace, one)),
    ready: async (kind, name) => {
      const object = await administrator.read(within(namespace, { apiVersion: API_VERSION, kind, metadata: { name } }));
      const { conditions = [] } = Object(object?.["status"]) as {
        readonly conditions?: readonly Readonly<Record<"type" | "status" | "reason" | "message", string>>[];
      };
      return conditions.find(({ type }) => type === "Ready");
    },
  };
};

/** The objects of a repository, a destination in the folder `prod`, and a rule for resources. */
export const configuration = (
  url: string,
  resources: readonly string[] = ["configmaps"],
  rule = {},
): readonly Manifest[] => [
  manifest("GitRepoConfig", "repo", { repoUrl: url, allowedBranches: ["main"] }),
  manifest("GitDestination", "prod", { repoRef: { name: "repo" }, branch: "main", baseFolder: "prod" }),
  manifest("WatchRule", "all", { destinationRef: { name: "prod" }, rules: [{ resources, ...rule }] }),
];
