import { API_VERSION, KIND, type Transaction } from "@janus/api";
import type { Api, Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { Telling } from "../core/index.ts";
import { now } from "./clock.ts";
import type { Log } from "./log.ts";

const events: Resource = {
  group: "",
  version: "v1",
  plural: "events",
  kind: "Event",
  namespaced: true,
  statusSubresource: false,
};

/** Tellings of one Transaction and reason that come within this time, in ms, become one event when they are many. */
const WINDOW = 1000;
const MANY = 5;
/** The same sentence is not told again within this time, in ms: what is still waited for shows its age in `kubectl describe`. */
const REPEAT_AFTER = 60_000;
/** The API server takes at most 1024 characters. */
const LONGEST = 1024;

interface Heap {
  readonly txn: Transaction;
  readonly tellings: Telling[];
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
  let written = 0;

  const write = async (txn: Transaction, { type, reason, message }: Telling, count: number): Promise<void> => {
    const { namespace, name, uid, resourceVersion } = txn.metadata;
    const time = new Date(now()).toISOString();
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
    const heap = heaps.get(key);
    heaps.delete(key);
    const last = heap?.tellings.at(-1);
    if (heap === undefined || last === undefined) return;
    const { txn, tellings } = heap;
    if (tellings.length <= MANY) for (const telling of tellings) await write(txn, telling, 1);
    else await write(txn, { ...last, message: `${tellings.length} times, at last: ${last.message}` }, tellings.length);
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
    const heap = heaps.get(key);
    if (heap !== undefined) {
      heap.tellings.push(telling);
      return;
    }
    heaps.set(key, { txn, tellings: [telling] });
    setTimeout(() => void flushHeap(key), WINDOW).unref();
  };

  const flush = async (): Promise<void> => {
    await Promise.all([...heaps.keys()].map(flushHeap));
  };

  return { tell, flush };
};
