// Starts the work of a replica: from the objects of the cluster to commits in the branches of all repositories.
import type { Api } from "@janus/kube";
import { transactions as transactionResource } from "@janus/api";
import { defect, newWorkQueue, reportWatchFailure, wall, type Work, type WorkContext } from "@janus/runtime/parts";
import { Registry } from "prom-client";
import * as E from "fp-ts/lib/Either.js";
import { secretsOf } from "../core/age-keys.ts";
import type { JournaledBranch, Wanted } from "../core/journaled-branch.ts";
import type { SecretFiles } from "../core/kept-object.ts";
import type { Authors } from "./attribution.ts";
import { branchIn } from "./branch.ts";
import { type BranchLease, branchLease } from "./branch-lease.ts";
import { type BranchWorker, branchWorker } from "./branch-worker.ts";
import { type Configuration, startConfiguration } from "./configuration.ts";
import { digestKey } from "./digest-key.ts";
import { fileTexts } from "./file-texts.ts";
import type { Flags } from "./flags.ts";
import { clusterUid } from "./installation.ts";
import type { Following } from "./follow-entries.ts";
import { startMembers } from "./members.ts";
import { journalMetrics } from "./metrics.ts";
import { releaseHeap } from "./release-heap.ts";
import { NAMES } from "./names.ts";
import { objectStreams } from "./object-streams.ts";
import type { ServedWebhook } from "./serve-webhook.ts";
import { fileText } from "./sops.ts";
import { transactionStream } from "./transaction-stream.ts";
import { storedTexts } from "./stored-texts.ts";
import type { WorkDirectory } from "./work-directory.ts";

export interface Surroundings {
  readonly work: WorkDirectory;
  /** The holder of the Leases of branches. */
  readonly identity: string;
  /** The environment of this process, whose path of programs and proxies git is given. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Finds the authors of changes that a watch has shown. */
  readonly authors: Pick<Authors, "authorOf" | "awaitedAuthorOf" | "registry">;
  /** Serves the webhook while this replica leads. */
  readonly serve?: (api: Api) => ServedWebhook;
  /** Follows what the leader has seen, where replicas share the branches, until this one leads. */
  readonly follow?: () => Following;
}

export type JournalFlags = Pick<
  Flags,
  | "namespace"
  | "watchNamespaces"
  | "settings"
  | "ingests"
  | "discoveryRefresh"
  | "workers"
  | "shards"
  | "leases"
  | "largestClone"
>;

interface Running {
  readonly worker: BranchWorker;
  readonly lease: BranchLease;
  readonly abort: AbortController;
}

/** The pauses after work that threw, which is a defect, in ms. */
const BACKOFF = { first: 1_000, cap: 30_000 };
/** The pause before the key of the digests is asked for again, in ms. */
const KEY_PAUSE = 2_000;

const CONTROLLER_NAME = "janus-git-journal";

const selectedOf = ({ branches }: Wanted) =>
  [...branches.values()].flatMap(({ destinations }) => destinations.flatMap(({ selected }) => selected));

const isEqual = (some: Wanted["branches"] | undefined, others: Wanted["branches"]): boolean =>
  some?.size === others.size && [...others.keys()].every((key) => some.has(key));

/** Writes what is live to the wanted branches: to all, or, where replicas share them, to its own. */
export const startWork = (
  { api, renewals, pod, log, watchdog }: Pick<WorkContext, "api" | "renewals" | "pod" | "log" | "watchdog">,
  flags: JournalFlags,
  { work, identity, env, authors, serve, follow }: Surroundings,
): Work => {
  const stopping = new AbortController();
  const running = new Map<string, Running>();
  const metrics = journalMetrics({
    states: () => [...running.values()].map(({ worker }) => worker.state()),
    notReady: () => configuration?.notReady() ?? [],
    now: wall,
  });
  const texts = fileTexts(fileText);
  const synced = Promise.withResolvers<void>();
  /** The branches of all replicas, and those of this one. */
  let all: Wanted | undefined;
  let wanted: Wanted | undefined;
  let isLeading = false;
  let webhook: ServedWebhook | undefined;
  let digests: Uint8Array | undefined;
  let configuration: Configuration | undefined;
  let keyTimer: NodeJS.Timeout | undefined;

  const repositoryOf = (key: string): string => {
    const branch = wanted?.branches.get(key);
    return branch === undefined ? key : `${branch.namespace}\n${branch.repository.key}`;
  };

  const members = flags.shards
    ? startMembers({
        api,
        renewals,
        namespace: flags.namespace,
        identity,
        timing: flags.leases,
        log,
        watchdog,
        onChange: () => {
          if (all !== undefined && !isEqual(wanted?.branches, ownOf(all))) configuration?.shared();
        },
      })
    : undefined;
  const following = flags.shards ? follow?.() : undefined;
  const isOwn = (branch: string): boolean => members?.owns(branch) ?? true;
  const ownOf = ({ branches }: Wanted): Wanted["branches"] => new Map([...branches].filter(([key]) => isOwn(key)));

  const queue = newWorkQueue({
    concurrency: flags.workers.global,
    // Servers of one namespace that do not answer keep no other namespace waiting, not even where both name the same.
    groupOf: (key) => wanted?.branches.get(key)?.namespace ?? key,
    shared: { of: repositoryOf, most: flags.workers.perRepository },
    backoff: BACKOFF,
    observe: (event) => {
      if (event.type === "threw")
        log("error", "internal error in the worker of a branch", { branch: event.key, ...defect(event.error) });
    },
    work: async (key) => running.get(key)?.worker.work() ?? { type: "done" },
  });

  /** The way to write Secrets: none before the key is known, since without digests nobody could tell whether one has changed. */
  const secretFilesOf = (branch: string, name: string): SecretFiles => {
    const one = wanted?.branches.get(branch)?.destinations.find(({ destination }) => destination.name === name);
    return digests === undefined
      ? { key: new Uint8Array(), recipients: undefined }
      : secretsOf(digests, one?.destination.ageRecipients).secrets;
  };

  const objectCame = releaseHeap();
  const streams = objectStreams({
    api,
    watchdog,
    texts,
    secretFilesOf,
    formatOf: (branch) => running.get(branch)?.worker.state().format ?? "sha1",
    tell: (branch, event) => running.get(branch)?.worker.tell(event),
    // The leader has an entry before there is the change.
    authorOf: (change) => (flags.shards && !isLeading ? authors.awaitedAuthorOf(change) : authors.authorOf(change)),
    onScanned: () => {
      metrics.scanned();
      objectCame();
    },
    onDefect: (error) => log("error", "internal error: an object is left as it is", defect(error)),
  });

  const tellAll = (event: Parameters<BranchWorker["tell"]>[0]): void => {
    for (const { worker } of running.values()) worker.tell(event);
  };

  const transactions = transactionStream(api, watchdog, {
    onChange: (transaction) => tellAll({ type: "transaction", transaction }),
    onGone: (uid) => tellAll({ type: "transactionGone", uid }),
    onKnown: () => tellAll({ type: "transactionsKnown" }),
    onError: reportWatchFailure(log, "Transactions", transactionResource),
  });

  const begin = (branch: JournaledBranch, uid: string, reports: Configuration): Running => {
    const { key, repository } = branch;
    const abort = new AbortController();
    const where = { url: repository.url, host: repository.host, port: repository.port, branch: branch.branch };
    const lease = branchLease(key, {
      api: renewals,
      namespace: flags.namespace,
      identity,
      timing: flags.leases,
      seen: () => members?.leaseOf(key),
      tell: (is) => running.get(key)?.worker.tell({ type: "lease", is }),
      onHeldByAnother: metrics.leaseNotAcquired,
    });
    const worker = branchWorker(branch, flags.settings.selection, {
      api,
      log,
      branch: branchIn(work, key, where, env, flags.largestClone),
      lease,
      streams,
      texts,
      stored: storedTexts(work, key, where, env),
      installation: { clusterUid: uid, namespace: flags.namespace, name: CONTROLLER_NAME, instance: identity },
      timing: { refresh: flags.discoveryRefresh, idle: flags.leases.leaseDuration },
      metrics,
      configuration: reports,
      signal: AbortSignal.any([abort.signal, stopping.signal]),
      wake: () => queue.add(key),
    });
    return { worker, lease, abort };
  };

  const end = async ({ abort, lease }: Running): Promise<void> => {
    abort.abort();
    await lease.release();
  };

  const want = (everything: Wanted, uid: string, reports: Configuration): void => {
    if (stopping.signal.aborted) return;
    all = everything;
    webhook?.select(selectedOf(everything));
    if (members?.isKnown() === false) return;
    const next = { ...everything, branches: ownOf(everything) };
    if (wanted === undefined) void work.keepOnly(new Set(next.branches.keys()));
    wanted = next;
    for (const [key, one] of running)
      if (!next.branches.has(key)) {
        running.delete(key);
        void end(one);
      }
    for (const branch of next.branches.values()) {
      const former = running.get(branch.key);
      const one = former ?? begin(branch, uid, reports);
      running.set(branch.key, one);
      const { gone, settings } = next;
      const { toCompare } = one.worker.state();
      one.worker.tell({ type: "wanted", branch, gone, settings });
      // Another selection may include what a Transaction changes.
      if (former === undefined || one.worker.state().toCompare !== toCompare)
        for (const transaction of transactions.all()) one.worker.tell({ type: "transaction", transaction });
      if (transactions.isKnown() && former === undefined) one.worker.tell({ type: "transactionsKnown" });
    }
    streams.want(next);
  };

  const readKey = async (): Promise<void> => {
    const key = await digestKey(api, flags.namespace);
    if (stopping.signal.aborted) return;
    if (E.isRight(key)) {
      digests = key.right;
      if (wanted !== undefined) streams.want(wanted);
      return;
    }
    log("warn", "Secrets are not written, since the key of their digests is missing; trying again", {
      error: key.left,
    });
    keyTimer = setTimeout(() => void readKey(), KEY_PAUSE);
  };

  const start = async (): Promise<void> => {
    const uid = await clusterUid(api, log, stopping.signal);
    if (flags.settings.selection.secrets && flags.ingests) await readKey();
    if (uid === undefined || stopping.signal.aborted) return synced.resolve();
    configuration = startConfiguration({
      api,
      log,
      watchdog,
      names: NAMES,
      pod,
      work,
      env,
      settings: flags.settings,
      discoveryRefresh: flags.discoveryRefresh,
      ingests: flags.ingests,
      ...(flags.watchNamespaces === undefined ? {} : { namespaces: flags.watchNamespaces }),
      onWanted: (next) => {
        if (configuration !== undefined && flags.ingests) want(next, uid, configuration);
      },
      tells: (branch) => (branch === undefined ? isLeading : isOwn(branch)),
      count: (what) => (what === "discovery errors" ? metrics.discoveryFailed() : metrics.ownershipConflict()),
    });
    await configuration.synced;
    synced.resolve();
  };
  const started = start();

  return {
    registry: Registry.merge([metrics.registry, authors.registry]),
    isSynced: () => (configuration?.isSynced() ?? false) && (members?.isKnown() ?? true),
    synced: synced.promise,
    lead: (inTerm) => {
      isLeading = true;
      void following?.stop();
      webhook = serve?.(inTerm);
      if (all !== undefined) webhook?.select(selectedOf(all));
      configuration?.shared();
    },
    stop: async () => {
      stopping.abort();
      clearTimeout(keyTimer);
      streams.stop();
      transactions.stop();
      await queue.drain();
      await Promise.all([...running.values()].map(({ lease }) => lease.release()));
      await Promise.all([members?.stop(), following?.stop()]);
      await configuration?.stop();
      await webhook?.stop();
      await started;
    },
  };
};
