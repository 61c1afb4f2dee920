// The command reject: moves a proposed Transaction back to Draft, with a reason.
import { REJECTION_REASON } from "@janus/api";
import { type ClusterFlags, onCluster, orFail } from "../cluster/cluster.ts";
import { move } from "../cluster/move.ts";
import { readTransaction } from "../cluster/transactions.ts";
import { outputTo } from "../output/style.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";
import { nameAndNamespace, published, refuseIn } from "./lifecycle.ts";

interface RejectFlags extends ClusterFlags {
  readonly reason?: string;
}

const reject = (name: string, flags: RejectFlags): Promise<number> =>
  onCluster(flags, async (cluster) => {
    const { txn } = await readTransaction(cluster, name);
    refuseIn(txn, {
      Draft: (on) => `it is not proposed. To delete it: kubectl delete transaction ${on}`,
      Published: published,
    });
    const annotations = { [REJECTION_REASON]: flags.reason ?? null };
    const moved = await move(cluster, txn, { to: "Draft", annotations });
    const what = `Transaction ${cluster.namespace}/${name}`;
    orFail(moved, `cannot reject ${what}`);
    const on = nameAndNamespace(txn);
    outputTo(process.stdout).write(
      `${what} is a Draft again.\n` +
        `To edit it:           kubectl janus edit ${on}\n` +
        `To propose it again:  kubectl janus propose ${on}\n`,
    );
    return 0;
  });

export const rejectCommand = command("reject")
  .argument("<name>", "name of the Transaction")
  .option("--reason <text>", "why, for its author: shown by describe and explain")
  .addHelpText("after", "\nIt takes no approval: its author, too, may set it back to Draft, to edit it.")
  .action((name: string, flags: RejectFlags) => exitWith(reject(name, flags)));
