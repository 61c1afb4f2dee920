// Runs a controller as a process, with the flags, the leader election, the metrics and the loop of the runtime.
import * as E from "fp-ts/lib/Either.js";
import { type CommonFlags, type FlagProblem, parseFlags } from "./flags.ts";
import { flagHelp, helpText } from "./flags-help.ts";
import type { HttpLimits } from "./http/server.ts";
import { runProcess } from "./run-process.ts";
import type { RunnableController } from "./runnable-controller.ts";
import { namesFor, type Reconciled, startWork } from "./start-work.ts";

/** Flags of one controller, beside those that all have. Each takes a value. */
export interface ControllerFlags<Own extends object> {
  /** By name, without `--`. */
  readonly options: Readonly<Record<string, { readonly help: string; readonly default?: string }>>;
  /** Reads their values; a flag that was not given, and has no default, is undefined. */
  readonly read: (
    values: Readonly<Record<string, string | undefined>>,
  ) => { readonly ok: true; readonly value: Own } | { readonly ok: false; readonly error: string };
}

export interface ControllerOptions<Memory, Effect, Happened, Own extends object = object>
  extends Omit<Reconciled<Memory, Effect, Happened>, "controller"> {
  /** The name of the command and of the Lease: a DNS label, such as `label-keeper`. */
  readonly name: string;
  /** The purpose of it, in a sentence, for `--help`. */
  readonly about: string;
  /** What `--version` prints. */
  readonly version: string;
  /** The controller, or how it follows from the flags. */
  readonly controller:
    | RunnableController<Memory, Effect, Happened>
    | ((flags: CommonFlags & Own) => RunnableController<Memory, Effect, Happened>);
  /** Default: none but those that every controller has. */
  readonly flags?: ControllerFlags<Own>;
  /** The namespace where it runs, and where its Lease is. Default: $POD_NAMESPACE, else `default`. */
  readonly namespace?: string;
}

const LIMITS = {
  http: { connections: 256, headerBytes: 8192, arrival: 3000, check: 500 } satisfies HttpLimits,
  connections: { requests: 13, renewals: 1, election: 4, aside: 4 },
  stuckAfter: 60_000,
  asideDeadline: 2000,
};

const LEADER_ELECTION = { leaseDuration: 30, renewDeadline: 20, retryPeriod: 5 };
const WRITE_TIMEOUT = 5;

/** A DNS label that the names of metrics can begin with. The Lease and the leader's label have it in their names, too. */
const NAME = /^[a-z]([-a-z0-9]{0,48}[a-z0-9])?$/u;

const problem = (text: string): E.Either<FlagProblem, never> => E.left({ help: false, text });

/** What the process is started with, or why it is not. */
export const flagsOf = <Memory, Effect, Happened, Own extends object>(
  { name, about, version, resource, flags, namespace = "default" }: ControllerOptions<Memory, Effect, Happened, Own>,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): E.Either<FlagProblem, CommonFlags & Own> => {
  if (!NAME.test(name))
    return problem(`a controller cannot have the name "${name}": only one like label-keeper, of at most 50 characters`);
  if (args.includes("--version")) return E.left({ help: true, text: version });
  const defaults = {
    namespace,
    writeTimeout: WRITE_TIMEOUT,
    leaseName: `${name}-leader`,
    leaderElection: LEADER_ELECTION,
  };
  const own = Object.entries(flags?.options ?? {});
  const help = helpText(defaults, {
    command: name,
    about,
    objects: namesFor({ name, resource }).objects,
    leaderLabel: `${name}/leader`,
    own: {
      "log-level": [
        ...own.map(([flag, { help: text, default: value }]) =>
          flagHelp(`--${flag} <value>`, `${text}${value === undefined ? "" : ` Default: ${value}.`}`),
        ),
        flagHelp("--version", "Prints the version."),
      ].join("\n"),
    },
  });
  const options = Object.fromEntries(
    own.map(([flag, { default: value }]) => [
      flag,
      { type: "string" as const, ...(value === undefined ? {} : { default: value }) },
    ]),
  );
  const parsed = parseFlags<Own>(
    args,
    env,
    {
      options,
      read: (values) => {
        const read = flags?.read(values) ?? { ok: true, value: {} as Own };
        return read.ok ? E.right(read.value) : E.left(read.error);
      },
    },
    { ...defaults, help },
  );
  return E.isRight(parsed) && parsed.right.watchNamespaces !== undefined && !resource.namespaced
    ? problem(`--watch-namespace cannot be set: ${resource.kind} is cluster-scoped`)
    : parsed;
};

/**
 * Runs a controller until it is told to stop, or its term is over; then the process exits. Its flags are those of every Kubernetes
 * controller (`--help` shows them), and its own.
 *
 * Guarantees: another controller leads only when no request of this process is in flight; and those of {@link Controller}.
 */
export const runController = <Memory, Effect, Happened, Own extends object = object>(
  options: ControllerOptions<Memory, Effect, Happened, Own>,
): Promise<void> => {
  const { name, version, resource, controller } = options;
  return runProcess(flagsOf(options, process.argv.slice(2), process.env), {
    names: namesFor(options),
    version,
    leaderLabel: `${name}/leader`,
    kinds: 1 + (options.watches ?? []).length,
    limits: LIMITS,
    instead: `change a ${resource.kind} with the API server`,
    start: (context, flags) =>
      startWork(
        { ...options, controller: typeof controller === "function" ? controller(flags) : controller },
        context,
        flags,
      ),
  });
};
