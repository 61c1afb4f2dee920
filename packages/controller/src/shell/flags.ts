import { parseArgs } from "node:util";
import * as E from "fp-ts/lib/Either.js";
import type { LogLevel } from "./log.ts";

export interface Flags {
  readonly kubeconfig: string | undefined;
  readonly namespace: string;
  readonly watchNamespace: string | undefined;
  readonly concurrency: number;
  readonly httpPort: number;
  readonly writeTimeout: number;
  readonly requestDeadline: number;
  readonly logLevel: LogLevel;
}

const LEVELS: readonly string[] = ["debug", "info", "warn", "error"] satisfies readonly LogLevel[];

export const HELP = `Usage: janus-controller [flags]

Applies Transactions: all of their changes, or none.

Flags:
  --kubeconfig <file>                 Kubeconfig to use. Default: KUBECONFIG, else the Pod's ServiceAccount.
  --namespace <name>                  The controller's namespace, where the locks of cluster-scoped targets live.
                                      Default: $POD_NAMESPACE, else janus-system.
  --watch-namespace <name>            Only Transactions of this namespace. Default: of all.
  --max-concurrent-reconciles <n>     Transactions worked on at the same time. Default: 16.
  --http-port <port>                  Port of /healthz, /readyz and /metrics; 0 takes a free one. Default: 8080.
  --write-timeout <duration>          After this time the API server gives up a write. Default: 5s.
  --request-deadline <duration>       After this time a request's connection is closed. Default: 15s.
  --log-level <level>                 debug, info, warn or error. Default: info.
  --help                              Shows this text.
`;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

const milliseconds = (text: string): number | undefined => {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m)$/u.exec(text);
  const value = Number(match?.[1]) * (UNITS[match?.[2] ?? ""] ?? Number.NaN);
  return value > 0 ? value : undefined;
};

const integer = (text: string, least: number, most: number): number | undefined => {
  const value = Number(text);
  return Number.isInteger(value) && value >= least && value <= most ? value : undefined;
};

const wrong = (text: string): ReturnType<typeof parseFlags> => E.left({ help: false, text: `${text}; see --help` });

/** Left: what is wrong with the flags; or the help text, if that was asked for. */
export const parseFlags = (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): E.Either<{ readonly help: boolean; readonly text: string }, Flags> => {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        kubeconfig: { type: "string" },
        namespace: { type: "string", default: env["POD_NAMESPACE"] ?? "janus-system" },
        "watch-namespace": { type: "string" },
        "max-concurrent-reconciles": { type: "string", default: "16" },
        "http-port": { type: "string", default: "8080" },
        "write-timeout": { type: "string", default: "5s" },
        "request-deadline": { type: "string", default: "15s" },
        "log-level": { type: "string", default: "info" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return E.left({ help: true, text: HELP });
    const concurrency = integer(values["max-concurrent-reconciles"], 1, 1000);
    const httpPort = integer(values["http-port"], 0, 65_535);
    const writeTimeout = milliseconds(values["write-timeout"]);
    const requestDeadline = milliseconds(values["request-deadline"]);
    const level = values["log-level"];
    if (concurrency === undefined) return wrong("--max-concurrent-reconciles takes a number from 1 to 1000");
    if (httpPort === undefined) return wrong("--http-port takes a port number");
    if (writeTimeout === undefined) return wrong("--write-timeout takes a duration such as 5s");
    if (requestDeadline === undefined) return wrong("--request-deadline takes a duration such as 15s");
    if (requestDeadline <= writeTimeout) return wrong("--request-deadline must be longer than --write-timeout");
    if (!LEVELS.includes(level)) return wrong("--log-level takes debug, info, warn or error");
    return E.right({
      kubeconfig: values.kubeconfig,
      namespace: values.namespace,
      watchNamespace: values["watch-namespace"],
      concurrency,
      httpPort,
      writeTimeout,
      requestDeadline,
      logLevel: level as LogLevel,
    });
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
};
