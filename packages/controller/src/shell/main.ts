import { hostname } from "node:os";
import { connect, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { controller } from "./controller.ts";
import { parseFlags } from "./flags.ts";
import { serve } from "./http.ts";
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
const { kubeconfig, namespace, watchNamespace, concurrency, httpPort, writeTimeout, requestDeadline, logLevel } =
  flags.right;
const log = jsonLog(logLevel);

const config = loadConfig(process.env, kubeconfig);
if (E.isLeft(config)) {
  log("error", config.left);
  process.exit(1);
}

const client = connect(config.right, { writeTimeout, deadline: requestDeadline });
const janus = controller(client, {
  settings: { controllerNamespace: namespace, writeTimeout, margin: MARGIN, recoveryDelay: RECOVERY_DELAY },
  ...(watchNamespace === undefined ? {} : { watchNamespace }),
  concurrency,
  identity: process.env["POD_NAME"] ?? hostname(),
  log,
});

let isReady = false;
const server = await serve(httpPort, { healthy: () => true, ready: () => isReady }, janus.metrics.registry).catch(
  (error: unknown) => {
    log("error", `cannot listen on port ${httpPort}: ${String(error)}; choose another --http-port`);
    process.exit(1);
  },
);
log("info", "started", { http: server.address(), namespace });

const stop = async (): Promise<void> => {
  isReady = false;
  log("info", "stopping: finishing the requests under way");
  await janus.stop();
  await client.close();
  process.exit(0);
};
process.once("SIGTERM", () => void stop());
process.once("SIGINT", () => void stop());

await janus.synced;
isReady = true;
log("info", "watching Transactions", { server: config.right.server });
