// Runs kubectl with the flags of the command.
import { spawnSync } from "node:child_process";
import { constants } from "node:os";
import { Failure } from "../failure.ts";
import type { ClusterFlags } from "./cluster.ts";

/** The flags with values, as kubectl takes them. */
const withValues = (flags: ClusterFlags): readonly string[] => {
  const { namespace, context, cluster, user, kubeconfig, as, asGroup = [], requestTimeout } = flags;
  const timeout = requestTimeout === undefined ? undefined : `${requestTimeout}ms`;
  const one = { namespace, context, cluster, user, kubeconfig, as, "request-timeout": timeout };
  return [
    ...Object.entries(one).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value])),
    ...asGroup.flatMap((group) => ["--as-group", group]),
  ];
};

/**
 * Runs kubectl, on the cluster of these flags and as their user, with the standard streams of this process.
 *
 * @returns its exit code.
 * Errors: if there is no kubectl.
 */
export const kubectl = (args: readonly string[], flags: ClusterFlags): number => {
  const { status, signal, error } = spawnSync("kubectl", [...args, ...withValues(flags)], { stdio: "inherit" });
  if (error !== undefined) throw new Failure(`kubectl cannot be run (${error.message}): put it on the PATH`);
  return status ?? 128 + constants.signals[signal ?? "SIGTERM"];
};
