// The entry point of the controller process.
import { LEADER_LABEL } from "@janus/api";
import { packageVersion, runProcess } from "@janus/runtime/parts";
import { controller } from "./controller.ts";
import { parseFlags } from "./flags.ts";
import { ASIDE_DEADLINE, CONNECTIONS, HTTP, MARGIN, RECOVERY_DELAY, STUCK_AFTER } from "./limits.ts";
import { CONTROLLER_NAMES, FENCE_NAMES } from "./names.ts";

await runProcess(parseFlags(process.argv.slice(2), process.env), {
  names: CONTROLLER_NAMES,
  version: packageVersion(new URL("../../package.json", import.meta.url)),
  fence: FENCE_NAMES,
  leaderLabel: LEADER_LABEL,
  limits: { http: HTTP, connections: CONNECTIONS, stuckAfter: STUCK_AFTER, asideDeadline: ASIDE_DEADLINE },
  instead: "create Transactions with the API server",
  start: ({ api, renewals, pod, log, watchdog }, flags) => {
    const { namespace, watchNamespaces, concurrency, sensitiveKinds, writeTimeout, defaultTtl } = flags;
    return controller(api, {
      renewals,
      settings: {
        controllerNamespace: namespace,
        writeTimeout,
        margin: MARGIN,
        recoveryDelay: RECOVERY_DELAY,
        sensitiveKinds,
        ...(defaultTtl === undefined ? {} : { defaultTtl }),
      },
      ...(watchNamespaces === undefined ? {} : { watchNamespaces }),
      concurrency,
      identity: pod,
      log,
      watchdog,
    });
  },
});
