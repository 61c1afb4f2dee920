// The command describe: prints every change of a Transaction with its state, lock and events.
import { type ClusterFlags, onCluster } from "../cluster/cluster.ts";
import { readTransaction } from "../cluster/transactions.ts";
import { printable } from "../output/printable.ts";
import { outputTo, painter } from "../output/style.ts";
import { description } from "../story/description.ts";
import { readEvents } from "../story/events.ts";
import { readLocks } from "../story/locks.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";

const describe = (name: string, flags: ClusterFlags): Promise<number> =>
  onCluster(flags, async (cluster) => {
    const output = outputTo(process.stdout);
    const { txn } = await readTransaction(cluster, name);
    const [locks, events] = await Promise.all([readLocks(cluster, txn), readEvents(cluster, txn)]);
    output.write(description({ ...printable({ txn, events }), locks }, Date.now(), painter(output), output.width));
    return 0;
  });

export const describeCommand = command("describe")
  .argument("<name>", "name of the Transaction")
  .action((name: string, flags: ClusterFlags) => exitWith(describe(name, flags)));
