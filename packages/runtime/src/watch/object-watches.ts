// Watches objects as the user who may read them, and notifies those that wait for changes.
import { type Api, type Impersonation, type KubeObject, pageOf } from "@janus/kube";
import { keyOf, startReflector } from "./reflector.ts";
import { throttle } from "../work-queue/throttle.ts";
import * as E from "fp-ts/lib/Either.js";
import { classify, isUnserved, type Resource } from "@janus/types";
import { deniedWatches } from "./denied-watches.ts";

/** An object that is waited for. */
export interface Watched {
  /** The index by which its waiter knows it. */
  readonly index: number;
  readonly place: { readonly resource: Resource; readonly namespace?: string; readonly name: string };
  /** The version as last read; undefined: it did not exist. */
  readonly resourceVersion: string | undefined;
}

/** The party that waits for objects, such as the object that is reconciled, and the user that reads them. */
export interface Waiter {
  readonly uid: string;
  readonly namespace: string;
  readonly as: Impersonation;
}

export interface ObjectWatches {
  /** It waits for these targets, and no longer for any others. */
  readonly join: (waiter: Waiter, targets: readonly Watched[]) => void;
  readonly leave: (uid: string) => void;
  readonly stop: () => void;
}

/** Bounds of watches, and what becomes of targets that have none. */
export interface WatchBudget {
  /** Each uses a connection. */
  readonly watches: number;
  /** Watches of one namespace. */
  readonly ofNamespace: number;
  /** Whether targets without a watch are polled; otherwise their changes are not noticed. */
  readonly polls: boolean;
  /** A target that keeps changing is reported at most once in this time, in ms. Default: 1000. */
  readonly interval?: number;
}

/** Kinds of which objects may delete themselves once they have finished: how they ended is kept. */
export interface Finishing {
  readonly has: (resource: Resource) => boolean;
  /** The part that is kept of an object that has finished; undefined: it has not, or is of another kind. */
  readonly finished: (object: KubeObject) => KubeObject | undefined;
  /** All else that happens to one is told together, so many ms after the first. Default: at once. */
  readonly settle?: number;
}

const MIN_INTERVAL = 1000;
/** Without a watch, a target is polled after the first of these, and then after twice as long each time, in ms. */
const POLLING = { first: 2_000, most: 30_000 };

/** The target as it was seen; no version: it did not exist. */
interface Seen {
  readonly version: string | undefined;
  readonly finished?: KubeObject | undefined;
}

interface Waiting {
  readonly target: Watched;
  readonly waiter: Waiter;
  /** The target at the last notification: the watch may be behind what was read. */
  notified: Seen | undefined;
  /** The target when it had finished, if that was seen: it may delete itself then. */
  finished: KubeObject | undefined;
}

/** A target that is waited for. */
interface Awaited {
  /** Waiting ones by {@link idOf}. */
  readonly waiting: Map<string, Waiting>;
  /** Undefined: nothing yet. */
  seen: Seen | undefined;
  /** The watch may have passed it over before anybody waited for it: that the store lacks it says nothing. */
  readonly isLate: boolean;
}

/** The watch that reports changes of a target, and the name that the target has in it. */
interface Joined {
  readonly key: string;
  readonly name: string;
}

interface Watching {
  readonly namespace: string;
  /** The only target that it reports, by its name as in `awaited`; undefined: all targets. */
  readonly only: string | undefined;
  /** Targets by name, as {@link keyOf} has it: an event of one object must not be compared with all who wait. */
  readonly awaited: Map<string, Awaited>;
  /** Whether objects may have been passed over. */
  readonly hasBegun: () => boolean;
  /** Reads one that may have been passed over. */
  readonly look: (one: Awaited) => void;
  /** Nobody waits for it any longer. */
  readonly forget: (name: string) => void;
  readonly end: () => void;
}

const nameOf = ({ place: { namespace, name } }: Watched): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/** Escapes a name for a field selector. Names of Roles may have such characters. */
const escaped = (name: string): string => name.replaceAll(/[\\,=]/g, String.raw`\$&`);

const ofName = ({ place }: Watched): { readonly fieldSelector: string } => ({
  fieldSelector: `metadata.name=${escaped(place.name)}`,
});

/** The part that is kept of an object that has finished. */
const statusOf = (finished: KubeObject | undefined): { readonly status?: unknown } =>
  finished === undefined ? {} : { status: finished["status"] };

const idOf = (uid: string, index: number): string => `${uid}/${index}`;

/**
 * Notifies waiters when the objects change that they wait for, with one of the `finishing` kinds as it was when it had finished:
 * one watch, of metadata only except for these kinds, of each kind in a namespace for all that wait there as the same user,
 * started with the first of them and stopped with the last. It is of one object as long as one is waited for, since a namespace may have thousands. Of those that nobody waits for, nothing is kept.
 *
 * Guarantees: every change after the read of a waiter leads to at least one notification, and to no more than one a second, but
 *             for one at once when an object has finished;
 *             while nothing changes no request is sent, if the user may watch. If it may not, or there are too many
 *             watches, there is a notification after growing pauses, of half a minute at most, or none at all, as the budget
 *             says.
 */
export const objectWatches = (
  apiOf: (namespace: string) => Api,
  onChange: (uid: string, index: number, finished: KubeObject | undefined) => void,
  budget: WatchBudget,
  finishing: Finishing,
): ObjectWatches => {
  const denied = deniedWatches();
  const watches = new Map<string, Watching>();
  /** The watches that each waiter has joined, by target. */
  const joined = new Map<string, Map<string, Joined>>();
  const timers = new Map<string, NodeJS.Timeout>();
  const pauses = new Map<string, number>();
  const notify = throttle(budget.interval ?? MIN_INTERVAL, (id) => {
    const [uid = "", index = ""] = id.split("/");
    const { key = "", name = "" } = joined.get(uid)?.get(id) ?? {};
    onChange(uid, Number(index), watches.get(key)?.awaited.get(name)?.waiting.get(id)?.finished);
  });

  const notifyIn = (ms: number, id: string): void => {
    if (timers.has(id)) return;
    timers.set(
      id,
      setTimeout(() => {
        timers.delete(id);
        notify(id);
      }, ms),
    );
  };
  const hush = (id: string): void => {
    clearTimeout(timers.get(id));
    timers.delete(id);
  };
  const notifyOf = ({ waiter, target: { index, place } }: Waiting): void => {
    const id = idOf(waiter.uid, index);
    const pause = finishing.has(place.resource) ? finishing.settle : undefined;
    if (pause === undefined) notify(id);
    else notifyIn(pause, id);
  };
  const observed = (one: Waiting, { version, finished }: Seen): void => {
    const isNews =
      version !== one.target.resourceVersion && (one.notified === undefined || version !== one.notified.version);
    if (isNews) one.notified = { version };
    if (finished !== undefined && one.finished === undefined) {
      // At once: it may be gone in a moment.
      one.finished = finished;
      hush(idOf(one.waiter.uid, one.target.index));
      onChange(one.waiter.uid, one.target.index, finished);
    } else if (isNews) notifyOf(one);
  };
  const saw = (target: Awaited, { version, finished = target.seen?.finished }: Seen): void => {
    const seen = { version, finished };
    target.seen = seen;
    for (const one of target.waiting.values()) observed(one, seen);
  };

  const open = (
    key: string,
    { namespace, as }: Waiter,
    target: Watched,
    isOnly: boolean,
    awaited: Watching["awaited"] = new Map(),
  ): Watching => {
    const { place } = target;
    const over = new AbortController();
    let hasBegun = false;
    const api = apiOf(namespace);
    const { resource } = place;
    const within = place.namespace === undefined ? {} : { namespace: place.namespace };
    const source = { resource, ...within, as, ...(finishing.has(resource) ? {} : { metadataOnly: true as const }) };

    // From the join on, the watch reports its changes; of what was before, this tells.
    const look = async (one: Awaited): Promise<void> => {
      const [first] = one.waiting.values();
      if (first === undefined) return;
      const name = nameOf(first.target);
      const answer = await api.send({ ...source, ...ofName(first.target), verb: "list", purpose: "reflect" });
      if (over.signal.aborted || one.seen !== undefined) return;
      const read = E.chain((list: KubeObject) => pageOf(resource, list))(answer);
      if (E.isLeft(read)) for (const waiting of one.waiting.values()) notifyOf(waiting);
      else saw(one, { version: read.right.items.find((item) => keyOf(item) === name)?.metadata.resourceVersion });
    };

    const { store, forget } = startReflector(
      api,
      { ...source, ...(isOnly ? ofName(target) : {}) },
      {
        signal: over.signal,
        isWanted: (name) => {
          hasBegun = true;
          return awaited.has(name);
        },
        keep: ({ metadata: { name = "", namespace, uid = "", resourceVersion = "" }, ...object }) => ({
          apiVersion: object.apiVersion,
          kind: object.kind,
          metadata: { name, uid, resourceVersion, ...(namespace === undefined ? {} : { namespace }) },
          ...statusOf(finishing.finished({ ...object, metadata: { name, uid } })),
        }),
        onEvent: (event) => {
          if (event.type === "synced") {
            hasBegun = true;
            for (const [name, one] of awaited)
              if (!store.has(name)) {
                if (one.isLate) {
                  one.seen = undefined;
                  void look(one);
                } else saw(one, { version: undefined });
              }
            return;
          }
          const one = awaited.get(keyOf(event.object));
          const version = event.type === "deleted" ? undefined : event.object.metadata.resourceVersion;
          if (one !== undefined) saw(one, { version, finished: finishing.finished(event.object) });
        },
        // The reflector retries with growing pauses; each time the waiters read their targets themselves.
        onError: (error) => {
          if (budget.polls)
            for (const { waiting } of awaited.values()) for (const one of waiting.values()) notifyOf(one);
          // It would be retried again and again, although nobody may look at the result.
          else if (classify(error) === "permanent" || isUnserved(error)) {
            denied.add(key);
            over.abort();
            watches.delete(key);
          }
        },
      },
    );
    const watching: Watching = {
      namespace,
      only: isOnly ? nameOf(target) : undefined,
      awaited,
      hasBegun: () => hasBegun,
      look: (one) => void look(one),
      forget,
      end: () => over.abort(),
    };
    watches.set(key, watching);
    return watching;
  };

  const mayOpen = (namespace: string): boolean =>
    watches.size < budget.watches &&
    [...watches.values()].filter((other) => other.namespace === namespace).length < budget.ofNamespace;

  /** Tells of all objects from now on, where it was about another one. */
  const opened = (key: string, waiter: Waiter, target: Watched, isOnly: boolean): Watching | undefined => {
    const former = watches.get(key);
    if (former === undefined)
      return mayOpen(waiter.namespace) && !denied.has(key) ? open(key, waiter, target, isOnly) : undefined;
    if (former.only === undefined || former.only === nameOf(target)) return former;
    former.end();
    return open(key, waiter, target, false, former.awaited);
  };

  const pollLater = (id: string): void => {
    if (timers.has(id)) return;
    const pause = pauses.get(id) ?? POLLING.first;
    pauses.set(id, Math.min(2 * pause, POLLING.most));
    notifyIn(pause, id);
  };

  const leaveExcept = (uid: string, kept: ReadonlySet<string>): void => {
    const own = joined.get(uid) ?? new Map<string, Joined>();
    for (const [id, { key, name }] of own) {
      if (kept.has(`${key} ${name} ${id}`)) continue;
      own.delete(id);
      hush(id);
      const watching = watches.get(key);
      const waiting = watching?.awaited.get(name)?.waiting;
      waiting?.delete(id);
      if (waiting?.size === 0) {
        watching?.awaited.delete(name);
        watching?.forget(name);
      }
      if (watching === undefined || watching.awaited.size > 0) continue;
      watching.end();
      watches.delete(key);
    }
    if (own.size === 0) joined.delete(uid);
  };

  const leave = (uid: string): void => {
    leaveExcept(uid, new Set());
    for (const id of pauses.keys())
      if (id.startsWith(`${uid}/`)) {
        hush(id);
        pauses.delete(id);
      }
  };

  return {
    join: (waiter, targets) => {
      const placed = targets.map((target) => {
        const { resource, namespace = "" } = target.place;
        const key = JSON.stringify([waiter.as.user, resource.group, resource.version, resource.plural, namespace]);
        return { target, key, name: nameOf(target), id: idOf(waiter.uid, target.index) };
      });
      leaveExcept(waiter.uid, new Set(placed.map(({ key, name, id }) => `${key} ${name} ${id}`)));
      const counts = new Map<string, number>();
      for (const { key } of placed) counts.set(key, (counts.get(key) ?? 0) + 1);
      for (const { target, key, name, id } of placed) {
        const isOnly = counts.get(key) === 1;
        const watching = opened(key, waiter, target, isOnly);
        if (watching === undefined) {
          if (budget.polls) pollLater(id);
          continue;
        }
        const awaited = watching.awaited.get(name) ?? {
          waiting: new Map<string, Waiting>(),
          seen: undefined,
          isLate: watching.hasBegun(),
        };
        const before = awaited.waiting.get(id);
        const one: Waiting = { target, waiter, notified: before?.notified, finished: before?.finished };
        awaited.waiting.set(id, one);
        watching.awaited.set(name, awaited);
        const own = joined.get(waiter.uid) ?? new Map<string, Joined>();
        joined.set(waiter.uid, own.set(id, { key, name }));
        // The watch does not repeat what it has observed already; it may be behind, too.
        if (awaited.seen !== undefined) observed(one, awaited.seen);
        else if (awaited.isLate && before === undefined) watching.look(awaited);
      }
    },
    leave,
    stop: () => {
      for (const { end } of watches.values()) end();
      for (const timer of timers.values()) clearTimeout(timer);
      watches.clear();
    },
  };
};
