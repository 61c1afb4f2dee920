// The command-line flags of the Git journal: those of upstream, its own, and the help text of all.
import { SYSTEM_NAMESPACE } from "@janus/api";
import {
  type CommonFlags,
  type FlagProblem,
  flagHelp,
  helpText,
  integer,
  type LeaderTiming,
  type OwnFlags,
  parseFlags as parse,
  timingProblem,
} from "@janus/runtime/parts";
import { LONGEST_TIMER, parseDuration } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { GIT_JOURNAL_LEASE } from "../api/names.ts";
import { NUMBER_FLAGS, takesNumber } from "../api/number-flags.ts";
import { parseExclude } from "../core/selection.ts";
import type { JournalSettings } from "../core/wanted.ts";
import type { CertificateFiles } from "./certificate-files.ts";

interface OwnValues {
  readonly settings: JournalSettings;
  readonly ingests: boolean;
  /** The pause between two discoveries, and between two fetches of a branch, in ms. */
  readonly discoveryRefresh: number;
  readonly workers: { readonly global: number; readonly perRepository: number };
  /** Whether all replicas write, not the leader alone. */
  readonly shards: boolean;
  /** The timing of the Leases of branches, and of those of the replicas that share them. */
  readonly leases: LeaderTiming;
  readonly workDirectory: string;
  /** The most bytes that a clone may take. */
  readonly largestClone: number;
  readonly webhookPort: number;
  readonly webhookRules: "Selected" | "All";
  /** The files of the certificate; undefined: certificates are made here. */
  readonly certificates: CertificateFiles | undefined;
}

export type Flags = CommonFlags & OwnValues;

export const LEADER_LABEL = "janus.io/git-journal-leader";

const DEFAULTS = {
  namespace: SYSTEM_NAMESPACE,
  writeTimeout: 5,
  leaseName: GIT_JOURNAL_LEASE,
  leaderElection: { leaseDuration: 30, renewDeadline: 20, retryPeriod: 5 },
};

/** Flags of upstream that change nothing here: one port serves health and metrics, without a certificate. */
const ACCEPTED = [
  "metrics-bind-address",
  "metrics-cert-path",
  "metrics-cert-name",
  "metrics-cert-key",
  "health-probe-bind-address",
];
const ACCEPTED_SWITCHES = ["metrics-secure", "enable-http2", "enable-verbose-admission-logs"];

const HELP = helpText(DEFAULTS, {
  command: "janus-controller --git-journal",
  about: "Writes what is live in the cluster to Git: WatchRules select it, GitDestinations say where.",
  objects: "GitRepoConfigs, GitDestinations and WatchRules",
  watchNote: "ClusterWatchRules that refer there count, too. Objects are listed in all namespaces.",
  leaderLabel: LEADER_LABEL,
  own: {
    "metrics-auth": [
      flagHelp(
        "--enable-watch-ingestion[=false]",
        "Whether objects are watched and written. false: configuration is only validated.",
        "Default: true.",
      ),
      flagHelp(
        "--discovery-refresh <duration>",
        "How often the API server is asked what it serves, and branches are fetched. Default: 5m.",
      ),
      flagHelp("--watch-all[=true]", "* selects all resources, and not only a desired state. Default: false."),
      flagHelp(
        "--discovery-exclude <[group/]resource>",
        "A resource that is never written, in that group (core for the core group) or in all.",
        "May be repeated.",
      ),
      flagHelp(
        "--watch-secrets[=false]",
        "Whether Secrets may be selected. false: the controller has no permission to. Default: true.",
      ),
    ].join("\n"),
    "request-deadline": [
      flagHelp("--git-batch-max-files <n>", "Changed files that are pushed at once, and of one commit. Default: 200."),
      flagHelp("--git-batch-max-bytes-mib <n>", "The same of their bytes, in MiB. Default: 1."),
      flagHelp(
        "--git-batch-max-wait-sec <n>",
        "How long fewer changes wait. The push.interval of a GitRepoConfig stands above it.",
        "Default: 20.",
      ),
      flagHelp("--workers-max-global <n>", "Branches that are written at the same time. Default: 24."),
      flagHelp("--workers-max-per-repo <n>", "The same of one repository. Default: 5."),
      flagHelp(
        "--shards[=true]",
        "Whether the replicas share the branches. false: the leader writes all. All replicas in a namespace",
        "must have the same flags then. Default: false.",
      ),
      flagHelp("--leases-renew-sec <n>", "How often the Lease of a branch is renewed. Default: 8."),
      flagHelp("--leases-lease-sec <n>", "After this time without a renewal another may take it. Default: 24."),
      flagHelp(
        "--work-dir <directory>",
        "Directory of this process alone, for clones. Default:",
        "/var/cache/gitops-reverser.",
      ),
      flagHelp(
        "--git-clone-max-mib <n>",
        "How much room the clone of one branch may take there, in MiB: a larger one is not",
        "written, and says so. Default: 1024.",
      ),
      flagHelp("--webhook-port <port>", "Port of the admission webhook that tells who changed what. Default: 9443."),
      flagHelp(
        "--webhook-rules <Selected|All>",
        "Whether the webhook is called for what is selected, or for each write of the cluster.",
        "Default: Selected.",
      ),
      flagHelp(
        "--webhook-cert-path <directory>",
        "Directory with the certificate of the webhook, as cert-manager writes it; files",
        "--webhook-cert-name (default: tls.crt), --webhook-cert-key (default: tls.key).",
        "Default: certificates are made and renewed by the controller.",
      ),
    ].join("\n"),
    "log-level": flagHelp(
      "--metrics-…, --health-probe-…, --enable-…",
      "Other flags of the GitOps Reverser are accepted, and change nothing.",
    ),
  },
});

const SWITCHES = ["enable-watch-ingestion", "watch-all", "watch-secrets", "shards", ...ACCEPTED_SWITCHES];

type Values = Readonly<Record<string, string | undefined>>;

const numbersOf = (values: Values): E.Either<string, (name: string) => number> => {
  const read = new Map(
    Object.entries(NUMBER_FLAGS).map(([name, [least, most]]) => [name, integer(values[name] ?? "", least, most)]),
  );
  const wrong = Object.entries(NUMBER_FLAGS).find(([name]) => read.get(name) === undefined);
  return wrong === undefined ? E.right((name) => read.get(name) ?? 0) : E.left(takesNumber(...wrong));
};

/** The timing of a Lease: requests for it end early enough before another replica may take it. */
const leaseTiming = (renew: number, lease: number): LeaderTiming => ({
  leaseDuration: lease * 1000,
  renewDeadline: lease * 750,
  retryPeriod: renew * 1000,
  writeTimeout: lease * 200,
});

const MIB = 1024 * 1024;

const OWN: OwnFlags<OwnValues> = {
  options: {
    "enable-watch-ingestion": { type: "string", default: "true" },
    "discovery-refresh": { type: "string", default: "5m" },
    "watch-all": { type: "string", default: "false" },
    "discovery-exclude": { type: "string" },
    "watch-secrets": { type: "string", default: "true" },
    "git-batch-max-files": { type: "string", default: "200" },
    "git-batch-max-bytes-mib": { type: "string", default: "1" },
    "git-batch-max-wait-sec": { type: "string", default: "20" },
    "git-clone-max-mib": { type: "string", default: "1024" },
    "workers-max-global": { type: "string", default: "24" },
    "workers-max-per-repo": { type: "string", default: "5" },
    shards: { type: "string", default: "false" },
    "leases-renew-sec": { type: "string", default: "8" },
    "leases-lease-sec": { type: "string", default: "24" },
    "work-dir": { type: "string", default: "/var/cache/gitops-reverser" },
    "webhook-port": { type: "string", default: "9443" },
    "webhook-rules": { type: "string", default: "Selected" },
    "webhook-cert-path": { type: "string" },
    "webhook-cert-name": { type: "string", default: "tls.crt" },
    "webhook-cert-key": { type: "string", default: "tls.key" },
    ...Object.fromEntries([...ACCEPTED, ...ACCEPTED_SWITCHES].map((name) => [name, { type: "string" as const }])),
  },
  read: (values) => {
    const wrongSwitch = SWITCHES.find((name) => !["true", "false", undefined].includes(values[name]));
    if (wrongSwitch !== undefined) return E.left(`--${wrongSwitch} takes true or false`);
    const discoveryRefresh = parseDuration(values["discovery-refresh"] ?? "");
    if (discoveryRefresh === undefined || discoveryRefresh <= 0 || discoveryRefresh > LONGEST_TIMER * 1000)
      return E.left("--discovery-refresh takes a duration such as 5m");
    const workDirectory = values["work-dir"] ?? "";
    if (!workDirectory.startsWith("/")) return E.left("--work-dir takes the absolute path of a directory");
    const excludes = (values["discovery-exclude"] ?? "").split(",").filter((text) => text !== "");
    const directory = values["webhook-cert-path"];
    const webhookRules = (["Selected", "All"] as const).find((rules) => rules === values["webhook-rules"]);
    if (webhookRules === undefined) return E.left("--webhook-rules takes Selected or All");
    return E.flatMap(numbersOf(values), (number): E.Either<string, OwnValues> => {
      const leases = leaseTiming(number("leases-renew-sec"), number("leases-lease-sec"));
      const problem = timingProblem(leases);
      if (problem !== undefined) return E.left(`--leases-renew-sec and --leases-lease-sec: ${problem}`);
      return E.right({
        settings: {
          selection: {
            watchAll: values["watch-all"] === "true",
            excludes: excludes.map(parseExclude),
            secrets: values["watch-secrets"] === "true",
          },
          limits: {
            maxFiles: number("git-batch-max-files"),
            maxBytes: number("git-batch-max-bytes-mib") * MIB,
            maxWait: number("git-batch-max-wait-sec") * 1000,
          },
        },
        ingests: values["enable-watch-ingestion"] === "true",
        discoveryRefresh,
        workers: { global: number("workers-max-global"), perRepository: number("workers-max-per-repo") },
        shards: values["shards"] === "true",
        leases,
        workDirectory,
        largestClone: number("git-clone-max-mib") * MIB,
        webhookPort: number("webhook-port"),
        webhookRules,
        certificates:
          directory === undefined || directory === ""
            ? undefined
            : {
                directory,
                certificate: values["webhook-cert-name"] ?? "tls.crt",
                key: values["webhook-cert-key"] ?? "tls.key",
              },
      });
    });
  },
};

const EXCLUDE = "--discovery-exclude";

/** Joins all excludes to one flag, and writes out switches without a value as `=true`. */
const spelledOut = (args: readonly string[]): readonly string[] => {
  const others: string[] = [];
  const excludes: string[] = [];
  for (let n = 0; n < args.length; n += 1) {
    const arg = args[n] ?? "";
    if (arg.startsWith(`${EXCLUDE}=`)) excludes.push(arg.slice(EXCLUDE.length + 1));
    else if (arg === EXCLUDE) excludes.push(args[(n += 1)] ?? "");
    else others.push(SWITCHES.some((name) => arg === `--${name}`) ? `${arg}=true` : arg);
  }
  return excludes.length === 0 ? others : [...others, `${EXCLUDE}=${excludes.join(",")}`];
};

/** Parses the flags. Left: what is wrong with them, or the help text, if it was requested. */
export const parseFlags = (args: readonly string[], env: NodeJS.ProcessEnv): E.Either<FlagProblem, Flags> =>
  parse(spelledOut(args), env, OWN, { help: HELP, ...DEFAULTS });
