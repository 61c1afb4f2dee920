import { Option } from "commander";
import { type ClusterFlags, onCluster } from "../cluster/cluster.ts";
import { outputTo } from "../output/style.ts";
import { exitCodeOf, showProgress } from "../progress/show-progress.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";

interface WatchFlags extends ClusterFlags {
  readonly output?: "json";
}

const watch = (name: string, flags: WatchFlags): Promise<number> =>
  onCluster(flags, async (cluster) =>
    exitCodeOf(await showProgress(cluster, name, { output: outputTo(process.stdout), format: flags.output })),
  );

export const watchCommand = command("watch")
  .argument("<name>", "name of the Transaction")
  .addOption(new Option("-o, --output <format>", "json: one event per line").choices(["json"]))
  .addHelpText(
    "after",
    "\nExit codes: 0 Committed, 2 RolledBack, 3 Failed, 1 error,\n5 it was deleted meanwhile, 130 interrupted.",
  )
  .action((name: string, flags: WatchFlags) => exitWith(watch(name, flags)));
