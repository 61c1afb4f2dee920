// The command-line flags of the controller: its own, and the help text of all.
import { LEADER_ELECTION, LEADER_LABEL, LEADER_LEASE, POLICIES, SYSTEM_NAMESPACE, WRITE_TIMEOUT } from "@janus/api";
import {
  type CommonFlags,
  flagHelp,
  helpText,
  integer,
  type OwnFlags,
  parseFlags as parse,
  type FlagProblem,
} from "@janus/runtime/parts";
import { DNS_SUBDOMAIN, MAX_INT32 } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";

interface TransactionFlags {
  /** Kinds whose values no render shows, as `Kind` or `Kind.group`. */
  readonly sensitiveKinds: readonly string[];
  /** Seconds. Undefined: finished Transactions without ttlSecondsAfterFinished are kept. */
  readonly defaultTtl: number | undefined;
}

export type Flags = CommonFlags & TransactionFlags;

const DEFAULTS = {
  namespace: SYSTEM_NAMESPACE,
  writeTimeout: WRITE_TIMEOUT,
  leaseName: LEADER_LEASE,
  leaderElection: LEADER_ELECTION,
};

export const HELP = helpText(DEFAULTS, {
  command: "janus-controller",
  about: "Applies Transactions atomically: all changes are applied, or all are rolled back.",
  objects: "Transactions",
  namespaceUse: "where the locks of cluster-scoped targets live",
  leaderLabel: LEADER_LABEL,
  leaseNote: `The installed admission policy ${POLICIES.fence} reads the Lease of this name.`,
  own: {
    "metrics-auth": flagHelp(
      "--sensitive-kinds <list>",
      "Kinds whose values status.render does not show, besides Secret: Kind.group (or Kind, in the",
      "core group), separated by commas. Default: none.",
    ),
    "request-deadline": flagHelp(
      "--default-ttl-seconds-after-finished <n>",
      "Seconds after which finished Transactions are deleted that have no",
      "spec.ttlSecondsAfterFinished. Default: they are kept.",
    ),
  },
});

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
  parse(args, env, TRANSACTION_FLAGS, { help: HELP, ...DEFAULTS });
