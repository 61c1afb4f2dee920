// The command watch: shows the progress of a Transaction until it has finished.
import type { Transaction } from "@janus/api";
import { isTerminal } from "@janus/controller";
import { Option } from "commander";
import { type ClusterFlags, onCluster } from "../cluster/cluster.ts";
import { outputTo } from "../output/style.ts";
import { exitCodeOf, showProgress } from "../progress/show-progress.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";
import { refuseIn } from "./lifecycle.ts";

interface WatchFlags extends ClusterFlags {
  readonly output?: "json";
}

const isDraft = ({ spec }: Transaction): boolean => spec.lifecycle === "Draft";

const isOver = (txn: Transaction): boolean => isTerminal(txn.status.phase) || isDraft(txn);

/** Errors: if it is a Draft, or becomes one again: nobody is about to execute it, so there is nothing to wait for. */
const watch = (name: string, flags: WatchFlags): Promise<number> =>
  onCluster(flags, async (cluster) => {
    const output = outputTo(process.stdout);
    const txn = await showProgress(cluster, name, { output, format: flags.output, isOver });
    refuseIn(txn, {
      Draft: (on) =>
        `there is nothing to watch before it is proposed. To see what comes next: kubectl janus explain ${on}`,
    });
    return exitCodeOf(txn);
  });

export const watchCommand = command("watch")
  .argument("<name>", "name of the Transaction")
  .addOption(new Option("-o, --output <format>", "json: one event per line").choices(["json"]))
  .addHelpText(
    "after",
    "\nOf a proposed Transaction it waits for the approval, too.\n\nExit codes: 0 Committed, 2 RolledBack, 3 Failed,\n1 error, or it is a Draft, 5 it was deleted meanwhile, 130 interrupted.",
  )
  .action((name: string, flags: WatchFlags) => exitWith(watch(name, flags)));
