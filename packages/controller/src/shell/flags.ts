// Parses the command-line flags of the controller.
import { parseArgs } from "node:util";
import {
  LEADER_ELECTION,
  LEADER_LABEL,
  LEADER_LEASE,
  parseDuration,
  POLICIES,
  SYSTEM_NAMESPACE,
  WRITE_TIMEOUT,
} from "@janus/api";
import {
  type LeaderTiming,
  type LeasePlace,
  timingProblem,
  type LogLevel,
  type Readiness,
  READINESS,
} from "@janus/runtime";
import { DNS_SUBDOMAIN, isDnsLabel, isDnsSubdomain, LONGEST_TIMER, MAX_INT32 } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";

export interface Flags {
  readonly kubeconfig: string | undefined;
  readonly namespace: string;
  readonly watchNamespace: string | undefined;
  readonly concurrency: number;
  readonly httpPort: number;
  readonly readiness: Readiness;
  readonly metricsAuth: boolean;
  /** Kinds whose values no render shows, as `Kind` or `Kind.group`. */
  readonly sensitiveKinds: readonly string[];
  readonly writeTimeout: number;
  readonly requestDeadline: number;
  /** In seconds. Undefined: finished Transactions without ttlSecondsAfterFinished are kept. */
  readonly defaultTtl: number | undefined;
  /** Undefined: no leader election; no other controller reconciles the same Transactions. */
  readonly leaderElection: { readonly place: LeasePlace; readonly timing: LeaderTiming } | undefined;
  readonly logLevel: LogLevel;
}

const LEVELS: readonly string[] = ["debug", "info", "warn", "error"] satisfies readonly LogLevel[];

export const HELP = `Usage: janus-controller [flags]

Applies Transactions atomically: all changes are applied, or all are rolled back.

Flags:
  --kubeconfig <file>                 Kubeconfig to use. Default: KUBECONFIG, else the Pod's ServiceAccount.
  --namespace <name>                  The controller's namespace, where the locks of cluster-scoped targets live.
                                      Default: $POD_NAMESPACE, else ${SYSTEM_NAMESPACE}.
  --watch-namespace <name>            Only Transactions of this namespace. Default: of all.
  --max-concurrent-reconciles <n>     Transactions reconciled at the same time. Default: 16.
  --http-port <port>                  Port of /healthz, /readyz, /status and /metrics; 0 takes a free one. Default: 8080.
  --readiness <any|leader>            Who is ready (/readyz). any: the leader and standbys that could take over; the leader
                                      marks its Pod ($POD_NAME) with the label ${LEADER_LABEL}. leader: only the
                                      leader, without a mark. Default: any.
  --metrics-auth[=false]              Require authentication (TokenReview) and authorization (SubjectAccessReview: get on
                                      the path /metrics) for /metrics. Default: false.
  --sensitive-kinds <list>            Kinds whose values status.render does not show, besides Secret: Kind.group (or Kind, in the
                                      core group), separated by commas. Default: none.
  --write-timeout <duration>          Timeout of a write on the API server. Default: ${WRITE_TIMEOUT}s.
  --request-deadline <duration>       Timeout of a request, after which its connection is closed. Default: 15s.
  --default-ttl-seconds-after-finished <n>
                                      Seconds after which finished Transactions are deleted that have no
                                      spec.ttlSecondsAfterFinished. Default: they are kept.
  --leader-elect[=false]              Elect a leader among several controllers; only the leader is active. Default: true.
  --leader-elect-lease-duration <d>   How long non-leaders wait after the last observed renewal before they acquire
                                      leadership. Default: ${LEADER_ELECTION.leaseDuration}s.
  --leader-elect-renew-deadline <d>   How long the leader retries a renewal before it gives up leadership. Default: ${LEADER_ELECTION.renewDeadline}s.
  --leader-elect-retry-period <d>     Time between attempts to acquire or renew leadership. Default: ${LEADER_ELECTION.retryPeriod}s.
  --leader-elect-resource-name <name> Name of the leader's Lease. Default: ${LEADER_LEASE}.
                                      The installed admission policy ${POLICIES.fence} reads the Lease of this name.
  --leader-elect-resource-namespace <name>
                                      Namespace of the leader's Lease. Default: that of --namespace.
  --log-level <level>                 debug, info, warn or error. Default: info.
  --help                              Shows this text.
`;

/** As in the spec of a Transaction: https://pkg.go.dev/time#ParseDuration */
const milliseconds = (text: string): number | undefined => {
  const value = parseDuration(text);
  return value !== undefined && value > 0 && value <= LONGEST_TIMER * 1000 ? value : undefined;
};

const integer = (text: string, least: number, most: number): number | undefined => {
  const value = /^\d+$/u.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
};

const isKind = new RegExp(`^[A-Za-z][-A-Za-z0-9]*([.]${DNS_SUBDOMAIN})?$`, "u");

const notDuration = (flag: string, example: string): ReturnType<typeof parseFlags> =>
  wrong(`${flag} takes a duration such as ${example}, of at most ${LONGEST_TIMER}s`);

const notNamespace = (flag: string): ReturnType<typeof parseFlags> => wrong(`${flag} takes the name of a namespace`);

const wrong = (text: string): ReturnType<typeof parseFlags> => E.left({ help: false, text: `${text}; see --help` });

/** As with other components of Kubernetes, the flag alone means true. */
const spelledOut = (arg: string): string =>
  arg === "--leader-elect" || arg === "--metrics-auth" ? `${arg}=true` : arg;

/** Left: what is wrong with the flags, or the help text, if it was requested. */
export const parseFlags = (
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): E.Either<{ readonly help: boolean; readonly text: string }, Flags> => {
  try {
    const { values } = parseArgs({
      args: args.map(spelledOut),
      options: {
        kubeconfig: { type: "string" },
        namespace: { type: "string", default: env["POD_NAMESPACE"] ?? SYSTEM_NAMESPACE },
        "watch-namespace": { type: "string" },
        "max-concurrent-reconciles": { type: "string", default: "16" },
        "http-port": { type: "string", default: "8080" },
        readiness: { type: "string", default: "any" },
        "metrics-auth": { type: "string", default: "false" },
        "sensitive-kinds": { type: "string", default: "" },
        "write-timeout": { type: "string", default: `${WRITE_TIMEOUT}s` },
        "request-deadline": { type: "string", default: "15s" },
        "default-ttl-seconds-after-finished": { type: "string" },
        "leader-elect": { type: "string", default: "true" },
        "leader-elect-lease-duration": { type: "string", default: `${LEADER_ELECTION.leaseDuration}s` },
        "leader-elect-renew-deadline": { type: "string", default: `${LEADER_ELECTION.renewDeadline}s` },
        "leader-elect-retry-period": { type: "string", default: `${LEADER_ELECTION.retryPeriod}s` },
        "leader-elect-resource-name": { type: "string", default: LEADER_LEASE },
        "leader-elect-resource-namespace": { type: "string" },
        "log-level": { type: "string", default: "info" },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return E.left({ help: true, text: HELP });
    const { kubeconfig, namespace, "watch-namespace": watchNamespace } = values;
    const leaseName = values["leader-elect-resource-name"];
    const leaseNamespace = values["leader-elect-resource-namespace"] ?? namespace;
    const concurrency = integer(values["max-concurrent-reconciles"], 1, 1000);
    const httpPort = integer(values["http-port"], 0, 65_535);
    const writeTimeout = milliseconds(values["write-timeout"]);
    const requestDeadline = milliseconds(values["request-deadline"]);
    const ttl = values["default-ttl-seconds-after-finished"];
    const defaultTtl = ttl === undefined ? undefined : integer(ttl, 0, MAX_INT32);
    const elect = values["leader-elect"];
    const leaseDuration = milliseconds(values["leader-elect-lease-duration"]);
    const renewDeadline = milliseconds(values["leader-elect-renew-deadline"]);
    const retryPeriod = milliseconds(values["leader-elect-retry-period"]);
    const level = values["log-level"];
    const readiness = READINESS.find((mode) => mode === values.readiness);
    if (kubeconfig === "") return wrong("--kubeconfig takes a file");
    if (!isDnsLabel(namespace)) return notNamespace("--namespace (or $POD_NAMESPACE)");
    if (watchNamespace !== undefined && !isDnsLabel(watchNamespace)) return notNamespace("--watch-namespace");
    if (concurrency === undefined) return wrong("--max-concurrent-reconciles takes a number from 1 to 1000");
    if (httpPort === undefined) return wrong("--http-port takes a port number");
    if (readiness === undefined) return wrong("--readiness takes any or leader");
    const metricsAuth = values["metrics-auth"];
    if (metricsAuth !== "true" && metricsAuth !== "false") return wrong("--metrics-auth takes true or false");
    const sensitiveKinds = values["sensitive-kinds"].split(",").filter((kind) => kind !== "");
    if (!sensitiveKinds.every((kind) => isKind.test(kind)))
      return wrong("--sensitive-kinds takes kinds such as SealedSecret.bitnami.com, separated by commas");
    if (writeTimeout === undefined) return notDuration("--write-timeout", "5s");
    if (requestDeadline === undefined) return notDuration("--request-deadline", "15s");
    if (requestDeadline <= writeTimeout) return wrong("--request-deadline must be longer than --write-timeout");
    if (ttl !== undefined && defaultTtl === undefined)
      return wrong(`--default-ttl-seconds-after-finished takes a number of seconds from 0 to ${MAX_INT32}`);
    if (elect !== "true" && elect !== "false") return wrong("--leader-elect takes true or false");
    if (leaseDuration === undefined) return notDuration("--leader-elect-lease-duration", "30s");
    if (renewDeadline === undefined) return notDuration("--leader-elect-renew-deadline", "20s");
    if (retryPeriod === undefined) return notDuration("--leader-elect-retry-period", "5s");
    if (!isDnsSubdomain(leaseName)) return wrong("--leader-elect-resource-name takes the name of a Lease");
    if (!isDnsLabel(leaseNamespace)) return notNamespace("--leader-elect-resource-namespace");
    const timing = { leaseDuration, renewDeadline, retryPeriod, writeTimeout };
    const problem = elect === "true" ? timingProblem(timing) : undefined;
    if (problem !== undefined) return wrong(`leader election: ${problem}`);
    if (!LEVELS.includes(level)) return wrong("--log-level takes debug, info, warn or error");
    return E.right({
      kubeconfig,
      namespace,
      watchNamespace,
      concurrency,
      httpPort,
      readiness,
      metricsAuth: metricsAuth === "true",
      sensitiveKinds,
      writeTimeout,
      requestDeadline,
      defaultTtl,
      leaderElection: elect === "true" ? { place: { namespace: leaseNamespace, name: leaseName }, timing } : undefined,
      logLevel: level as LogLevel,
    });
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
};
