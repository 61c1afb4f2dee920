// Waits until the Transactions of a run are over, or its controller has died.
import { type Phase, RETRY_ROLLBACK, transactions } from "@janus/api";
import type { Api, KubeObject } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { phaseOf } from "./user-action.ts";
import type { ObservedTransactions } from "./observed-transactions.ts";

/** A Transaction in the end; what it was last, where it is gone. */
export interface Ended {
  readonly object: KubeObject;
  readonly isGone: boolean;
}

const TERMINAL: readonly Phase[] = ["Committed", "RolledBack", "Failed"];

export const isOver = (transaction: KubeObject): boolean =>
  TERMINAL.includes(phaseOf(transaction)) &&
  (transaction.metadata.finalizers ?? []).length === 0 &&
  transaction.metadata.annotations?.[RETRY_ROLLBACK] === undefined;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Watching {
  readonly api: Api;
  readonly seen: ObservedTransactions;
  /** How long it may take, in ms. Default: longer than anything takes, a busy machine included. */
  readonly patience?: number;
}

/** A Transaction that is over, by a live read; `undefined` as long as it is not. */
const ended = async (
  { api, seen }: Watching,
  namespace: string,
  made: KubeObject,
  leaves: boolean,
): Promise<Ended | undefined> => {
  const name = made.metadata.name ?? "";
  const observed = seen.of(namespace, name);
  if (observed?.isGone === true) return observed;
  if (leaves || observed === undefined || !isOver(observed.object)) return undefined;
  const live = await api.send({ verb: "get", resource: transactions, namespace, name });
  return E.isRight(live) && isOver(live.right) ? { object: live.right, isGone: false } : undefined;
};

const describe = ({ seen }: Watching, { metadata: { namespace = "", name = "" } }: KubeObject): string => {
  const observed = seen.of(namespace, name);
  const { conditions = [] } = (observed?.object["status"] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly message: string }[];
  };
  const ready = conditions.find(({ type }) => type === "Ready")?.message;
  const finalizers = observed?.object.metadata.finalizers ?? [];
  return `${name} is ${phaseOf(observed?.object)} with the finalizers [${finalizers.join(", ")}]: ${ready}`;
};

/** Waits until all Transactions are over, or the controller has died. */
export const over = async (
  watching: Watching,
  leaves: boolean,
  namespace: string,
  made: readonly KubeObject[],
  died: Promise<void>,
): Promise<readonly Ended[] | "died"> => {
  const { patience = 300_000 } = watching;
  const until = performance.now() + patience;
  let isDead = false;
  void died.then(() => (isDead = true));
  for (;;) {
    const news = watching.seen.change(namespace);
    if (isDead) return "died";
    const ends = await Promise.all(made.map((one) => ended(watching, namespace, one, leaves)));
    if (ends.every((end) => end !== undefined)) return ends;
    if (performance.now() > until)
      throw new Error(`not over after ${patience / 1000} s: ${made.map((one) => describe(watching, one)).join("; ")}`);
    await Promise.race([news, died, sleep(1000)]);
  }
};
