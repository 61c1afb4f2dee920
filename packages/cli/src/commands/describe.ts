import { type ClusterFlags, openCluster } from "../cluster/cluster.ts";
import { readTransaction } from "../cluster/transactions.ts";
import { outputTo, painter } from "../output/style.ts";
import { description } from "../story/description.ts";
import { readEvents } from "../story/events.ts";
import { readLocks } from "../story/locks.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";

const describe = async (name: string, flags: ClusterFlags): Promise<number> => {
  const cluster = openCluster(flags);
  const output = outputTo(process.stdout);
  try {
    const { txn } = await readTransaction(cluster, name);
    const [locks, events] = await Promise.all([readLocks(cluster, txn), readEvents(cluster, txn)]);
    output.write(description({ txn, locks, events }, Date.now(), painter(output), output.width));
    return 0;
  } finally {
    await cluster.api.close();
  }
};

export const describeCommand = command("describe")
  .argument("<name>", "name of the Transaction")
  .action((name: string, flags: ClusterFlags) => exitWith(describe(name, flags)));
