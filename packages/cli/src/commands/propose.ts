// The command propose: moves a Draft to Proposed.
import { REJECTION_REASON } from "@janus/api";
import { type ClusterFlags, onCluster, orFail } from "../cluster/cluster.ts";
import { move } from "../cluster/move.ts";
import { readTransaction } from "../cluster/transactions.ts";
import { outputTo } from "../output/style.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";
import { nameAndNamespace, published, refuseIn } from "./lifecycle.ts";

const propose = (name: string, flags: ClusterFlags): Promise<number> =>
  onCluster(flags, async (cluster) => {
    const { txn } = await readTransaction(cluster, name);
    refuseIn(txn, {
      Proposed: (on) => `it waits for its approval. To approve it: kubectl janus approve ${on}`,
      Published: published,
    });
    // Why it was rejected before is no longer so.
    const moved = await move(cluster, txn, { to: "Proposed", annotations: { [REJECTION_REASON]: null } });
    const what = `Transaction ${cluster.namespace}/${name}`;
    orFail(moved, `cannot propose ${what}`);
    const on = nameAndNamespace(txn);
    outputTo(process.stdout).write(
      `${what} is Proposed: it can no longer be edited, and nothing is applied.\n` +
        `To approve it:        kubectl janus approve ${on}\n` +
        `To set it back:       kubectl janus reject ${on}\n`,
    );
    return 0;
  });

export const proposeCommand = command("propose")
  .argument("<name>", "name of the Transaction")
  .addHelpText("after", "\nNothing is locked or applied. From then on, its spec cannot be edited.")
  .action((name: string, flags: ClusterFlags) => exitWith(propose(name, flags)));
