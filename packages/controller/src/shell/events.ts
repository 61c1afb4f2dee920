import { API_VERSION, KIND, type Transaction } from "@janus/api";
import type { Api, Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { Instant, Telling } from "../core/index.ts";
import { now } from "./clock.ts";
import type { Log } from "./log.ts";

export const events: Resource = {
  group: "",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
  statusSubresource: false,
};

/** There may be hundreds of these. Of those of one Transaction within this time, in ms, the first few are written at once … */
const MANY: readonly string[] = ["ItemCommitted", "ItemRolledBack", "RollbackFailed"];
const WINDOW = 2000;
const FEW = 3;
/** The same sentence is not told again within this time, in ms: what is still waited for shows its age in `kubectl describe`. */
const REPEAT_AFTER = 60_000;
/** The API server takes at most 1024 characters. */
const LONGEST = 1024;

/** … and the rest become one event when the time is over. */
interface Heap {
  told: number;
  readonly rest: Told[];
}

interface Told {
  readonly txn: Transaction;
  readonly telling: Telling;
  readonly at: Instant;
}

export interface Recorder {
  readonly tell: (txn: Transaction, telling: Telling) => void;
  /** Resolves when everything that was told is written, or could not be. */
  readonly flush: () => Promise<void>;
}

/**
 * Events on Transactions, off the critical path.
 *
 * Guarantees: never holds up or fails anything; the same sentence at most once a minute; a burst of one reason becomes one
 *             event that says how many.
 */
export const recorder = (api: Api, identity: string, log: Log): Recorder => {
  const heaps = new Map<string, Heap>();
  const lastTold = new Map<string, number>();
  const underway = new Set<Promise<void>>();
  let written = 0;

  const write = async ({ txn, telling, at }: Told, count: number): Promise<void> => {
    const { namespace, name, uid, resourceVersion } = txn.metadata;
    const { type, reason, message } = telling;
    const time = new Date(at).toISOString();
    written += 1;
    const answer = await api.send({
      verb: "create",
      purpose: "event",
      resource: events,
      namespace,
      body: {
        apiVersion: "v1",
        kind: "Event",
        metadata: {
          namespace,
          name: `${name.slice(0, 200)}.${uid.slice(0, 8)}${Math.floor(now()).toString(36)}${written}`,
        },
        involvedObject: { apiVersion: API_VERSION, kind: KIND, namespace, name, uid, resourceVersion },
        type,
        reason,
        message: message.slice(0, LONGEST),
        count,
        firstTimestamp: time,
        lastTimestamp: time,
        source: { component: "janus" },
        reportingComponent: "backup.janus.io/controller",
        reportingInstance: identity,
      },
    });
    // An event that cannot be written (a terminating namespace, an API server that is away) is only lost to people.
    if (E.isLeft(answer)) log("debug", "an event was not written", { transaction: `${namespace}/${name}`, reason });
  };

  const flushHeap = async (key: string): Promise<void> => {
    const rest = heaps.get(key)?.rest ?? [];
    heaps.delete(key);
    const last = rest.at(-1);
    if (last === undefined) return;
    const message = rest.length === 1 ? last.telling.message : `${rest.length} more, at last: ${last.telling.message}`;
    await write({ ...last, telling: { ...last.telling, message } }, rest.length);
  };

  const isRepeated = (txn: Transaction, { reason, message }: Telling): boolean => {
    const key = `${txn.metadata.uid} ${reason} ${message}`;
    const at = now();
    const before = lastTold.get(key);
    if (before !== undefined && at < before + REPEAT_AFTER) return true;
    lastTold.set(key, at);
    for (const [old, told] of lastTold) {
      if (at < told + REPEAT_AFTER) break;
      lastTold.delete(old);
    }
    return false;
  };

  const tell = (txn: Transaction, telling: Telling): void => {
    if (isRepeated(txn, telling)) return;
    const key = `${txn.metadata.uid} ${telling.reason}`;
    const told: Told = { txn, telling, at: now() };
    const heap = heaps.get(key);
    if (heap !== undefined && heap.told >= FEW && MANY.includes(telling.reason)) {
      heap.rest.push(told);
      return;
    }
    if (heap === undefined) {
      heaps.set(key, { told: 1, rest: [] });
      setTimeout(() => void flushHeap(key), WINDOW).unref();
    } else heap.told += 1;
    const writing: Promise<void> = write(told, 1).finally(() => underway.delete(writing));
    underway.add(writing);
  };

  const flush = async (): Promise<void> => {
    await Promise.all([...underway, ...[...heaps.keys()].map(flushHeap)]);
  };

  return { tell, flush };
};
