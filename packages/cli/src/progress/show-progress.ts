import type { Transaction } from "@janus/api";
import { isTerminal } from "@janus/controller";
import type { Cluster } from "../cluster/cluster.ts";
import { follow } from "../cluster/follow.ts";
import { stored } from "../cluster/transactions.ts";
import { Failure } from "../failure.ts";
import { type Output, painter } from "../output/style.ts";
import { messageOfTransaction, progressNews, progressScreen } from "./progress-text.ts";

/** As kubectl has no code for it: 0 Committed, 2 RolledBack, 3 Failed. */
export const exitCodeOf = ({ status: { phase } }: Transaction): number =>
  phase === "Committed" ? 0 : phase === "RolledBack" ? 2 : 3;

export interface ProgressOptions {
  readonly output: Output;
  /** One JSON object per line instead of text. */
  readonly isJson?: boolean;
  /** When it is over. Default: in a terminal phase. */
  readonly isOver?: (txn: Transaction) => boolean;
}

interface Screen {
  readonly show: (former: Transaction | undefined, txn: Transaction) => void;
  readonly end: () => void;
}

/** Redraws the lines of a terminal, also between two states, as time passes. */
const liveScreen = async ({ width, hasColour }: Output): Promise<Screen> => {
  const { default: redraw } = await import("log-update");
  const paint = painter({ hasColour });
  let last: Transaction | undefined;
  const draw = (): void => {
    if (last !== undefined) redraw(progressScreen(last, Date.now(), paint, width, process.stdout.rows));
  };
  const ticking = setInterval(draw, 1000);
  return {
    show: (_, txn) => {
      last = txn;
      draw();
    },
    end: () => {
      clearInterval(ticking);
      redraw.done();
    },
  };
};

const plainLines = ({ write }: Output): Screen => ({
  show: (former, txn) => {
    for (const line of progressNews(former, txn)) write(`${line}\n`);
  },
  end: () => {},
});

const jsonLines = ({ write }: Output): Screen => ({
  show: (_, { metadata, status: { phase, progress, items, conditions } }) => {
    const { namespace, name } = metadata;
    const message = conditions.find(({ type }) => type === "Ready")?.message;
    const states = items.map(({ target, state, waiting }) => ({
      target,
      state: state.type,
      waitingFor: waiting?.gate,
    }));
    write(`${JSON.stringify({ namespace, name, phase, progress, message, items: states })}\n`);
  },
  end: () => {},
});

/** After so many ms without a sign of a controller, people should know. */
const PATIENCE = 15_000;

/**
 * Shows a Transaction until it is over.
 *
 * @returns it, as it ended.
 * Errors: if it does not exist or is deleted; if interrupted (Ctrl-C), with exit code 130 and what to do.
 */
export const showProgress = async (
  cluster: Cluster,
  name: string,
  { output, isJson = false, isOver = ({ status }) => isTerminal(status.phase) }: ProgressOptions,
): Promise<Transaction> => {
  const screen = isJson ? jsonLines(output) : output.isTerminal ? await liveScreen(output) : plainLines(output);
  const ending = new AbortController();
  const where = `-n ${cluster.namespace}`;
  let isInterrupted = false;
  const interrupt = (): void => {
    isInterrupted = true;
    ending.abort();
  };
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  let last: Transaction | undefined;
  const hint = setTimeout(() => {
    if (last?.status.startedAt === undefined)
      process.stderr.write(`No controller has taken it up so far; to find out why: kubectl janus doctor\n`);
  }, PATIENCE);
  try {
    for await (const sight of follow(cluster, name, { signal: ending.signal })) {
      if (sight === undefined)
        throw new Failure(
          last === undefined
            ? `Transaction ${cluster.namespace}/${name} does not exist; to list them: kubectl janus get ${where}`
            : `Transaction ${cluster.namespace}/${name} was deleted; its last phase was ${last.status.phase}`,
        );
      const { txn } = stored(sight);
      screen.show(last, txn);
      last = txn;
      if (isOver(txn)) return txn;
    }
    if (isInterrupted)
      throw new Failure(
        `interrupted. The controller goes on with Transaction ${cluster.namespace}/${name}.\n` +
          `To watch it again:   kubectl janus watch ${name} ${where}\n` +
          `To roll it back:     kubectl janus rollback ${name} ${where}`,
        130,
      );
    throw new Failure(last === undefined ? "it was not seen" : messageOfTransaction(last));
  } finally {
    clearTimeout(hint);
    process.removeListener("SIGINT", interrupt);
    process.removeListener("SIGTERM", interrupt);
    screen.end();
    ending.abort();
  }
};
