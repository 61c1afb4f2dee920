// The command-line flags of the controller of Blueprints: its own, and the help text of all.
import { SYSTEM_NAMESPACE } from "@janus/api";
import {
  type CommonFlags,
  type FlagProblem,
  flagHelp,
  helpText,
  integer,
  type OwnFlags,
  parseFlags as parse,
} from "@janus/runtime/parts";
import { isDnsSubdomain, MAX_INT32, parseDuration } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { BLUEPRINTS_LEASE } from "../api/names.ts";

interface OwnValues {
  readonly defaultServiceAccount: string;
  /** The time that a Pod may take until it runs, in ms. */
  readonly podReadyTimeout: number;
  readonly maxRunningActions: number;
  /** The seconds after which ActionSets that have ended are deleted; undefined: they are kept. */
  readonly defaultTtl: number | undefined;
  readonly toolsImage: string;
}

export type Flags = CommonFlags & OwnValues;

export const LEADER_LABEL = "janus.io/blueprints-leader";

/** Kanister's own, of the version whose functions these are. */
const TOOLS_IMAGE = "ghcr.io/kanisterio/kanister-tools:0.119.0";

const DEFAULTS = {
  namespace: SYSTEM_NAMESPACE,
  writeTimeout: 5,
  leaseName: BLUEPRINTS_LEASE,
  leaderElection: { leaseDuration: 30, renewDeadline: 20, retryPeriod: 5 },
};

const HELP = helpText(DEFAULTS, {
  command: "janus-controller --blueprints",
  about: "Executes ActionSets: the actions of Kanister's Blueprints, as the user's ServiceAccount.",
  objects: "ActionSets",
  leaderLabel: LEADER_LABEL,
  own: {
    "metrics-auth": [
      flagHelp(
        "--default-service-account <name>",
        "ServiceAccount of ActionSets that name none, in their own namespace. Default: default.",
      ),
      flagHelp(
        "--default-ttl-seconds-after-finished <n>",
        "Deletes finished ActionSets without artifacts after this time, unless they have",
        "spec.ttlSecondsAfterFinished. Default: they are kept.",
      ),
      flagHelp(
        "--max-running-actions <n>",
        "Actions of a namespace that are executed at the same time; its ActionSets beyond",
        "that wait, the oldest first. Default: 100.",
      ),
    ].join("\n"),
    "request-deadline": [
      flagHelp("--pod-ready-timeout <duration>", "How long a Pod of a function may take until it runs. Default: 15m."),
      flagHelp("--tools-image <image>", "Image of Pods that move data, with restic and kando. Default:", TOOLS_IMAGE),
    ].join("\n"),
  },
});

const OWN: OwnFlags<OwnValues> = {
  options: {
    "default-service-account": { type: "string", default: "default" },
    "pod-ready-timeout": { type: "string", default: "15m" },
    "max-running-actions": { type: "string", default: "100" },
    "default-ttl-seconds-after-finished": { type: "string" },
    "tools-image": { type: "string", default: TOOLS_IMAGE },
  },
  read: (values) => {
    const defaultServiceAccount = values["default-service-account"] ?? "";
    if (!isDnsSubdomain(defaultServiceAccount))
      return E.left("--default-service-account takes the name of a ServiceAccount");
    const seconds = parseDuration(values["pod-ready-timeout"] ?? "");
    if (seconds === undefined || seconds <= 0) return E.left("--pod-ready-timeout takes a duration such as 15m");
    const { "tools-image": toolsImage = "" } = values;
    if (toolsImage === "") return E.left("--tools-image takes the name of an image");
    const maxRunningActions = integer(values["max-running-actions"] ?? "", 1, 100_000);
    if (maxRunningActions === undefined) return E.left("--max-running-actions takes a number from 1 to 100000");
    const ttl = values["default-ttl-seconds-after-finished"];
    const defaultTtl = ttl === undefined ? undefined : integer(ttl, 0, MAX_INT32);
    if (ttl !== undefined && defaultTtl === undefined)
      return E.left(`--default-ttl-seconds-after-finished takes a number of seconds from 0 to ${MAX_INT32}`);
    return E.right({ defaultServiceAccount, podReadyTimeout: seconds, maxRunningActions, defaultTtl, toolsImage });
  },
};

/** Parses the flags. Left: what is wrong with them, or the help text, if it was requested. */
export const parseFlags = (args: readonly string[], env: NodeJS.ProcessEnv): E.Either<FlagProblem, Flags> =>
  parse(args, env, OWN, { help: HELP, ...DEFAULTS });
