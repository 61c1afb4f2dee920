import { type Api, type Impersonation, keyOf, startReflector, type KubeObject, throttle } from "@janus/kube";
import type { Watched } from "../../core/index.ts";

/** Who waits for targets, and as whom it reads them. */
export interface Waiter {
  readonly uid: string;
  readonly namespace: string;
  readonly as: Impersonation;
}

export interface TargetWatches {
  /** Waits for these targets, and for no others any more. */
  readonly join: (waiter: Waiter, targets: readonly Watched[]) => void;
  readonly leave: (uid: string) => void;
  readonly stop: () => void;
}

/** Each takes a connection. */
const MOST_WATCHES = 32;
/** Those of one namespace: the others wait for single looks. */
const MOST_OF_NAMESPACE = 8;
/** A target that never rests is looked at once in, in ms. */
const PAUSE = 1000;
/** Where there is no watch, it is looked at after the first of these, and then after twice as long each time, in ms. */
const LOOKS = { first: 2_000, most: 30_000 };

interface Waiting {
  readonly target: Watched;
  readonly waiter: Waiter;
  /** The version that was told of last, undefined where it was gone: the watch may be behind what was read. */
  told: { readonly version: string | undefined } | undefined;
}

interface Watching {
  readonly namespace: string;
  readonly waiting: Map<string, Waiting>;
  readonly store: () => ReadonlyMap<string, KubeObject>;
  readonly end: () => void;
}

const nameOf = ({ place: { namespace, name } }: Watched): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

const idOf = (uid: string, index: number): string => `${uid}/${index}`;

/**
 * Tells when targets change that Transactions wait for: one watch of each kind in a namespace for all that wait there as the same
 * ServiceAccount, of metadata alone, begun with the first and ended with the last.
 *
 * Guarantees: a change after the read that a waiter has waited since is told of, once or more often, and no more often than once a
 *             second; while nothing changes there is no request, where the ServiceAccount may watch. Where it may not, or there are
 *             too many watches, each target is told of after growing pauses, of half a minute at most.
 */
export const targetWatches = (
  apiOf: (namespace: string) => Api,
  onChange: (uid: string, index: number) => void,
): TargetWatches => {
  const watches = new Map<string, Watching>();
  const timers = new Map<string, NodeJS.Timeout>();
  const pauses = new Map<string, number>();
  const tell = throttle(PAUSE, (id) => {
    const [uid = "", index = ""] = id.split("/");
    onChange(uid, Number(index));
  });

  const told = (one: Waiting, version: string | undefined): void => {
    if (version === one.target.resourceVersion || (one.told !== undefined && version === one.told.version)) return;
    one.told = { version };
    tell(idOf(one.waiter.uid, one.target.index));
  };

  const open = (key: string, { namespace, as }: Waiter, { place }: Watched): Watching => {
    const over = new AbortController();
    const waiting = new Map<string, Waiting>();
    const of = (object: KubeObject): readonly Waiting[] =>
      [...waiting.values()].filter(({ target }) => nameOf(target) === keyOf(object));
    const { resource } = place;
    const within = place.namespace === undefined ? {} : { namespace: place.namespace };
    const { store } = startReflector(
      apiOf(namespace),
      { resource, ...within, as, metadataOnly: true },
      {
        signal: over.signal,
        keep: ({ metadata: { name = "", namespace, uid = "", resourceVersion = "" }, ...object }) => ({
          apiVersion: object.apiVersion,
          kind: object.kind,
          metadata: { name, uid, resourceVersion, ...(namespace === undefined ? {} : { namespace }) },
        }),
        onEvent: (event) => {
          if (event.type === "synced") {
            for (const one of waiting.values()) if (!store.has(nameOf(one.target))) told(one, undefined);
          } else
            for (const one of of(event.object))
              told(one, event.type === "deleted" ? undefined : event.object.metadata.resourceVersion);
        },
        // It goes on trying by itself, with growing pauses; each time they look for themselves.
        onError: () => {
          for (const { waiter, target } of waiting.values()) tell(idOf(waiter.uid, target.index));
        },
      },
    );
    const watching = { namespace, waiting, store: () => store, end: () => over.abort() };
    watches.set(key, watching);
    return watching;
  };

  /** Without a watch. */
  const lookLater = (id: string): void => {
    if (timers.has(id)) return;
    const pause = pauses.get(id) ?? LOOKS.first;
    pauses.set(id, Math.min(2 * pause, LOOKS.most));
    timers.set(
      id,
      setTimeout(() => {
        timers.delete(id);
        tell(id);
      }, pause),
    );
  };

  const mayOpen = (namespace: string): boolean =>
    watches.size < MOST_WATCHES &&
    [...watches.values()].filter((other) => other.namespace === namespace).length < MOST_OF_NAMESPACE;

  const leaveBut = (uid: string, kept: ReadonlySet<string>): void => {
    for (const [key, watching] of watches) {
      for (const [id, { waiter }] of watching.waiting)
        if (waiter.uid === uid && !kept.has(`${key} ${id}`)) watching.waiting.delete(id);
      if (watching.waiting.size > 0) continue;
      watching.end();
      watches.delete(key);
    }
  };

  const leave = (uid: string): void => {
    leaveBut(uid, new Set());
    for (const id of pauses.keys())
      if (id.startsWith(`${uid}/`)) {
        clearTimeout(timers.get(id));
        timers.delete(id);
        pauses.delete(id);
      }
  };

  return {
    join: (waiter, targets) => {
      const placed = targets.map((target) => {
        const { resource, namespace = "" } = target.place;
        const key = JSON.stringify([waiter.as.user, resource.group, resource.version, resource.plural, namespace]);
        return { target, key, id: idOf(waiter.uid, target.index) };
      });
      leaveBut(waiter.uid, new Set(placed.map(({ key, id }) => `${key} ${id}`)));
      for (const { target, key, id } of placed) {
        const watching = watches.get(key) ?? (mayOpen(waiter.namespace) ? open(key, waiter, target) : undefined);
        if (watching === undefined) {
          lookLater(id);
          continue;
        }
        const one: Waiting = { target, waiter, told: watching.waiting.get(id)?.told };
        watching.waiting.set(id, one);
        // What the watch has seen already it does not tell again; it may be behind, too.
        const seen = watching.store().get(nameOf(target));
        if (seen !== undefined) told(one, seen.metadata.resourceVersion);
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
