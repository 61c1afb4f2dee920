// Parses the command-line flags that every controller has, and those of one.
import { parseArgs } from "node:util";
import type { LeasePlace } from "./leader-election/leader-lease.ts";
import { type LeaderTiming, timingProblem } from "./leader-election/leader-timing.ts";
import type { LogLevel } from "./process/log.ts";
import { type Readiness, READINESS } from "./process/readiness.ts";
import { isDnsLabel, isDnsSubdomain, LONGEST_TIMER, parseDuration } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";

export interface CommonFlags {
  readonly kubeconfig: string | undefined;
  readonly namespace: string;
  /** Undefined: all. */
  readonly watchNamespaces: readonly string[] | undefined;
  readonly concurrency: number;
  readonly httpPort: number;
  readonly readiness: Readiness;
  readonly metricsAuth: boolean;
  readonly writeTimeout: number;
  readonly requestDeadline: number;
  /** Undefined: no leader election; no other controller reconciles the same objects. */
  readonly leaderElection: { readonly place: LeasePlace; readonly timing: LeaderTiming } | undefined;
  readonly logLevel: LogLevel;
}

/** The flags of one controller beside those of all. */
export interface OwnFlags<A> {
  readonly options: Readonly<Record<string, { readonly type: "string"; readonly default?: string }>>;
  /** Left: what is wrong with them. */
  readonly read: (values: Readonly<Record<string, string | undefined>>) => E.Either<string, A>;
}

/** The help text of all flags, and what they are without being set. */
export interface FlagDefaults {
  readonly help: string;
  readonly namespace: string;
  /** In seconds. */
  readonly writeTimeout: number;
  readonly leaseName: string;
  /** In seconds. */
  readonly leaderElection: {
    readonly leaseDuration: number;
    readonly renewDeadline: number;
    readonly retryPeriod: number;
  };
}

/** Wrong flags, or the help text. */
export interface FlagProblem {
  /** Whether it was requested. */
  readonly help: boolean;
  readonly text: string;
}

const LEVELS: readonly string[] = ["debug", "info", "warn", "error"] satisfies readonly LogLevel[];

/** In place of names: every namespace. */
const ALL = "*";

/** https://pkg.go.dev/time#ParseDuration */
const milliseconds = (text: string): number | undefined => {
  const value = parseDuration(text);
  return value !== undefined && value > 0 && value <= LONGEST_TIMER * 1000 ? value : undefined;
};

export const integer = (text: string, least: number, most: number): number | undefined => {
  const value = /^\d+$/u.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
};

const notDuration = (flag: string, example: string): E.Either<FlagProblem, never> =>
  wrong(`${flag} takes a duration such as ${example}, of at most ${LONGEST_TIMER}s`);

const notNamespace = (flag: string): E.Either<FlagProblem, never> => wrong(`${flag} takes the name of a namespace`);

const wrong = (text: string): E.Either<FlagProblem, never> => E.left({ help: false, text: `${text}; see --help` });

/** As with other components of Kubernetes, the flag alone means true. */
const spelledOut = (arg: string): string =>
  arg === "--leader-elect" || arg === "--metrics-auth" ? `${arg}=true` : arg;

/** Left: what is wrong with the flags, or the help text, if it was requested. */
export const parseFlags = <A>(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { options, read }: OwnFlags<A>,
  defaults: FlagDefaults,
): E.Either<FlagProblem, CommonFlags & A> => {
  try {
    const { values } = parseArgs({
      args: args.map(spelledOut),
      options: {
        kubeconfig: { type: "string" },
        namespace: { type: "string", default: env["POD_NAMESPACE"] ?? defaults.namespace },
        "watch-namespace": { type: "string", default: ALL },
        "max-concurrent-reconciles": { type: "string", default: "16" },
        "http-port": { type: "string", default: "8080" },
        readiness: { type: "string", default: "any" },
        "metrics-auth": { type: "string", default: "false" },
        "write-timeout": { type: "string", default: `${defaults.writeTimeout}s` },
        "request-deadline": { type: "string", default: "15s" },
        "leader-elect": { type: "string", default: "true" },
        "leader-elect-lease-duration": { type: "string", default: `${defaults.leaderElection.leaseDuration}s` },
        "leader-elect-renew-deadline": { type: "string", default: `${defaults.leaderElection.renewDeadline}s` },
        "leader-elect-retry-period": { type: "string", default: `${defaults.leaderElection.retryPeriod}s` },
        "leader-elect-resource-name": { type: "string", default: defaults.leaseName },
        "leader-elect-resource-namespace": { type: "string" },
        "log-level": { type: "string", default: "info" },
        help: { type: "boolean", default: false },
        ...options,
      },
    });
    const { help, ...texts } = values;
    if (help) return E.left({ help: true, text: defaults.help });
    const { kubeconfig, namespace, "watch-namespace": watched } = values;
    const leaseName = values["leader-elect-resource-name"];
    const leaseNamespace = values["leader-elect-resource-namespace"] ?? namespace;
    const concurrency = integer(values["max-concurrent-reconciles"], 1, 1000);
    const httpPort = integer(values["http-port"], 0, 65_535);
    const writeTimeout = milliseconds(values["write-timeout"]);
    const requestDeadline = milliseconds(values["request-deadline"]);
    const elect = values["leader-elect"];
    const leaseDuration = milliseconds(values["leader-elect-lease-duration"]);
    const renewDeadline = milliseconds(values["leader-elect-renew-deadline"]);
    const retryPeriod = milliseconds(values["leader-elect-retry-period"]);
    const level = values["log-level"];
    const readiness = READINESS.find((mode) => mode === values.readiness);
    if (kubeconfig === "") return wrong("--kubeconfig takes a file");
    if (!isDnsLabel(namespace)) return notNamespace("--namespace (or $POD_NAMESPACE)");
    const watchNamespaces = watched === ALL ? undefined : [...new Set(watched.split(","))];
    if (watchNamespaces?.every(isDnsLabel) === false)
      return wrong("--watch-namespace takes names of namespaces, separated by commas, or *");
    if (concurrency === undefined) return wrong("--max-concurrent-reconciles takes a number from 1 to 1000");
    if (httpPort === undefined) return wrong("--http-port takes a port number");
    if (readiness === undefined) return wrong("--readiness takes any or leader");
    const metricsAuth = values["metrics-auth"];
    if (metricsAuth !== "true" && metricsAuth !== "false") return wrong("--metrics-auth takes true or false");
    const own = read(texts);
    if (E.isLeft(own)) return wrong(own.left);
    if (writeTimeout === undefined) return notDuration("--write-timeout", "5s");
    if (requestDeadline === undefined) return notDuration("--request-deadline", "15s");
    if (requestDeadline <= writeTimeout) return wrong("--request-deadline must be longer than --write-timeout");
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
      ...own.right,
      kubeconfig,
      namespace,
      watchNamespaces,
      concurrency,
      httpPort,
      readiness,
      metricsAuth: metricsAuth === "true",
      writeTimeout,
      requestDeadline,
      leaderElection: elect === "true" ? { place: { namespace: leaseNamespace, name: leaseName }, timing } : undefined,
      logLevel: level as LogLevel,
    });
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
};
