// The configuration of the Git journal, while it runs: from the objects of the cluster to what is wanted in Git, and back to their status.
import type { Api } from "@janus/kube";
import { type ControllerNames, type Log, throttle, type Watchdog } from "@janus/runtime/parts";
import * as E from "fp-ts/lib/Either.js";
import type { Readiness } from "../core/conditions.ts";
import type { DestinationReport, Wanted } from "../core/journaled-branch.ts";
import { isOfRepository, refusedAmong } from "../core/repository-check.ts";
import { type NotReady, notReadyOnes, readinessOf, type Told } from "../core/readiness.ts";
import { pushedEvent, type StatusEvent } from "../core/status.ts";
import { branchesOf, type JournalSettings, type Resolution, resolved } from "../core/wanted.ts";
import { rested } from "./rested.ts";
import { repositoryChecks } from "./repository-checks.ts";
import { statusWriter } from "./status-writer.ts";
import { watchConfiguration } from "./watched-configuration.ts";
import type { WorkDirectory } from "./work-directory.ts";

export interface ConfigurationOptions {
  readonly api: Api;
  readonly log: Log;
  readonly watchdog: Watchdog;
  readonly names: ControllerNames;
  /** The reporting instance of events. */
  readonly pod: string;
  readonly work: Pick<WorkDirectory, "home" | "places">;
  /** The environment of this process, whose proxies git is given. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly settings: JournalSettings;
  /** The pause between two discoveries, in ms. */
  readonly discoveryRefresh: number;
  /** False: the objects are only validated. */
  readonly ingests: boolean;
  /** The namespaces whose objects count. Default: all. */
  readonly namespaces?: readonly string[];
  readonly onWanted: (wanted: Wanted) => void;
  /** Whether this replica writes the status of the objects of a branch; undefined: of objects without a branch. */
  readonly tells: (branch: string | undefined) => boolean;
  readonly count: (what: "discovery errors" | "ownership conflicts") => void;
}

export interface Configuration {
  /** Whether it is known what is wanted. */
  readonly isSynced: () => boolean;
  readonly synced: Promise<void>;
  /** Tells what became of a destination, by its name. */
  readonly report: (destination: string, report: DestinationReport) => void;
  /** Tells whether the repository of a branch, by the key of the branch, can be used with its credentials. */
  readonly reportRepository: (branchKey: string, readiness: Readiness) => void;
  /** Records an event on the object that stands for a destination, by its name. */
  readonly record: (destination: string, event: StatusEvent) => void;
  /** Counts the objects that are not Ready, of those whose status this replica writes. */
  readonly notReady: () => readonly NotReady[];
  /** Called when this replica may have to tell of other objects than before. */
  readonly shared: () => void;
  readonly stop: () => Promise<void>;
}

/** The least time between two events of pushes to a destination, in ms. */
const PUSHED_INTERVAL = 60_000;

const IMPLICIT = "GitRepoConfig ";

/**
 * Guarantees: nothing is wanted before all objects of the four kinds and all namespaces were listed, and the API server has said what
 *             it serves; what cannot be read any more stays as it was known.
 */
export const startConfiguration = (options: ConfigurationOptions): Configuration => {
  const { api, log, watchdog, names, pod, work, env, settings, ingests, onWanted, tells, count } = options;
  let resolution: Resolution | undefined;
  const reports = new Map<string, DestinationReport>();
  /** Maps the keys of branches to why their repositories cannot be used, as their workers say. */
  const failing = new Map<string, Readiness>();
  /** Maps destinations to the keys of the branches to which they were written last. */
  const writers = new Map<string, string>();
  const conflicts = new Set<string>();
  const pushed = new Map<string, DestinationReport["pushed"]>();
  const synced = Promise.withResolvers<void>();
  let told: ReadonlyMap<string, Told> = new Map();
  let refused: ReadonlySet<string> = new Set();
  /** Maps destinations to the places of their markers. */
  let owned: ReadonlyMap<string, string> = new Map();
  let isStopped = false;

  const configsOf = (branchKey: string): ReadonlySet<string> => {
    const destinations = resolution?.wanted.branches.get(branchKey)?.destinations ?? [];
    return new Set(
      destinations.map(({ destination: { config } }) => `${config.metadata.namespace}/${config.metadata.name}`),
    );
  };

  const repositories = (): ReadonlyMap<string, Readiness> =>
    new Map([
      ...checks.known(),
      ...[...failing].flatMap(([key, readiness]) => [...configsOf(key)].map((config) => [config, readiness] as const)),
    ]);

  const tellNow = (): void => {
    if (resolution === undefined || isStopped) return;
    const branches = branchesOf(resolution);
    const all = readinessOf(resolution, { repositories: repositories(), reports, ingests });
    told = new Map([...all].filter(([id]) => tells(branches.get(id))));
    status.tell(told);
  };
  const telling = rested("no status is written", log, tellNow);

  const countConflicts = ({ destinations, implicit }: Resolution): void => {
    const placed = [
      ...implicit,
      ...[...destinations].flatMap(([name, one]) => (E.isRight(one) ? [[name, one.right] as const] : [])),
    ];
    const blocked = new Set(placed.flatMap(([name, one]) => (one.blocked === undefined ? [] : [name])));
    for (const name of conflicts) if (!blocked.has(name)) conflicts.delete(name);
    for (const name of blocked) {
      if (conflicts.has(name)) continue;
      conflicts.add(name);
      if (tells(undefined)) count("ownership conflicts");
    }
  };

  /** Forgets reports of destinations that another worker, or another replica, writes now: it has said nothing yet. */
  const forget = ({ wanted: { branches }, destinations, implicit }: Resolution): void => {
    for (const [key, { destinations: all }] of branches)
      for (const { destination } of all) {
        if ((writers.get(destination.name) ?? key) !== key || !tells(key)) reports.delete(destination.name);
        writers.set(destination.name, key);
      }
    for (const name of writers.keys())
      if (!destinations.has(name) && !implicit.has(name)) {
        writers.delete(name);
        reports.delete(name);
        pushed.delete(name);
      }
    for (const key of failing.keys()) if (!branches.has(key) || !tells(key)) failing.delete(key);
  };

  const ownedNow = (): ReadonlyMap<string, string> =>
    new Map([...reports].flatMap(([name, { owns }]) => (owns === undefined ? [] : [[name, owns] as const])));

  const resolveNow = (): void => {
    const state = isStopped ? undefined : watched.state();
    if (state === undefined) return;
    refused = refusedAmong(repositories());
    owned = ownedNow();
    resolution = resolved(state, settings, { refusedConfigs: refused, owned });
    forget(resolution);
    countConflicts(resolution);
    checks.update(resolution.repositories);
    tellNow();
    onWanted(resolution.wanted);
    synced.resolve();
  };

  const resolving = rested("what is wanted in Git is not found out", log, resolveNow);

  /** Resolves anew when other repositories refuse access: that may decide whose a folder is. */
  const onRepositories = (): void => {
    const now = refusedAmong(repositories());
    if (now.size !== refused.size || [...now].some((one) => !refused.has(one))) resolving.soon();
    else telling.soon();
  };

  const record = (destination: string, event: StatusEvent): void =>
    destination.startsWith(IMPLICIT)
      ? status.record("GitRepoConfig", destination.slice(IMPLICIT.length), event)
      : status.record("GitDestination", destination, event);

  const tellOfPushes = throttle(PUSHED_INTERVAL, (destination) => {
    const report = reports.get(destination);
    if (report === undefined || isStopped) return;
    const event = pushedEvent(pushed.get(destination), report);
    pushed.set(destination, report.pushed);
    if (event !== undefined) record(destination, event);
  });

  const watched = watchConfiguration(api, {
    log,
    watchdog,
    ...(options.namespaces === undefined ? {} : { namespaces: options.namespaces }),
    discoveryRefresh: options.discoveryRefresh,
    onDiscoveryError: () => count("discovery errors"),
    onNews: resolving.soon,
    onSeen: (id) => status.look(id),
  });
  const status = statusWriter({ api, log, names, pod, object: watched.object });
  const checks = repositoryChecks({ api, log, work, env, onChecked: onRepositories });

  return {
    isSynced: () => resolution !== undefined,
    synced: synced.promise,
    record,
    notReady: () => notReadyOnes(told),
    shared: resolving.soon,
    report: (destination, report) => {
      const before = reports.get(destination);
      reports.set(destination, report);
      if (report.pushed.commits !== (before?.pushed.commits ?? 0)) tellOfPushes(destination);
      // The marker may decide whose a folder is.
      if (report.owns === owned.get(destination)) telling.soon();
      else resolving.soon();
    },
    reportRepository: (branchKey, readiness) => {
      if (isOfRepository(readiness)) failing.set(branchKey, readiness);
      else failing.delete(branchKey);
      const branch = resolution?.wanted.branches.get(branchKey)?.branch;
      if (readiness.type === "ready" && branch !== undefined)
        for (const config of configsOf(branchKey)) checks.used(config, branch);
      onRepositories();
    },
    stop: async () => {
      isStopped = true;
      resolving.stop();
      telling.stop();
      synced.resolve();
      await watched.stop();
      await checks.stop();
      await status.stop();
    },
  };
};
