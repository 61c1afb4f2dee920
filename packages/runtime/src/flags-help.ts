// The help text of the flags that every controller has, in their order, with those of one controller among them.
import type { FlagDefaults } from "./flags.ts";

export interface HelpTexts {
  /** The command, such as `janus-controller`. */
  readonly command: string;
  /** The purpose of the controller, in a sentence. */
  readonly about: string;
  /** The objects that it reconciles, in the plural. */
  readonly objects: string;
  /** What the namespace of the controller is used for, after `The controller's namespace`. Default: nothing more is said. */
  readonly namespaceUse?: string;
  /** What is said of --watch-namespace beside its default, such as what it does not narrow. Default: nothing more. */
  readonly watchNote?: string;
  /** The label of the leader's Pod. */
  readonly leaderLabel: string;
  /** What is said of the name of the Lease beside its default, such as who else reads it. */
  readonly leaseNote?: string;
  /** Flags of its own, each after one of these flags. */
  readonly own?: Readonly<Record<string, string>>;
}

const WIDTH = 38;

/** One flag, its text from the same column on. */
export const flagHelp = (flag: string, ...lines: readonly string[]): string => {
  const head = `  ${flag} `;
  const isLong = head.length > WIDTH;
  const first = isLong ? `${head.trimEnd()}\n${" ".repeat(WIDTH)}` : head.padEnd(WIDTH);
  return `${first}${lines.join(`\n${" ".repeat(WIDTH)}`)}`;
};

/** Returns the help text of a controller. */
export const helpText = (
  { namespace, writeTimeout, leaseName, leaderElection }: Omit<FlagDefaults, "help">,
  { command, about, objects, namespaceUse, watchNote, leaderLabel, leaseNote, own = {} }: HelpTexts,
): string => {
  const { leaseDuration, renewDeadline, retryPeriod } = leaderElection;
  const common: readonly (readonly [flag: string, text: string])[] = [
    [
      "kubeconfig",
      flagHelp("--kubeconfig <file>", "Kubeconfig to use. Default: KUBECONFIG, else the Pod's ServiceAccount."),
    ],
    [
      "namespace",
      flagHelp(
        "--namespace <name>",
        `The controller's namespace${namespaceUse === undefined ? "" : `, ${namespaceUse}`}.`,
        `Default: $POD_NAMESPACE, else ${namespace}.`,
      ),
    ],
    [
      "watch-namespace",
      flagHelp(
        "--watch-namespace <names>",
        `Only ${objects} of these namespaces, separated by commas. Default: *, all.`,
        ...(watchNote === undefined ? [] : [watchNote]),
      ),
    ],
    [
      "max-concurrent-reconciles",
      flagHelp("--max-concurrent-reconciles <n>", `${objects} reconciled at the same time. Default: 16.`),
    ],
    [
      "http-port",
      flagHelp(
        "--http-port <port>",
        "Port of /healthz, /readyz, /status and /metrics; 0 takes a free one. Default: 8080.",
      ),
    ],
    [
      "readiness",
      flagHelp(
        "--readiness <any|leader>",
        "Who is ready (/readyz). any: the leader and standbys that could take over; the leader",
        `marks its Pod ($POD_NAME) with the label ${leaderLabel}. leader: only the`,
        "leader, without a mark. Default: any.",
      ),
    ],
    [
      "metrics-auth",
      flagHelp(
        "--metrics-auth[=false]",
        "Require authentication (TokenReview) and authorization (SubjectAccessReview: get on",
        "the path /metrics) for /metrics. Default: false.",
      ),
    ],
    [
      "write-timeout",
      flagHelp("--write-timeout <duration>", `Timeout of a write on the API server. Default: ${writeTimeout}s.`),
    ],
    [
      "request-deadline",
      flagHelp(
        "--request-deadline <duration>",
        "Timeout of a request, after which its connection is closed. Default: 15s.",
      ),
    ],
    [
      "leader-elect",
      flagHelp(
        "--leader-elect[=false]",
        "Elect a leader among several controllers; only the leader is active. Default: true.",
      ),
    ],
    [
      "leader-elect-lease-duration",
      flagHelp(
        "--leader-elect-lease-duration <d>",
        "How long non-leaders wait after the last observed renewal before they acquire",
        `leadership. Default: ${leaseDuration}s.`,
      ),
    ],
    [
      "leader-elect-renew-deadline",
      flagHelp(
        "--leader-elect-renew-deadline <d>",
        `How long the leader retries a renewal before it gives up leadership. Default: ${renewDeadline}s.`,
      ),
    ],
    [
      "leader-elect-retry-period",
      flagHelp(
        "--leader-elect-retry-period <d>",
        `Time between attempts to acquire or renew leadership. Default: ${retryPeriod}s.`,
      ),
    ],
    [
      "leader-elect-resource-name",
      flagHelp(
        "--leader-elect-resource-name <name>",
        `Name of the leader's Lease. Default: ${leaseName}.`,
        ...(leaseNote === undefined ? [] : [leaseNote]),
      ),
    ],
    [
      "leader-elect-resource-namespace",
      flagHelp(
        "--leader-elect-resource-namespace <name>",
        "Namespace of the leader's Lease. Default: that of --namespace.",
      ),
    ],
    ["log-level", flagHelp("--log-level <level>", "debug, info, warn or error. Default: info.")],
    ["help", flagHelp("--help", "Shows this text.")],
  ];
  const flags = common.flatMap(([flag, text]) => [text, ...(own[flag] === undefined ? [] : [own[flag]])]);
  return `Usage: ${command} [flags]\n\n${about}\n\nFlags:\n${flags.join("\n")}\n`;
};
