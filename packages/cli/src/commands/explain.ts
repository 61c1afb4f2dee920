// The command explain: says why a Transaction is in its phase, and what to do next.
import { type ClusterFlags, onCluster } from "../cluster/cluster.ts";
import { readTransaction } from "../cluster/transactions.ts";
import { printable } from "../output/printable.ts";
import { outputTo, painter } from "../output/style.ts";
import { hanging } from "../output/wrap.ts";
import { explanation } from "../story/explanation.ts";
import { readLocks } from "../story/locks.ts";
import { exitWith } from "./exit-with.ts";
import { command } from "./flags.ts";

const explain = (name: string, flags: ClusterFlags): Promise<number> =>
  onCluster(flags, async (cluster) => {
    const output = outputTo(process.stdout);
    const paint = painter(output);
    const { txn } = await readTransaction(cluster, name);
    const { what, why, where, state, next } = explanation(printable(txn), {
      locks: await readLocks(cluster, txn),
      now: Date.now(),
    });
    const line = (label: string, value: string | undefined): string =>
      value === undefined ? "" : `${paint("dim", `${label}:`.padEnd(7))}${hanging(value, output.width, 7)}\n`;
    output.write(
      `${paint("bold", hanging(what, output.width, 0))}\n` +
        [line("Why", why), line("Where", where), line("State", state)].join("") +
        // In one piece, so that it can be pasted.
        `${paint("dim", "Next:")}  ${next}\n`,
    );
    return 0;
  });

export const explainCommand = command("explain")
  .argument("<name>", "name of the Transaction")
  .action((name: string, flags: ClusterFlags) => exitWith(explain(name, flags)));
