import { FINALIZER, type Phase, REQUEST_ROLLBACK } from "@janus/api";
import { type Api, discovery, keyOf, type KubeObject, queue, reflect } from "@janus/kube";
import { isTerminal, sentence, type Settings, transactions } from "../core/index.ts";
import { type Recorder, recorder } from "./events.ts";
import type { Log } from "./log.ts";
import { type Metrics, metrics } from "./metrics.ts";
import { reconciler } from "./reconcile.ts";

export interface ControllerOptions {
  readonly settings: Settings;
  /** Only Transactions of this namespace. Default: all. */
  readonly watchNamespace?: string;
  /** Transactions worked on at the same time. */
  readonly concurrency: number;
  /** Who reports events. */
  readonly identity: string;
  readonly log: Log;
}

export interface Controller {
  readonly metrics: Metrics;
  /** Resolves when every Transaction has been seen once. */
  readonly synced: Promise<void>;
  /** Ends when the steps under way have ended; no new ones are begun. */
  readonly stop: () => Promise<void>;
}

const phaseOf = (object: KubeObject): Phase =>
  ((object["status"] as { phase?: Phase } | undefined)?.phase ?? "Pending") satisfies Phase;

/** Nothing is left to do for a Transaction that has ended without our finalizer, unless it is to be retried or expires. */
const isOver = (object: KubeObject): boolean =>
  isTerminal(phaseOf(object)) &&
  phaseOf(object) !== "Failed" &&
  !(object.metadata.finalizers ?? []).includes(FINALIZER) &&
  (object["spec"] as { readonly ttlSecondsAfterFinished?: number }).ttlSecondsAfterFinished === undefined;

/** How often it is looked whether locks are due for renewal, in ms. */
const RENEWAL_ROUND = 250;

/** Watches Transactions, and works on each until it is over. */
export const controller = (api: Api, options: ControllerOptions): Controller => {
  const { settings, watchNamespace, concurrency, identity, log } = options;
  const aborted = new AbortController();
  const events: Recorder = recorder(api, identity, log);
  const active = (): ReadonlyMap<Phase, number> => {
    const counts = new Map<Phase, number>();
    for (const object of watched.store.values()) counts.set(phaseOf(object), (counts.get(phaseOf(object)) ?? 0) + 1);
    return counts;
  };
  const measured = metrics(active);
  const { reconcile, renew, stop } = reconciler({
    api,
    discovery: discovery(api),
    settings,
    log,
    seemsCalled: (key, { metadata }) => {
      const last = watched.store.get(key)?.metadata;
      if (last === undefined || last.uid !== metadata.uid) return false;
      const isAsked = (name: string): boolean =>
        last.annotations?.[name] !== undefined && metadata.annotations?.[name] === undefined;
      const isDeleted = last.deletionTimestamp !== undefined && metadata.deletionTimestamp === undefined;
      return isDeleted || isAsked(REQUEST_ROLLBACK);
    },
    witness: {
      moved: (from, to) => {
        measured.moved(from, to);
        const { namespace, name, uid } = to.metadata;
        const because = to.status.conditions.find(({ type }) => type === "Ready")?.message;
        log("info", `${from.status.phase} → ${to.status.phase}`, { transaction: `${namespace}/${name}`, uid, because });
      },
      answered: (txn, effect, error) => {
        measured.answered(effect, error);
        const { namespace, name } = txn.metadata;
        log("debug", effect.purpose, {
          transaction: `${namespace}/${name}`,
          ...(error === undefined ? {} : { error: sentence(error) }),
        });
      },
      told: events.tell,
    },
  });
  const work = queue({
    concurrency,
    work: reconcile,
    backoff: { first: 200, cap: 30_000 },
    observe: (event) => {
      if (event.type === "threw")
        log("error", "a defect in Janus", { transaction: event.key, error: String(event.error) });
    },
  });
  const watched = reflect(
    api,
    { resource: transactions, ...(watchNamespace === undefined ? {} : { namespace: watchNamespace }) },
    {
      signal: aborted.signal,
      onEvent: (event) => {
        if (event.type !== "synced" && !(event.type === "applied" && isOver(event.object)))
          work.add(keyOf(event.object));
      },
      onError: (error) => log("warn", "Transactions cannot be watched; trying again", { error: sentence(error) }),
    },
  );
  let renewing = false;
  const renewals = setInterval(() => {
    if (renewing) return;
    renewing = true;
    void renew().finally(() => (renewing = false));
  }, RENEWAL_ROUND);

  return {
    metrics: measured,
    synced: watched.synced,
    stop: async () => {
      stop();
      aborted.abort();
      await work.drain();
      clearInterval(renewals);
      await events.flush();
    },
  };
};
