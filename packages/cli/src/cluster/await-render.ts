// Waits until the controller has rendered a Draft.
import type { Render, Transaction } from "@janus/api";
import { cannotUse, type Cluster } from "./cluster.ts";
import { follow } from "./follow.ts";
import { withPlacedTargets } from "./placed-targets.ts";
import { readTransaction, type Stored, stored } from "./transactions.ts";
import { Failure } from "../failure.ts";
import { printable } from "../output/printable.ts";
import { currentRender } from "../plan/render-report.ts";

/** Milliseconds until it gives up: a render takes a second or two, unless no controller runs. */
const PATIENCE = 60_000;
/** Milliseconds after which the user is told what is waited for. */
const SOON = 2000;

/** A Transaction, and what the controller says that it would do: both {@link printable}, unlike the object. */
export interface Rendered extends Stored {
  readonly render: Render;
}

const shown = async (
  cluster: Cluster,
  { object, txn }: { readonly object: Stored["object"]; readonly txn: Transaction },
  render: Render,
): Promise<Rendered> => ({ object, ...printable({ txn: await withPlacedTargets(cluster, txn), render }) });

/**
 * Waits until the controller has rendered a Draft, or a proposed Transaction, as it is now.
 *
 * Errors: if it is deleted or published meanwhile; if it takes more than a minute; if interrupted (Ctrl-C), with exit code 130.
 */
export const awaitRender = async (cluster: Cluster, name: string): Promise<Rendered> => {
  const what = `Transaction ${cluster.namespace}/${name}`;
  const ending = new AbortController();
  let failure = new Failure(
    `${what} has not been rendered within a minute, so it is unknown what it would do. To check the controller: kubectl janus doctor`,
  );
  const end = (other?: Failure): void => {
    failure = other ?? failure;
    ending.abort();
  };
  const interrupt = (): void =>
    end(
      new Failure(
        `interrupted. ${what} exists. To look at it: kubectl janus describe ${name} -n ${cluster.namespace}`,
        130,
      ),
    );
  const hint = setTimeout(() => {
    process.stderr.write(`Waiting for the controller to render ${what}.\n`);
  }, SOON);
  const timer = setTimeout(end, PATIENCE);
  process.once("SIGINT", interrupt);
  try {
    const first = await readTransaction(cluster, name);
    const render = currentRender(first.txn);
    if (render !== undefined) return await shown(cluster, first, render);
    const onError = (error: Parameters<typeof cannotUse>[0]): void => {
      if (error.type === "refused") end(new Failure(`cannot watch ${what}: ${cannotUse(error)}`));
    };
    for await (const object of follow(cluster, name, { signal: ending.signal, onError })) {
      if (object === undefined) throw new Failure(`${what} was deleted`);
      const seen = stored(object);
      if (seen.txn.spec.lifecycle === "Published") throw new Failure(`${what} was published in the meantime`);
      const render = currentRender(seen.txn);
      if (render !== undefined) return await shown(cluster, { object, txn: seen.txn }, render);
    }
    throw failure;
  } finally {
    clearTimeout(hint);
    clearTimeout(timer);
    process.removeListener("SIGINT", interrupt);
    ending.abort();
  }
};
