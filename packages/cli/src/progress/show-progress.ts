// Shows a Transaction until it has finished, on a terminal, in plain lines or as JSON.
import { LEADER_LEASE, stateName, SYSTEM_NAMESPACE, type Transaction } from "@janus/api";
import { isTerminal } from "@janus/controller";
import { leases, messageOf } from "@janus/types";
import type { ApiError } from "@janus/kube";
import { cannotUse, type Cluster } from "../cluster/cluster.ts";
import { follow } from "../cluster/follow.ts";
import { stored } from "../cluster/transactions.ts";
import { Failure, OUTCOME_UNKNOWN } from "../failure.ts";
import { printable } from "../output/printable.ts";
import { type Output, painter } from "../output/style.ts";
import { visible } from "../output/visible.ts";
import { checkLeader } from "../story/checkup.ts";
import { look } from "../story/installation.ts";
import { interrupted } from "./interruptible.ts";
import { messageOfTransaction, progressNews, progressScreen } from "./progress-text.ts";

/** The exit code, since kubectl has none for it: 0 Committed, 2 RolledBack, 3 Failed. */
export const exitCodeOf = ({ status: { phase } }: Transaction): number =>
  phase === "Committed" ? 0 : phase === "RolledBack" ? 2 : 3;

export interface ProgressOptions {
  readonly output: Output;
  /** json: an object per line; name: nothing, since the name has been printed. Default: text. */
  readonly format?: "json" | "name" | undefined;
  /**
   * The one that is known to exist: what cannot be seen is not nothing, and another one of its name is not it.
   * Default: the first one that is seen.
   */
  readonly uid?: string | undefined;
  /** The state that the user knows, which is no news in plain lines. Default: all that is seen is news. */
  readonly former?: Transaction;
  /** When what is shown began, such as a rollback, in ms since the epoch. Default: when the Transaction itself did. */
  readonly since?: number;
  /** When it is over. Default: in a terminal phase. */
  readonly isOver?: (txn: Transaction) => boolean;
}

interface Screen {
  /** There is a new state. */
  readonly show: (former: Transaction | undefined, txn: Transaction) => void;
  /** Something is wrong beside it; undefined: no more. */
  readonly warn: (warning: string | undefined) => void;
  readonly end: () => void;
}

const liveState = async ({ hasColour }: Output, since: number | undefined): Promise<Screen> => {
  const { liveScreen } = await import("./live-screen.ts");
  const paint = painter({ hasColour });
  let last: Transaction | undefined;
  let told: string | undefined;
  const { draw, end } = await liveScreen(process.stdout, (width, height) =>
    visible(progressScreen({ txn: last, warning: told, since }, Date.now(), paint, width, height)),
  );
  return {
    show: (_, txn) => {
      last = txn;
      draw();
    },
    warn: (warning) => {
      told = warning;
      draw();
    },
    end,
  };
};

/** Each once, until it is over. */
const warnings = (): Screen["warn"] => {
  let told: string | undefined;
  return (warning) => {
    if (warning !== undefined && warning !== told) process.stderr.write(`${warning}\n`);
    told = warning;
  };
};

const plainLines = ({ write }: Output): Screen => ({
  show: (former, txn) => {
    for (const line of progressNews(former, txn)) write(`${line}\n`);
  },
  warn: warnings(),
  end: () => {},
});

const jsonLines = ({ write }: Output): Screen => ({
  show: (_, { metadata, status: { phase, progress, items, conditions } }) => {
    const { namespace, name } = metadata;
    const message = conditions.find(({ type }) => type === "Ready")?.message;
    const states = items.map(({ target, state, waiting }) => ({
      target,
      state: stateName(state),
      waitingFor: waiting?.gate,
    }));
    write(`${JSON.stringify({ namespace, name, phase, progress, message, items: states })}\n`);
  },
  warn: warnings(),
  end: () => {},
});

const screenFor = async ({ output, format, since }: ProgressOptions): Promise<Screen> => {
  if (format === "name") return { show: () => {}, warn: warnings(), end: () => {} };
  if (format === "json") return jsonLines(output);
  return output.isTerminal ? liveState(output, since) : plainLines(output);
};

/** Says what happens to a Transaction that is no longer watched, and the commands for it. */
const whatHappensNext = (last: Transaction | undefined, which: string, on: string, isAlone: boolean): string =>
  last !== undefined && last.spec.lifecycle !== "Published"
    ? `Transaction ${which} is ${last.spec.lifecycle}: nothing is applied before it is approved.\n` +
      `To see what comes next:   kubectl janus explain ${on}`
    : `${isAlone ? `Transaction ${which} is continued once a controller works` : `The controller continues Transaction ${which}`}.\n` +
      `To watch it again:   kubectl janus watch ${on}\n` +
      `To roll it back:     kubectl janus rollback ${on}`;

/** Milliseconds without a sign of a controller, after which the user is told; a leader is looked for as often. */
const PATIENCE = 15_000;

/** Says that nobody leads, where the user may see that. An installation elsewhere is unknown here. */
const lookForLeader = async (cluster: Cluster): Promise<string | undefined> => {
  const looked = await look(cluster, leases, LEADER_LEASE, SYSTEM_NAMESPACE);
  if ("unreadable" in looked || looked.object === undefined) return undefined;
  const { isFine, what } = checkLeader(looked.object, Date.now());
  return isFine ? undefined : capitalized(what);
};

const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/**
 * Shows a Transaction until it is over.
 *
 * @returns it, as it ended.
 * Errors: if it does not exist; if it cannot be read, or is deleted, whether or not another one has its name by then,
 *         with exit code 5 where it is known to exist; if interrupted (Ctrl-C), with exit code 130 and what to do.
 */
export const showProgress = async (cluster: Cluster, name: string, options: ProgressOptions): Promise<Transaction> => {
  const { uid, former, isOver = ({ status }) => isTerminal(status.phase) } = options;
  const isKnown = uid !== undefined;
  const ending = new AbortController();
  const where = `-n ${cluster.namespace}`;
  let isInterrupted = false;
  const interrupt = (): void => {
    isInterrupted = true;
    ending.abort();
  };
  // Before anything is waited for. Not `once`: listeners of log-update alone would end the process before it has said anything.
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  const screen = await screenFor(options);
  let last: Transaction | undefined;
  let unseen: string | undefined;
  let connection: string | undefined;
  let isLate = false;
  let unled: string | undefined;
  const unattended = (): string | undefined => {
    if (last?.spec.lifecycle !== "Published") return undefined;
    return isLate && last.status.startedAt === undefined ? "No controller has started it so far" : unled;
  };
  const warn = (): void => {
    const alone = unattended();
    screen.warn(connection ?? (alone === undefined ? undefined : `${alone}. To find out why: kubectl janus doctor`));
  };
  // What was seen once is waited for: the controller continues while the API server, or this connection, is down.
  const onError = (error: ApiError): void => {
    if (last === undefined && (!isKnown || error.type === "refused")) {
      unseen = cannotUse(error);
      ending.abort();
    } else {
      connection ??= `Not connected, trying again: ${messageOf(error)}`;
      warn();
    }
  };
  const onRead = (): void => {
    connection = undefined;
    warn();
  };
  const lookAround = async (): Promise<void> => {
    unled = await lookForLeader(cluster);
    // The screen may have ended meanwhile.
    if (!ending.signal.aborted) warn();
  };
  const hint = setInterval(() => {
    isLate = true;
    void lookAround();
  }, PATIENCE);
  try {
    for await (const observed of follow(cluster, name, { signal: ending.signal, onError, onRead })) {
      if (observed === undefined && last === undefined && !isKnown)
        throw new Failure(
          `Transaction ${cluster.namespace}/${name} does not exist; to list them: kubectl janus get ${where}`,
        );
      const expected = uid ?? last?.metadata.uid ?? observed?.metadata.uid;
      if (observed === undefined || observed.metadata.uid !== expected)
        throw new Failure(
          `Transaction ${cluster.namespace}/${name} was deleted${observed === undefined ? "" : ", and there is another one of its name"}; ` +
            `its last phase was ${last?.status.phase ?? "not seen"}`,
          OUTCOME_UNKNOWN,
        );
      const txn = printable(stored(observed).txn);
      screen.show(last ?? former, txn);
      last = txn;
      warn();
      if (isOver(txn)) return txn;
    }
    if (unseen !== undefined)
      throw new Failure(
        `cannot watch Transaction ${cluster.namespace}/${name}: ${unseen}`,
        isKnown ? OUTCOME_UNKNOWN : 1,
      );
    if (isInterrupted)
      throw interrupted(
        whatHappensNext(last, `${cluster.namespace}/${name}`, `${name} ${where}`, unattended() !== undefined),
      );
    throw new Failure(last === undefined ? "it was not seen" : messageOfTransaction(last));
  } finally {
    clearInterval(hint);
    process.removeListener("SIGINT", interrupt);
    process.removeListener("SIGTERM", interrupt);
    screen.end();
    ending.abort();
  }
};
