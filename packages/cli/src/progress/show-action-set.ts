// Shows the progress of an ActionSet until it has ended.
import { actionSets, isTerminal } from "@janus/blueprints/authoring";
import { actionSetIn } from "../cluster/action-sets.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { follow } from "../cluster/follow.ts";
import { Failure, OUTCOME_UNKNOWN } from "../failure.ts";
import { printable } from "../output/printable.ts";
import type { Output } from "../output/style.ts";
import { actionSetLines, added } from "./action-set-text.ts";

/** Exit codes of an ActionSet that has ended. */
const EXIT: Readonly<Record<string, number>> = { complete: 0, failed: 3 };

/**
 * Writes a line for each phase that begins or ends.
 *
 * @returns 0 complete, 3 failed.
 * Errors: if there is none; with exit code 5 if it is deleted meanwhile.
 */
export const showActionSet = async (cluster: Cluster, name: string, output: Output): Promise<number> => {
  const shown = `ActionSet ${cluster.namespace}/${name}`;
  const stop = new AbortController();
  const onError = ({ message }: { readonly message: string }) =>
    void process.stderr.write(`cannot watch ${shown}: ${printable(message)}; it is tried again\n`);
  let lines: readonly string[] | undefined;
  try {
    for await (const object of follow(cluster, name, { signal: stop.signal, resource: actionSets, onError })) {
      if (object === undefined)
        throw lines === undefined
          ? new Failure(`${shown} does not exist`)
          : new Failure(`${shown} was deleted meanwhile`, OUTCOME_UNKNOWN);
      const actionSet = actionSetIn(object);
      const now = actionSetLines(printable(actionSet));
      for (const line of added(lines ?? [], now)) output.write(`${line}\n`);
      lines = now;
      const { state = "" } = actionSet.status ?? {};
      if (isTerminal(state)) return EXIT[state] ?? 0;
    }
  } finally {
    stop.abort();
  }
  throw new Failure(`${shown} cannot be watched`, OUTCOME_UNKNOWN);
};
