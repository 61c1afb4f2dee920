// The flags that several commands share, and how their values are parsed.
import { Command, InvalidArgumentError, Option } from "commander";
import { parseDuration } from "@janus/types";
import type { ClusterFlags } from "../cluster/cluster.ts";
import type { ComposeFlags } from "../manifests/compose.ts";
import type { FileFlags } from "../manifests/read-manifests.ts";

const collected = (value: string, former: readonly string[] = []): readonly string[] => [...former, value];

/** Adds paths as kubectl takes them: repeated, or with commas. */
const paths = (value: string, former: readonly string[] = []): readonly string[] => [
  ...former,
  ...value.split(",").filter((path) => path !== ""),
];

const duration = (value: string): string => {
  const ms = parseDuration(value);
  if (ms === undefined || ms < 1000)
    throw new InvalidArgumentError("It must be a duration of at least 1s, such as 10m.");
  return value;
};

const rollbackWindow = (value: string): string => {
  if (parseDuration(value) === undefined) throw new InvalidArgumentError("It must be a duration, such as 24h.");
  return value;
};

const seconds = (value: string): number => {
  if (!/^\d+$/u.test(value)) throw new InvalidArgumentError("It must be a number of seconds.");
  return Number(value);
};

/** Milliseconds: a timer of Node that is longer ends at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Reads `30s`, or `30`, which is in seconds, as ms; undefined for 0, which is no limit of the user's. */
const requestTimeout = (value: string): number | undefined => {
  const ms = parseDuration(/^\d+$/u.test(value) ? `${value}s` : value);
  if (ms === undefined || ms < 0) throw new InvalidArgumentError("It must be a duration, such as 30s.");
  return ms === 0 ? undefined : Math.min(Math.ceil(ms), LONGEST_TIMER);
};

/** The flags that every command has, with the names of kubectl. @param namespace what the namespace is of */
export const clusterOptions = (namespace = "namespace"): readonly Option[] => [
  new Option("-n, --namespace <name>", `${namespace}; default: that of the context`),
  new Option("--context <name>", "context of the kubeconfig; default: the current one"),
  new Option("--cluster <name>", "cluster of the kubeconfig; default: that of the context"),
  new Option("--user <name>", "user of the kubeconfig; default: that of the context"),
  new Option("--kubeconfig <file>", "kubeconfig; default: $KUBECONFIG, then ~/.kube/config"),
  new Option("--as <user>", "user to impersonate"),
  new Option("--as-group <group>", "group to impersonate; may be repeated").argParser(collected),
  new Option("--request-timeout <duration>", "how long one request may take; default: 15s").argParser(requestTimeout),
];

const TRANSACTION_OPTIONS = (): readonly Option[] => [
  new Option("-f, --filename <path>", "file, directory, URL, or - for the standard input; may be repeated").argParser(
    paths,
  ),
  new Option("-k, --kustomize <directory>", "what kubectl kustomize makes of this directory, instead of -f"),
  new Option("-R, --recursive", "also the subdirectories of a directory"),
  new Option("--name <name>", "name of the Transaction; default: apply- and a random suffix"),
  new Option("--service-account <name>", "ServiceAccount that makes the changes; default: default"),
  new Option(
    "--wait-for <gate>",
    "gate of all objects, such as ready, waited for once all are applied; may be repeated",
  ).argParser(collected),
  new Option("--skip-wait-for <kind/name>", "an object that --wait-for is not for; may be repeated").argParser(
    collected,
  ),
  new Option("--timeout <duration>", "how long it may take before it is rolled back; default: 30m").argParser(duration),
  new Option("--rollback-window <duration>", "how long it can be rolled back once Committed; default: 0s").argParser(
    rollbackWindow,
  ),
  new Option("--ttl <seconds>", "delete the Transaction this long after it has finished").argParser(seconds),
  new Option("--replace", "delete and create again what cannot be edited, such as a Job with another template"),
  new Option("--prune", "delete what has the labels of --selector and is not in the manifests"),
  new Option("-l, --selector <labels>", "label selector of --prune"),
];

/** Flags of plan and apply: the manifests, and what the Transaction is to be. */
export interface ManifestFlags extends ClusterFlags, FileFlags {
  readonly name?: string;
  readonly serviceAccount?: string;
  readonly waitFor?: readonly string[];
  readonly skipWaitFor?: readonly string[];
  readonly timeout?: string;
  readonly rollbackWindow?: string;
  readonly ttl?: number;
  readonly replace?: true;
  readonly prune?: true;
  readonly selector?: string;
}

export const composeFlags = (flags: ManifestFlags): ComposeFlags => {
  const { name, serviceAccount, waitFor, skipWaitFor, timeout, rollbackWindow, ttl } = flags;
  return {
    ...(name === undefined ? {} : { name }),
    ...(serviceAccount === undefined ? {} : { serviceAccount }),
    ...(waitFor === undefined ? {} : { waitFor }),
    ...(skipWaitFor === undefined ? {} : { skipWaitFor }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(rollbackWindow === undefined ? {} : { rollbackWindow }),
    ...(ttl === undefined ? {} : { ttl }),
  };
};

/** A command with the flags of every command. */
export const command = (name: string, namespace?: string): Command => {
  const made = new Command(name);
  for (const option of clusterOptions(namespace)) made.addOption(option);
  return made;
};

/** A flag of kubectl apply, which people try: it is refused with what to do instead. */
const dryRun = (made: Command): Option =>
  new Option("--dry-run [strategy]")
    .hideHelp()
    .preset("")
    .argParser(() =>
      made.error(
        "error: there is no --dry-run: kubectl janus plan shows what apply would do, by dry runs on the server",
      ),
    );

/** A command with the flags of plan and apply, too. */
export const manifestCommand = (name: string): Command => {
  const made = command(name, "namespace of the Transaction, and of manifests that name none");
  for (const option of TRANSACTION_OPTIONS()) made.addOption(option);
  return made.addOption(dryRun(made));
};
