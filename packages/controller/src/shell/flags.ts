// The command-line flags of the controller: its own, and the help text of all.
import { LEADER_ELECTION, LEADER_LABEL, LEADER_LEASE, POLICIES, SYSTEM_NAMESPACE, WRITE_TIMEOUT } from "@janus/api";
import { type CommonFlags, integer, type OwnFlags, parseFlags as parse, type FlagProblem } from "@janus/runtime";
import { DNS_SUBDOMAIN, MAX_INT32 } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";

interface TransactionFlags {
  /** Kinds whose values no render shows, as `Kind` or `Kind.group`. */
  readonly sensitiveKinds: readonly string[];
  /** Seconds. Undefined: finished Transactions without ttlSecondsAfterFinished are kept. */
  readonly defaultTtl: number | undefined;
}

export type Flags = CommonFlags & TransactionFlags;

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

const isKind = new RegExp(`^[A-Za-z][-A-Za-z0-9]*([.]${DNS_SUBDOMAIN})?$`, "u");

const TRANSACTION_FLAGS: OwnFlags<TransactionFlags> = {
  options: {
    "sensitive-kinds": { type: "string", default: "" },
    "default-ttl-seconds-after-finished": { type: "string" },
  },
  read: (values) => {
    const sensitiveKinds = (values["sensitive-kinds"] ?? "").split(",").filter((kind) => kind !== "");
    if (!sensitiveKinds.every((kind) => isKind.test(kind)))
      return E.left("--sensitive-kinds takes kinds such as SealedSecret.bitnami.com, separated by commas");
    const ttl = values["default-ttl-seconds-after-finished"];
    const defaultTtl = ttl === undefined ? undefined : integer(ttl, 0, MAX_INT32);
    if (ttl !== undefined && defaultTtl === undefined)
      return E.left(`--default-ttl-seconds-after-finished takes a number of seconds from 0 to ${MAX_INT32}`);
    return E.right({ sensitiveKinds, defaultTtl });
  },
};

/** Left: what is wrong with the flags, or the help text, if it was requested. */
export const parseFlags = (args: readonly string[], env: NodeJS.ProcessEnv): E.Either<FlagProblem, Flags> =>
  parse(args, env, TRANSACTION_FLAGS, {
    help: HELP,
    namespace: SYSTEM_NAMESPACE,
    writeTimeout: WRITE_TIMEOUT,
    leaseName: LEADER_LEASE,
    leaderElection: LEADER_ELECTION,
  });
