// Watches the objects of a kind, and reconciles each of them when it has changed or is due.
import { randomUUID } from "node:crypto";
import type { Api, Backoff, KubeObject, ObjectMeta, Resource } from "@janus/kube";
import type { Instant } from "@janus/types";
import type { Registry } from "prom-client";
import { wall } from "../process/clock.ts";
import type { ControllerNames } from "../process/controller-names.ts";
import { defect, type Log, withFields } from "../process/log.ts";
import type { Loop, Watchdog } from "../process/watchdog.ts";
import { queueMetrics } from "../telemetry/queue-metrics.ts";
import { keyOf } from "../watch/reflector.ts";
import { reflectNamespaces } from "../watch/reflect-namespaces.ts";
import { type SecondaryWatch, watchSecondary } from "../watch/secondary-watch.ts";
import { reportWatchFailure } from "../watch/watch-failure.ts";
import { throttle } from "../work-queue/throttle.ts";
import { newWorkQueue, type Requeue } from "../work-queue/work-queue.ts";
import type { Round } from "./reconcile-key.ts";

/** How long a watch lasts, in s. One that has silently stopped is noticed after that and the deadline of a request. */
const WATCH = 60;

/** An object that other clients keep writing is reconciled at most once in this time, in ms: it costs several requests. */
const MIN_INTERVAL = 1000;

/** The pause of an object after requests that failed, in ms, unless its controller has another one. */
const DEFAULT_BACKOFF: Backoff = { first: 200, cap: 30_000 };

export interface KindOptions {
  readonly resource: Resource;
  /** Only the objects of these namespaces. Default: all. */
  readonly namespaces?: readonly string[];
  /** Only the objects with these labels. Default: all. */
  readonly labelSelector?: string;
  /** A field selector: the objects that it selects are reconciled without waiting until all are listed. Default: all wait. */
  readonly first?: string;
  /** Objects of other kinds, on whose changes those of this kind are reconciled. Default: none. */
  readonly watches?: readonly SecondaryWatch[];
  readonly names: ControllerNames;
  readonly registry: Registry;
  /** Objects that are reconciled at the same time. */
  readonly concurrency: number;
  readonly log: Log;
  readonly watchdog: Watchdog;
  readonly reconcile: (key: string, round: Round) => Promise<Requeue>;
  /** The metadata as last read or written; a write of this process itself is no reason to reconcile. */
  readonly lastKnown: (object: KubeObject) => Pick<ObjectMeta, "resourceVersion"> | undefined;
  /** The pause of an object after effects that failed, doubled with each failure. Default: 200 ms, up to half a minute. */
  readonly backoff?: Backoff;
  /** The part of an object that is cached. Default: all of it. */
  readonly keep?: (object: KubeObject) => KubeObject;
  /** When an object that has changed must be reconciled; undefined: not before it changes again. Default: at once. */
  readonly dueAt?: (object: KubeObject) => Instant | undefined;
  /** Whether a user asks for something that is not known yet: that ends a pause early. Default: nobody does. */
  readonly isUrged?: (object: KubeObject) => boolean;
  /** The group whose turns an object takes. Default: its namespace. */
  readonly groupOf?: (key: string, cached: KubeObject | undefined) => string;
}

export interface WatchedKind {
  /** The cached objects by key. */
  readonly store: ReadonlyMap<string, KubeObject>;
  readonly isSynced: () => boolean;
  /** Resolves when all objects were listed. */
  readonly synced: Promise<void>;
  /** Adds a key to the work queue at once. */
  readonly wake: (key: string) => void;
  /** A turn of another loop, with an id of its own in the log. */
  readonly round: (loop: Loop, fields?: Readonly<Record<string, unknown>>) => Round;
  /** Resolves when the active turns have ended; no new ones are started. */
  readonly stop: () => Promise<void>;
}

const namespaceOf = (key: string): string => key.slice(0, Math.max(0, key.indexOf("/")));

/**
 * Watches the objects of a kind, and reconciles each.
 *
 * Guarantees: an object is reconciled after every change by another client, at most once a second, but at once when a user asks for
 *             something; one is never reconciled twice at once; groups take turns.
 */
export const watchKind = (api: Api, options: KindOptions): WatchedKind => {
  const {
    resource,
    namespaces,
    labelSelector,
    first,
    watches = [],
    names,
    registry,
    concurrency,
    log,
    watchdog,
    reconcile,
    lastKnown,
  } = options;
  const {
    keep = (object) => object,
    dueAt = wall,
    isUrged = () => false,
    groupOf = namespaceOf,
    backoff = DEFAULT_BACKOFF,
  } = options;
  const field = `${resource.kind.charAt(0).toLowerCase()}${resource.kind.slice(1)}`;
  const aborted = new AbortController();
  let isSynced = false;
  const round: WatchedKind["round"] = ({ heartbeat }, fields = {}) => {
    heartbeat();
    return { heartbeat, log: withFields(log, { ...fields, reconcile: randomUUID().slice(0, 8) }) };
  };
  /** The keys that are worked on, and whether each was seen to change meanwhile. */
  const underWay = new Map<string, "unchanged" | "changed">();
  const work = newWorkQueue({
    concurrency,
    groupOf: (key) => groupOf(key, watched.store.get(key)),
    work: async (key) => {
      const worker = watchdog.loop("worker");
      underWay.set(key, "unchanged");
      const turn = round(worker, { [field]: key });
      try {
        return await reconcile(key, turn);
      } catch (error) {
        turn.log(
          "error",
          `internal error in ${names.product}, retrying the ${resource.kind} after a pause`,
          defect(error),
        );
        return { type: "failed" };
      } finally {
        worker.rest();
        const last = underWay.get(key) === "changed" ? watched.store.get(key) : undefined;
        underWay.delete(key);
        if (last !== undefined && !isOwn(last)) hear(last);
      }
    },
    backoff,
    observe: queueMetrics(registry, names),
  });
  const add = throttle(MIN_INTERVAL, (key) => work.add(key));
  const urge = throttle(MIN_INTERVAL, (key) => work.urge(key));
  /** A write of this process itself is no reason to reconcile, or to end a pause early. */
  const isOwn = (object: KubeObject): boolean => lastKnown(object)?.resourceVersion === object.metadata.resourceVersion;
  const hear = (object: KubeObject): void => {
    const due = dueAt(object);
    if (due === undefined) return;
    const key = keyOf(object);
    if (due > wall()) work.addAfter(key, due - wall());
    else if (isUrged(object)) urge(key);
    else add(key);
  };
  const watched = reflectNamespaces(
    api,
    {
      resource,
      ...(namespaces === undefined ? {} : { namespaces }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
    },
    {
      signal: aborted.signal,
      timeoutSeconds: WATCH,
      keep,
      ...(first === undefined ? {} : { first }),
      watchdog,
      loop: "reflector",
      onEvent: (event) => {
        if (event.type === "deleted") work.add(keyOf(event.object));
        if (event.type !== "applied" || isOwn(event.object)) return;
        // It may be a write of this process that is not answered yet: that is known when the work has ended.
        if (underWay.has(keyOf(event.object))) underWay.set(keyOf(event.object), "changed");
        else hear(event.object);
      },
      onError: reportWatchFailure(log, names.objects, resource),
    },
  );
  const secondary = watches.map((watch) =>
    watchSecondary(api, watch, {
      ...(namespaces === undefined ? {} : { namespaces }),
      log,
      watchdog,
      signal: aborted.signal,
      timeoutSeconds: WATCH,
      interval: MIN_INTERVAL,
      // What is not in the cache is reconciled when it is, or is none of those that are watched.
      wake: (key) => {
        if (watched.store.has(key)) work.add(key);
      },
    }),
  );
  const listAll = async (): Promise<void> => {
    await Promise.all([watched.synced, ...secondary]);
    isSynced = !aborted.signal.aborted;
  };
  const synced = listAll();
  return {
    store: watched.store,
    isSynced: () => isSynced,
    synced,
    wake: (key) => work.add(key),
    round,
    stop: async () => {
      aborted.abort();
      await work.drain();
    },
  };
};
