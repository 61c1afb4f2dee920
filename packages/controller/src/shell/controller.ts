// Starts everything that a leader runs: watches, work queue, reconciler and lock renewal.
import { randomUUID } from "node:crypto";
import type { Phase } from "@janus/api";
import { type Api, discovery, type KubeObject } from "@janus/kube";
import {
  keyOf,
  startReflector,
  newWorkQueue,
  sharedApi,
  throttle,
  wall,
  defect,
  type Log,
  withFields,
  type Loop,
  type Watchdog,
  watchdog as newWatchdog,
  queueMetrics,
  recorder,
} from "@janus/runtime";
import type { Registry } from "prom-client";
import { BACKOFF, type Settings, transactions } from "../core/index.ts";
import { messageOf } from "@janus/types";
import { hasNewRequest } from "./reconcile/user-requests.ts";
import { draftsOf, namespaceOf } from "./reconcile/queue-key.ts";
import { TRANSACTION_EVENTS } from "./telemetry/transaction-events.ts";
import { CONTROLLER_NAMES } from "./names.ts";
import { cacheTransform, dueAt, isUnpublished, phaseOf } from "./reconcile/cache-transform.ts";
import {
  DRAFTS_IN_FLIGHT,
  IN_FLIGHT,
  MIN_INTERVAL,
  RENEWAL_ROUND,
  RENEWALS_IN_FLIGHT,
  TURN_PATIENCE,
  WATCH,
} from "./limits.ts";
import { metrics } from "./telemetry/metrics.ts";
import type { Round } from "@janus/runtime";
import { reconciler } from "./reconcile/reconciler.ts";

export interface ControllerOptions {
  readonly settings: Settings;
  /** Reconciles only Transactions of this namespace. Default: all. */
  readonly watchNamespace?: string;
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
  const { settings, watchNamespace, concurrency, identity, log, watchdog = newWatchdog() } = options;
  const patience = TURN_PATIENCE * settings.writeTimeout;
  const apiOf = sharedApi(api, { places: IN_FLIGHT, patience });
  const draftsApiOf = sharedApi(api, { places: DRAFTS_IN_FLIGHT, patience, pauses: true });
  const renewalsOf = sharedApi(options.renewals ?? api, { places: RENEWALS_IN_FLIGHT, patience });
  const aborted = new AbortController();
  const events = recorder(CONTROLLER_NAMES, TRANSACTION_EVENTS, apiOf, identity);
  let isSynced = false;
  const active = (): ReadonlyMap<Phase, number> | undefined => {
    if (!isSynced) return undefined;
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
    wake: (key) => work.add(key),
    observers: { moved: measured.moved, answered: measured.answered, recordEvent: events.recordEvent },
  });
  /** One round of a loop, with an id of its own in the log. */
  const round = ({ heartbeat }: Loop, fields: Readonly<Record<string, unknown>> = {}): Round => {
    heartbeat();
    return { heartbeat, log: withFields(log, { ...fields, reconcile: randomUUID().slice(0, 8) }) };
  };
  const watching = watchdog.loop("reflector");
  /** The keys that are worked on, and whether each was seen to change meanwhile. */
  const underWay = new Map<string, "unchanged" | "changed">();
  const work = newWorkQueue({
    concurrency,
    groupOf: (key) => {
      const last = watched.store.get(key);
      return last !== undefined && isUnpublished(last) ? draftsOf(namespaceOf(key)) : namespaceOf(key);
    },
    work: async (key) => {
      const worker = watchdog.loop("worker");
      underWay.set(key, "unchanged");
      const turn = round(worker, { transaction: key });
      try {
        return await reconcile(key, turn);
      } catch (error) {
        turn.log("error", "internal error in Janus, retrying the Transaction after a pause", defect(error));
        return { type: "failed" };
      } finally {
        worker.rest();
        const last = underWay.get(key) === "changed" ? watched.store.get(key) : undefined;
        underWay.delete(key);
        if (last !== undefined && !isOwn(last)) hear(last);
      }
    },
    backoff: BACKOFF,
    observe: queueMetrics(measured.registry, CONTROLLER_NAMES),
  });
  const add = throttle(MIN_INTERVAL, (key) => work.add(key));
  const urge = throttle(MIN_INTERVAL, (key) => work.urge(key));
  /** A write of this process itself is no reason to reconcile, or to end a pause early. */
  const isOwn = (object: KubeObject): boolean => lastKnown(object)?.resourceVersion === object.metadata.resourceVersion;
  const hear = (object: KubeObject): void => {
    const due = dueAt(object, settings.defaultTtl);
    if (due === undefined) return;
    const key = keyOf(object);
    if (due > wall()) work.addAfter(key, due - wall());
    else if (hasNewRequest(object.metadata, lastKnown(object))) urge(key);
    else add(key);
  };
  const watched = startReflector(
    api,
    { resource: transactions, ...(watchNamespace === undefined ? {} : { namespace: watchNamespace }) },
    {
      signal: aborted.signal,
      timeoutSeconds: WATCH,
      keep: cacheTransform,
      onTurn: watching.heartbeat,
      onEvent: (event) => {
        if (event.type === "synced") isSynced = true;
        if (event.type === "deleted") work.add(keyOf(event.object));
        if (event.type !== "applied" || isOwn(event.object)) return;
        // It may be a write of this process that is not answered yet: that is known when the work has ended.
        if (underWay.has(keyOf(event.object))) underWay.set(keyOf(event.object), "changed");
        else hear(event.object);
      },
      onError: (error) => log("warn", "Transactions cannot be watched; trying again", { error: messageOf(error) }),
    },
  );
  const renewals = setInterval(() => {
    const renewing = watchdog.loop("lock renewal");
    void renew(round(renewing)).finally(renewing.rest);
  }, RENEWAL_ROUND);

  return {
    registry: measured.registry,
    isSynced: () => isSynced,
    synced: watched.synced,
    stop: async () => {
      stop();
      aborted.abort();
      await work.drain();
      clearInterval(renewals);
      watching.rest();
      await events.flush();
    },
  };
};
