// The entry point of the controller process: wires clients, leadership, metrics and the HTTP server.
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type Api, type Client, connect, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { Registry } from "prom-client";
import { MARGIN, RECOVERY_DELAY } from "../core/index.ts";
import {
  apiMetrics,
  serve,
  defect,
  jsonLog,
  metricsAuth,
  processMetrics,
  unready,
  watchdog as newWatchdog,
  leaderMark,
  leadership,
} from "@janus/runtime";
import { type Controller, controller } from "./controller.ts";
import { LEADER_LABEL } from "@janus/api";
import { parseFlags } from "./flags.ts";
import { FENCE_NAMES, CONTROLLER_NAMES } from "./names.ts";
import { version } from "./version.ts";
import { ASIDE_DEADLINE, CONNECTIONS, HTTP, STUCK_AFTER } from "./limits.ts";

const flags = parseFlags(process.argv.slice(2), process.env);
if (E.isLeft(flags)) {
  const { help, text } = flags.left;
  (help ? process.stdout : process.stderr).write(text.endsWith("\n") ? text : `${text}\n`);
  process.exit(help ? 0 : 2);
}
const {
  kubeconfig,
  namespace,
  watchNamespace,
  concurrency,
  httpPort,
  readiness,
  metricsAuth: isAuthAsked,
  sensitiveKinds,
  writeTimeout,
  requestDeadline,
  defaultTtl,
  leaderElection,
  logLevel,
} = flags.right;
const log = jsonLog(logLevel);
process.once("uncaughtException", (error) => {
  log("error", "internal error in Janus, exiting", defect(error));
  process.exit(1);
});

const config = loadConfig(process.env, kubeconfig);
if (E.isLeft(config)) {
  log("error", config.left);
  process.exit(1);
}

const registry = new Registry();
processMetrics(registry, CONTROLLER_NAMES, version);
const watchdog = newWatchdog(Math.max(STUCK_AFTER, 4 * requestDeadline));
const connectWith = (connections: number): Client =>
  connect(config.right, { writeTimeout, deadline: requestDeadline, connections });
const client = connectWith(CONNECTIONS.requests);
const counted = apiMetrics(registry, CONTROLLER_NAMES);
const api = counted(client);
// Over connections of their own: if requests of Transactions hang, neither leadership nor a lock is lost.
const electing = connectWith(CONNECTIONS.election);
const renewing = connectWith(CONNECTIONS.renewals);
const { POD_NAME: pod = hostname(), POD_NAMESPACE: podNamespace = namespace } = process.env;
// Unique to this process: another one with the same Pod name does not take the Lease for its own.
const identity = `${pod}_${randomUUID()}`;
const election =
  leaderElection &&
  leadership(counted(electing), {
    ...leaderElection,
    names: CONTROLLER_NAMES,
    fence: FENCE_NAMES,
    identity,
    deadline: requestDeadline,
    log,
    watchdog,
  });
// Connections of their own, too: requests for metrics delay no Transaction, and the label is removed also when the others
// are closed.
const beside = { deadline: ASIDE_DEADLINE, writeTimeout: ASIDE_DEADLINE / 2, connections: CONNECTIONS.aside };
const aside = counted(connect(config.right, beside));
const mark =
  election === undefined || readiness === "leader" || process.env["POD_NAME"] === undefined
    ? undefined
    : leaderMark(aside, { namespace: podNamespace, name: pod }, LEADER_LABEL, log);

let janus: Controller | undefined;
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
          synced: election === undefined || janus !== undefined ? (janus?.isSynced() ?? false) : undefined,
          standsBy: (election?.hasLooked() ?? true) && (mark?.isTried() ?? true),
        },
        CONTROLLER_NAMES,
      ),
    metrics: async () => {
      const parts = [registry, election?.registry, janus?.registry].filter((part) => part !== undefined);
      return (await Promise.all(parts.map((part) => part.metrics()))).join("\n");
    },
    ...(isAuthAsked ? { maySeeMetrics: metricsAuth(aside, log) } : {}),
    status: () => election?.status() ?? { leader: true, identity },
    leaderElsewhere: () => {
      const status = election?.status();
      return status === undefined || status.leader ? undefined : status.leader_identity || "not elected yet";
    },
    retryAfter: Math.ceil((leaderElection?.timing.retryPeriod ?? 0) / 1000),
    instead: "create Transactions with the API server",
  },
  HTTP,
).catch((error: unknown) => {
  log("error", `cannot listen on port ${httpPort}: ${String(error)}; choose another --http-port`);
  process.exit(1);
});
log("info", "started", { http: server.address(), namespace, identity });

/** At once, with a reset: afterwards no request of ours is in flight. */
const disconnect = (): Promise<unknown> => Promise.all([client, electing, renewing].map((one) => one.close()));

/** In this order: another controller leads only when no request of ours is in flight. */
const stop = async (): Promise<void> => {
  isStopping = true;
  log("info", "stopping: finishing the active requests");
  await janus?.stop();
  if (election !== undefined) log("info", "leadership released", { ended: await election.leave() });
  await disconnect();
  await mark?.end();
  process.exit(0);
};
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());

const work = async (inTerm: (api: Api) => Api): Promise<void> => {
  janus = controller(inTerm(api), {
    renewals: inTerm(counted(renewing)),
    settings: {
      controllerNamespace: namespace,
      writeTimeout,
      margin: MARGIN,
      recoveryDelay: RECOVERY_DELAY,
      sensitiveKinds,
      ...(defaultTtl === undefined ? {} : { defaultTtl }),
    },
    ...(watchNamespace === undefined ? {} : { watchNamespace }),
    concurrency,
    identity: pod,
    log,
    watchdog,
  });
  mark?.set(true);
  await janus.synced;
  log("info", "watching Transactions", { server: config.right.server });
};

if (election === undefined) await work((api) => api);
else {
  const elected = await election.elected;
  if (elected !== undefined && !isStopping) void work(elected);
  const because = await election.over;
  // Connections are reset, so that no request of this term is in flight. After a restart this process is a standby.
  if (!isStopping) {
    log("error", "leader election lost, exiting", { because });
    await disconnect();
    await mark?.end();
    process.exit(1);
  }
}
