// The command line of the controller of the Git journal.
import { SYSTEM_NAMESPACE } from "@janus/api";
import { NUMBER_FLAGS, takesNumber } from "@janus/git-journal/authoring";
import { defaultLogLevel, type LogLevel } from "./controller-flags.ts";
import { httpPort } from "./defaults.ts";
import { GIT_JOURNAL_LEASE, gitJournalDefaults, type GitJournalProps, webhookOf } from "./git-journal-props.ts";
import type { NamespacedProps } from "./namespaced.ts";

export interface GitJournalFlagsProps extends NamespacedProps, GitJournalProps {
  /**
   * Whether the controller authenticates and authorizes requests for its metrics.
   * @default false
   */
  readonly metricsAuth?: boolean;
  /**
   * What the controller logs: with `debug` each request, with `warn` and `error` only what needs attention.
   * @default "info"
   */
  readonly logLevel?: LogLevel;
}

/** Where the clones are. */
export const WORK_DIRECTORY = "/var/cache/gitops-reverser";
/** In memory: where keys are while git uses them. */
export const MEMORY_DIRECTORY = "/dev/shm";
export const WEBHOOK_PORT = 9443;
/** Where the certificate of the webhook is, if somebody else makes it. */
export const CERTIFICATE_DIRECTORY = "/etc/janus-git-journal/tls";

/** Flags that must agree with other objects, and what to set instead. */
export const refusedGitJournalFlags: Readonly<Record<string, string>> = {
  "--leader-elect": "the replicas elect the one that serves the webhook",
  "--leader-elect-resource-name": "its Role allows this Lease alone",
  "--leader-elect-resource-namespace": "it is always the namespace of the Pod",
  "--namespace": "it is always the namespace of the Pod",
  "--http-port": `it is always ${httpPort}, which the probes expect`,
  "--webhook-port": `it is always ${WEBHOOK_PORT}, which the Service expects`,
  "--webhook-cert-path": "set gitJournal.webhook.certificateSecret instead",
  "--work-dir": `it is always ${WORK_DIRECTORY}, where the volume is`,
  "--metrics-auth": "set metricsAuth instead",
  "--watch-secrets": "set gitJournal.secrets instead",
  "--shards": "set gitJournal.shards instead",
  "--webhook-rules": "set gitJournal.webhook.rules instead",
};

/** Why the controller would not start with this flag. */
const problemOf = (flag: string): string | undefined => {
  const [name = "", ...rest] = flag.split("=");
  const instead = refusedGitJournalFlags[name];
  if (instead !== undefined) return `${name} cannot be given here: ${instead}`;
  const number = name.replace(/^--/u, "");
  const bounds = NUMBER_FLAGS[number];
  if (bounds === undefined) return undefined;
  const value = rest.join("=");
  const isOne = /^\d+$/u.test(value) && Number(value) >= bounds[0] && Number(value) <= bounds[1];
  return isOne ? undefined : takesNumber(number, bounds);
};

/** Throws: if `flags` has one that is refused, or no number where the controller takes one. */
export const gitJournalFlags = (props: GitJournalFlagsProps): readonly string[] => {
  const { namespace = SYSTEM_NAMESPACE, metricsAuth, logLevel = defaultLogLevel } = props;
  const { secrets, shards, flags } = { ...gitJournalDefaults, ...props.gitJournal };
  const { rules, certificateSecret } = webhookOf(props);
  for (const flag of flags) {
    const problem = problemOf(flag);
    if (problem !== undefined) throw new Error(`gitJournal.flags: ${problem}`);
  }
  return [
    "--git-journal",
    `--leader-elect-resource-name=${GIT_JOURNAL_LEASE}`,
    `--leader-elect-resource-namespace=${namespace}`,
    `--work-dir=${WORK_DIRECTORY}`,
    `--webhook-port=${WEBHOOK_PORT}`,
    `--webhook-rules=${rules}`,
    ...(certificateSecret === undefined ? [] : [`--webhook-cert-path=${CERTIFICATE_DIRECTORY}`]),
    `--watch-secrets=${secrets}`,
    ...(shards ? ["--shards"] : []),
    ...(metricsAuth === true ? ["--metrics-auth=true"] : []),
    ...(logLevel === defaultLogLevel ? [] : [`--log-level=${logLevel}`]),
    ...flags,
  ];
};
