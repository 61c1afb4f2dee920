import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { type Api, connect, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { type Controller, controller } from "./controller.ts";
import { parseFlags } from "./flags.ts";
import { serve } from "./http.ts";
import { leadership } from "./leadership.ts";
import { jsonLog } from "./log.ts";

/** How long after the write timeout a change that cannot be seen counts as not made, in ms. */
const MARGIN = 1000;
/** When a Failed Transaction is first tried again, in ms. */
const RECOVERY_DELAY = 30_000;

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
  writeTimeout,
  requestDeadline,
  leaderElection,
  logLevel,
} = flags.right;
const log = jsonLog(logLevel);

const config = loadConfig(process.env, kubeconfig);
if (E.isLeft(config)) {
  log("error", config.left);
  process.exit(1);
}

const client = connect(config.right, { writeTimeout, deadline: requestDeadline });
const pod = process.env["POD_NAME"] ?? hostname();
// Of this process, and of no other one, before or after: the leader's Lease is never mistaken for ours.
const identity = `${pod}_${randomUUID()}`;
const election = leaderElection && leadership(client, { ...leaderElection, identity, deadline: requestDeadline, log });

let janus: Controller | undefined;
let isReady = false;
let isStopping = false;

const server = await serve(httpPort, {
  healthy: () => true,
  ready: () => !isStopping && (election?.hasLooked() ?? isReady),
  metrics: async () =>
    `${(await election?.registry.metrics()) ?? ""}\n${(await janus?.metrics.registry.metrics()) ?? ""}`,
  status: () => election?.status() ?? { leader: true, identity },
}).catch((error: unknown) => {
  log("error", `cannot listen on port ${httpPort}: ${String(error)}; choose another --http-port`);
  process.exit(1);
});
log("info", "started", { http: server.address(), namespace, identity });

/** In this order: another controller leads only when nothing of ours is under way any more. */
const stop = async (): Promise<void> => {
  isStopping = true;
  log("info", "stopping: finishing the requests under way");
  await janus?.stop();
  if (election !== undefined) log("info", "the leadership", { ended: await election.leave() });
  await client.close();
  process.exit(0);
};
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());

const work = async (api: Api): Promise<void> => {
  janus = controller(api, {
    settings: { controllerNamespace: namespace, writeTimeout, margin: MARGIN, recoveryDelay: RECOVERY_DELAY },
    ...(watchNamespace === undefined ? {} : { watchNamespace }),
    concurrency,
    identity: pod,
    log,
  });
  await janus.synced;
  isReady = true;
  log("info", "watching Transactions", { server: config.right.server });
};

if (election === undefined) await work(client);
else {
  const api = await election.elected;
  if (api !== undefined && !isStopping) void work(api);
  const because = await election.over;
  // Connections are reset, so that nothing of this term is under way any more. Who starts us again gets a standby.
  if (!isStopping) {
    log("error", "this process leads no more, and ends", { because });
    await client.close();
    process.exit(1);
  }
}
