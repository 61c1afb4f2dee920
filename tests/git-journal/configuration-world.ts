// The configuration of the Git journal, running on the control plane of this test run, and a worker that says that all is well.
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { connect, type Hook, loadConfig } from "@janus/kube";
import { jsonLog, watchdog } from "@janus/runtime/parts";
import * as E from "fp-ts/lib/Either.js";
import type { DestinationReport, Wanted } from "../../packages/git-journal/src/core/journaled-branch.ts";
import type { JournalSettings } from "../../packages/git-journal/src/core/wanted.ts";
import { type Configuration, startConfiguration } from "../../packages/git-journal/src/shell/configuration.ts";
import { takeWorkDirectory } from "../../packages/git-journal/src/shell/work-directory.ts";
import { controlPlane } from "../fixtures/cluster.ts";

const SETTINGS: JournalSettings = {
  selection: { watchAll: false, excludes: [{ plural: "limitranges" }], secrets: true },
  limits: { maxFiles: 200, maxBytes: 1_000_000, maxWait: 20_000 },
};

export const wellReport = (more: Partial<DestinationReport> = {}): DestinationReport => ({
  readiness: { type: "ready", reason: "Ready", message: "branch main says what is live" },
  objects: 3,
  pending: 0,
  pushed: { commits: 0, files: 0 },
  ...more,
});

export interface Running extends Configuration {
  readonly wanted: () => Wanted | undefined;
  readonly counted: (what: "discovery errors" | "ownership conflicts") => number;
  /** How often the status of an object was written, by its name. */
  readonly writes: (name: string) => number;
}

interface RunOptions {
  readonly namespaces: readonly string[];
  /** Destinations of which no worker says anything. */
  readonly silent?: readonly string[];
  readonly discoveryRefresh?: number;
  readonly hook?: Hook;
  readonly ingests?: boolean;
}

/** Starts it; `stop` ends it. */
export const runConfiguration = async ({
  namespaces,
  silent = [],
  discoveryRefresh = 300_000,
  hook = (request, next) => next(request),
  ingests = true,
}: RunOptions): Promise<Running> => {
  const directory = mkdtempSync(path.join(os.tmpdir(), "git-journal-"));
  const taken = await takeWorkDirectory(directory, path.join(directory, "memory"));
  if (E.isLeft(taken)) throw new Error(taken.left);
  const config = loadConfig({}, controlPlane.kubeconfig);
  if (E.isLeft(config)) throw new Error(config.left);
  const writes = new Map<string, number>();
  const count: Hook = (request, next) => {
    if (request.verb === "mergePatch" && request.purpose === "status")
      writes.set(request.name, (writes.get(request.name) ?? 0) + 1);
    return next(request);
  };
  const client = connect(config.right, { hooks: [count, hook], writeTimeout: 5000, deadline: 10_000 });
  const counted = new Map<string, number>();
  const reported = new Set<string>();
  let wanted: Wanted | undefined;
  const configuration = startConfiguration({
    api: client,
    log: jsonLog("error"),
    watchdog: watchdog(),
    names: { product: "Janus", prefix: "janus_git_journal", reportingComponent: "janus-git-journal", objects: "rules" },
    pod: "test",
    work: taken.right,
    env: process.env,
    settings: SETTINGS,
    discoveryRefresh,
    ingests,
    namespaces,
    count: (what) => counted.set(what, (counted.get(what) ?? 0) + 1),
    tells: () => true,
    onWanted: (now) => {
      wanted = now;
      for (const { destinations } of now.branches.values())
        for (const { destination } of destinations) {
          if (silent.includes(destination.name) || reported.has(destination.name)) continue;
          reported.add(destination.name);
          configuration.report(destination.name, wellReport());
        }
    },
  });
  return {
    ...configuration,
    wanted: () => wanted,
    counted: (what) => counted.get(what) ?? 0,
    writes: (name) => writes.get(name) ?? 0,
    stop: async () => {
      await configuration.stop();
      await client.close();
      rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
};
