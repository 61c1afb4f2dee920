// Starts everything that a leader runs: watches, work queue, reconciler and lock renewal.
import { type Phase, transactions } from "@janus/api";
import { type Api, discovery } from "@janus/kube";
import { sharedApi, type Log, type Watchdog, watchdog as newWatchdog, recorder, watchKind } from "@janus/runtime/parts";
import type { Registry } from "prom-client";
import type { Settings } from "../core/index.ts";
import { hasNewRequest } from "./reconcile/user-requests.ts";
import { draftsOf, namespaceOf } from "./reconcile/queue-key.ts";
import { TRANSACTION_EVENTS } from "./telemetry/transaction-events.ts";
import { CONTROLLER_NAMES } from "./names.ts";
import { cacheTransform, dueAt, isUnpublished, phaseOf, UNFINISHED } from "./reconcile/cache-transform.ts";
import { BACKOFF, DRAFTS_IN_FLIGHT, IN_FLIGHT, RENEWAL_ROUND, RENEWALS_IN_FLIGHT, TURN_PATIENCE } from "./limits.ts";
import { metrics } from "./telemetry/metrics.ts";
import { reconciler } from "./reconcile/reconciler.ts";

export interface ControllerOptions {
  readonly settings: Settings;
  /** Reconciles only Transactions of these namespaces. Default: all. */
  readonly watchNamespaces?: readonly string[];
  /** Transactions reconciled at the same time. */
  readonly concurrency: number;
  /** The reporting instance of events. */
  readonly identity: string;
  readonly log: Log;
  /** Monitors the loops. Default: none. */
  readonly watchdog?: Watchdog;
  /** The API server for the renewal of locks, over connections of its own. Default: the same as for other requests. */
  readonly renewals?: Api;
}

export interface Controller {
  readonly registry: Registry;
  readonly isSynced: () => boolean;
  /** Resolves when all Transactions were listed. */
  readonly synced: Promise<void>;
  /** Resolves when the active reconciles have ended; no new ones are started. */
  readonly stop: () => Promise<void>;
}

/** Watches Transactions, and reconciles each until it is finished. */
export const controller = (api: Api, options: ControllerOptions): Controller => {
  const { settings, watchNamespaces, concurrency, identity, log, watchdog = newWatchdog() } = options;
  const patience = TURN_PATIENCE * settings.writeTimeout;
  const apiOf = sharedApi(api, { places: IN_FLIGHT, patience });
  const draftsApiOf = sharedApi(api, { places: DRAFTS_IN_FLIGHT, patience, pauses: true });
  const renewalsOf = sharedApi(options.renewals ?? api, { places: RENEWALS_IN_FLIGHT, patience });
  const events = recorder(CONTROLLER_NAMES, TRANSACTION_EVENTS, apiOf, identity);
  const active = (): ReadonlyMap<Phase, number> | undefined => {
    if (!watched.isSynced()) return undefined;
    const counts = new Map<Phase, number>();
    for (const object of watched.store.values()) counts.set(phaseOf(object), (counts.get(phaseOf(object)) ?? 0) + 1);
    return counts;
  };
  const measured = metrics(active);
  const { reconcile, renew, lastKnown, stop } = reconciler({
    apiOf,
    draftsApiOf,
    renewalsOf,
    discovery: discovery(api),
    settings,
    hasPendingRequest: (key, { metadata }) => {
      const last = watched.store.get(key)?.metadata;
      return last !== undefined && last.uid === metadata.uid && hasNewRequest(last, metadata);
    },
    mayBeDeleted: (key, { metadata }) => watched.store.get(key)?.metadata.uid !== metadata.uid,
    mayExist: (key) => watched.store.has(key),
    wake: (key) => watched.wake(key),
    observers: { moved: measured.moved, answered: measured.answered, recordEvent: events.recordEvent },
  });
  const watched = watchKind(api, {
    resource: transactions,
    first: UNFINISHED,
    ...(watchNamespaces === undefined ? {} : { namespaces: watchNamespaces }),
    names: CONTROLLER_NAMES,
    registry: measured.registry,
    concurrency,
    log,
    watchdog,
    reconcile,
    lastKnown,
    backoff: BACKOFF,
    keep: cacheTransform,
    dueAt: (object) => dueAt(object, settings.defaultTtl),
    isUrged: (object) => hasNewRequest(object.metadata, lastKnown(object)),
    groupOf: (key, cached) =>
      cached !== undefined && isUnpublished(cached) ? draftsOf(namespaceOf(key)) : namespaceOf(key),
  });
  const renewals = setInterval(() => {
    const renewing = watchdog.loop("lock renewal");
    void renew(watched.round(renewing)).finally(renewing.rest);
  }, RENEWAL_ROUND);

  return {
    registry: measured.registry,
    isSynced: watched.isSynced,
    synced: watched.synced,
    stop: async () => {
      stop();
      await watched.stop();
      clearInterval(renewals);
      await events.flush();
    },
  };
};
