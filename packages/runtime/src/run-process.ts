// Runs a controller as a process: wires clients, leadership, metrics and the HTTP server, until a signal or the end of its term.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type Api, type Client, connect, loadConfig, type PodStreams } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { Registry } from "prom-client";
import type { CommonFlags, FlagProblem } from "./flags.ts";
import { metricsAuth } from "./http/metrics-auth.ts";
import { type HttpLimits, serve } from "./http/server.ts";
import type { FenceNames } from "./leadership/fence.ts";
import { leaderMark } from "./leadership/leader-label.ts";
import { leadership } from "./leadership/leadership.ts";
import type { ControllerNames } from "./process/controller-names.ts";
import { defect, jsonLog, type Log } from "./process/log.ts";
import { processMetrics } from "./process/process-metrics.ts";
import { unready } from "./process/readiness.ts";
import { type Watchdog, watchdog as newWatchdog } from "./process/watchdog.ts";
import { apiMetrics } from "./telemetry/api-metrics.ts";

/** The bounds of a process. */
export interface ProcessLimits {
  readonly http: HttpLimits;
  /** The most connections of each client. */
  readonly connections: {
    /** With a watch of each kind; each further namespace has its own. */
    readonly requests: number;
    /** Connections for what is held only for a time, such as locks: it waits for no other requests. */
    readonly renewals: number;
    readonly election: number;
    /** Connections for metrics, and the leader label. */
    readonly aside: number;
  };
  /** After so long without progress, in ms, a loop counts as stuck; longer where requests may take longer. */
  readonly stuckAfter: number;
  /** The deadline of requests that must not delay the exit of the process, in ms. */
  readonly asideDeadline: number;
}

/** The environment of the work. */
export interface WorkContext {
  readonly api: Api;
  /** The same API server, over connections of their own. */
  readonly renewals: Api;
  /** Logs of containers, and commands in them. */
  readonly streams: PodStreams;
  /** The name of the Pod, or of the host. */
  readonly pod: string;
  readonly log: Log;
  readonly watchdog: Watchdog;
}

/** The work of the leader, or of each replica. */
export interface Work {
  readonly registry: Registry;
  readonly isSynced: () => boolean;
  /** Resolves when all objects were listed. */
  readonly synced: Promise<void>;
  /** Does also what only the leader does, from now on; with an API server that ends with its term. */
  readonly lead?: (api: Api) => void;
  /** Resolves when the active work has ended; no more is started. */
  readonly stop: () => Promise<void>;
}

export interface ProcessOptions<Flags extends CommonFlags> {
  readonly names: ControllerNames;
  readonly version: string;
  /** Absent: nothing but the Lease keeps two leaders apart. */
  readonly fence?: FenceNames;
  /** The label of the leader's Pod. */
  readonly leaderLabel: string;
  /** How many kinds are watched. Default: 1. */
  readonly kinds?: number;
  readonly limits: ProcessLimits;
  /** How to do instead what no path of its port accepts, for messages. */
  readonly instead: string;
  /** Whether each replica works, and not the leader alone. Default: the leader. */
  readonly isShared?: (flags: Flags) => boolean;
  /** Starts the work. */
  readonly start: (context: WorkContext, flags: Flags) => Work;
}

/**
 * Runs a controller until it is told to stop, or its term is over; then the process exits.
 *
 * Guarantees: another controller leads only when no request of this process is in flight.
 */
export const runProcess = async <Flags extends CommonFlags>(
  flags: E.Either<FlagProblem, Flags>,
  options: ProcessOptions<Flags>,
): Promise<void> => {
  const { names, version, fence, leaderLabel, kinds = 1, limits, instead, isShared = () => false, start } = options;
  if (E.isLeft(flags)) {
    const { help, text } = flags.left;
    (help ? process.stdout : process.stderr).write(text.endsWith("\n") ? text : `${text}\n`);
    process.exit(help ? 0 : 2);
  }
  const {
    kubeconfig,
    namespace,
    watchNamespaces,
    httpPort,
    readiness,
    metricsAuth: isAuthAsked,
    writeTimeout,
    requestDeadline,
    leaderElection,
    logLevel,
  } = flags.right;
  const log = jsonLog(logLevel);
  process.once("uncaughtException", (error) => {
    log("error", `internal error in ${names.product}, exiting`, defect(error));
    process.exit(1);
  });

  const config = loadConfig(process.env, kubeconfig);
  if (E.isLeft(config)) {
    log("error", config.left);
    process.exit(1);
  }

  const registry = new Registry();
  processMetrics(registry, names, version);
  const watchdog = newWatchdog(Math.max(limits.stuckAfter, 4 * requestDeadline));
  const connectWith = (connections: number): Client =>
    connect(config.right, { writeTimeout, deadline: requestDeadline, connections });
  const client = connectWith(limits.connections.requests + kinds * ((watchNamespaces?.length ?? 1) - 1));
  const counted = apiMetrics(registry, names);
  const api = counted(client);
  // Over connections of their own: if other requests hang, neither leadership nor a lock is lost.
  const electing = connectWith(limits.connections.election);
  const renewing = connectWith(limits.connections.renewals);
  const { POD_NAME: pod = hostname(), POD_NAMESPACE: podNamespace = namespace } = process.env;
  // Unique to this process: another one with the same Pod name does not take the Lease for its own.
  const identity = `${pod}_${randomUUID()}`;
  const election =
    leaderElection &&
    leadership(counted(electing), {
      ...leaderElection,
      names,
      ...(fence === undefined ? {} : { fence }),
      identity,
      deadline: requestDeadline,
      log,
      watchdog,
    });
  // Connections of their own, too: requests for metrics delay no work, and the label is removed also when the others
  // are closed.
  const beside = {
    deadline: limits.asideDeadline,
    writeTimeout: limits.asideDeadline / 2,
    connections: limits.connections.aside,
  };
  const aside = counted(connect(config.right, beside));
  const mark =
    election === undefined || readiness === "leader" || process.env["POD_NAME"] === undefined
      ? undefined
      : leaderMark(aside, { namespace: podNamespace, name: pod }, leaderLabel, log);

  let work: Work | undefined;
  let isStopping = false;

  const server = await serve(
    httpPort,
    {
      stuck: () => {
        const stuck = watchdog.stuck();
        if (stuck.length > 0) log("error", "a loop is stuck", { stuck });
        return stuck;
      },
      unready: () =>
        unready(
          readiness,
          {
            stopping: isStopping,
            leads: election?.status().leader ?? true,
            synced: election === undefined || work !== undefined ? (work?.isSynced() ?? false) : undefined,
            standsBy: (election?.hasLooked() ?? true) && (mark?.isTried() ?? true),
          },
          names,
        ),
      metrics: async () => {
        const parts = [registry, election?.registry, work?.registry].filter((part) => part !== undefined);
        return (await Promise.all(parts.map((part) => part.metrics()))).join("\n");
      },
      ...(isAuthAsked ? { maySeeMetrics: metricsAuth(aside, log) } : {}),
      status: () => election?.status() ?? { leader: true, identity },
      leaderElsewhere: () => {
        const status = election?.status();
        return status === undefined || status.leader ? undefined : status.leader_identity || "not elected yet";
      },
      retryAfter: Math.ceil((leaderElection?.timing.retryPeriod ?? 0) / 1000),
      instead,
    },
    limits.http,
  ).catch((error: unknown) => {
    log("error", `cannot listen on port ${httpPort}: ${String(error)}; choose another --http-port`);
    process.exit(1);
  });
  log("info", "started", { http: server.address(), namespace, identity });

  /** Disconnects at once, with a reset: afterwards no request of ours is in flight. */
  const disconnect = (): Promise<unknown> => Promise.all([client, electing, renewing].map((one) => one.close()));

  /** Stops in this order: another controller leads only when no request of ours is in flight. */
  const stop = async (): Promise<void> => {
    isStopping = true;
    log("info", "stopping: finishing the active requests");
    await work?.stop();
    if (election !== undefined) log("info", "leadership released", { ended: await election.leave() });
    await disconnect();
    await mark?.end();
    process.exit(0);
  };
  process.once("SIGTERM", () => void stop());
  process.once("SIGINT", () => void stop());

  const begin = async (limited: (api: Api) => Api): Promise<void> => {
    work = start(
      { api: limited(api), renewals: limited(counted(renewing)), streams: client, pod, log, watchdog },
      flags.right,
    );
    await work.synced;
    if (!isStopping) log("info", `watching ${names.objects}`, { server: config.right.server });
  };

  const lead = (inTerm: (api: Api) => Api): void => {
    if (work === undefined) void begin(inTerm);
    work?.lead?.(inTerm(api));
    mark?.set(true);
  };

  if (election === undefined) lead((api) => api);
  else {
    if (isShared(flags.right)) void begin((api) => api);
    const elected = await election.elected;
    if (elected !== undefined && !isStopping) lead(elected);
    const because = await election.over;
    // Connections are reset, so that no request of this term is in flight. After a restart this process is a standby.
    if (!isStopping) {
      log("error", "leader election lost, exiting", { because });
      await disconnect();
      await mark?.end();
      process.exit(1);
    }
  }
};
