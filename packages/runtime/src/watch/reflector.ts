// Keeps a copy of all objects of a resource, and reports changes.
import * as E from "fp-ts/lib/Either.js";
import {
  type Api,
  type Impersonation,
  type WatchEvent,
  type Clock,
  systemClock,
  eachPage,
  limitAfter,
  pageRequest,
  watchable,
} from "@janus/kube";
import type { ApiError, KubeObject, Resource } from "@janus/types";
import {
  initialReflectorState,
  type ReflectorInput,
  type ReflectorOutput,
  type ReflectorState,
  reflectorStep,
} from "./reflector-state.ts";

/** The shortest time between two lists of those that come first, in ms. */
const REFRESHED = 500;

/** The objects to watch. Without a namespace: those of all namespaces. */
export interface Reflected {
  readonly resource: Resource;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly as?: Impersonation;
  /** Requests only metadata, as a {@link List} does. */
  readonly metadataOnly?: true;
}

export type ReflectorEvent =
  | { readonly type: "applied"; readonly object: KubeObject }
  /** Reports the object as last observed. */
  | { readonly type: "deleted"; readonly object: KubeObject }
  /** The store is complete: after the first list, and after each one that followed a gap. */
  | { readonly type: "synced" };

/** By what it learns of the objects. */
export type ReflectedBy = "list" | "watch";

export interface ReflectOptions {
  /** Must not throw. The store is up to date when it is called. */
  readonly onEvent: (event: ReflectorEvent) => void;
  readonly signal: AbortSignal;
  /**
   * The part of an object that is stored and passed to events. Default: the whole object.
   * Assumes: it keeps apiVersion, kind, namespace, name, uid and resourceVersion.
   *
   * @param by a watch shows each change; a list shows what there is now, and perhaps no change at all
   */
  readonly keep?: (object: KubeObject, by: ReflectedBy) => KubeObject;
  /**
   * Whether an object of this {@link keyOf} is stored and reported; any other is passed over. Default: all.
   * Assumes: what is no longer wanted is forgotten.
   */
  readonly isWanted?: (key: string) => boolean;
  /**
   * A field selector: the objects that it selects are listed and reported before all others, which may be many more, and again and
   * again until a watch tells of all. A server that cannot select by these fields lists all at once. Default: none come first.
   */
  readonly first?: string;
  /** Errors, for logs and metrics; the reflector retries by itself. */
  readonly onError?: (error: ApiError, by: ReflectedBy) => void;
  /** Called in each round of its loop, for health checks: the next call follows within so many ms and the deadline of a request. */
  readonly onTurn?: (within: number) => void;
  /** The server ends each watch after this many seconds, up to a tenth more. Default: 240. */
  readonly timeoutSeconds?: number;
  readonly clock?: Clock;
  /** From 0 to 1. Default: Math.random. */
  readonly random?: () => number;
}

export interface Reflector {
  /** Objects by {@link keyOf}. */
  readonly store: ReadonlyMap<string, KubeObject>;
  /** Removes an object that is no longer wanted from the store; it is not reported. */
  readonly forget: (key: string) => void;
  /** Resolves after the first complete list, or when it ended before that. */
  readonly synced: Promise<void>;
  /** Resolves after `signal` was aborted. */
  readonly done: Promise<void>;
}

/** `namespace/name`, or `name` for cluster-scoped objects. */
export const keyOf = ({ metadata: { namespace, name = "" } }: KubeObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/**
 * Keeps a copy of the objects of a resource, and reports every change of it.
 *
 * Guarantees: it continues until `signal` is aborted, whatever the server responds; an object that was deleted while no watch was
 * open is reported as deleted after the next list, also if another one has its name. Those that come first are reported as soon as
 * they are listed, and again with the others only if they have changed since.
 * Not guaranteed: every single version of an object, nor that the copy is up to date.
 */
export const startReflector = (api: Api, source: Reflected, options: ReflectOptions): Reflector => {
  const { onEvent, signal, keep = (object) => object, onError = () => {}, onTurn = () => {} } = options;
  const { isWanted = () => true, timeoutSeconds = 240, clock = systemClock, random = Math.random } = options;
  /** Undefined once the server cannot select by it. */
  let { first } = options;
  /** The earliest moment to list those that come first again: that takes half of the time at most, however many they are. */
  let due = 0;
  const store = new Map<string, KubeObject>();
  const synced = Promise.withResolvers<void>();

  const notify = (event: ReflectorEvent): void => {
    if (event.type === "applied") store.set(keyOf(event.object), event.object);
    if (event.type === "deleted") store.delete(keyOf(event.object));
    onEvent(event);
    if (event.type === "synced") synced.resolve();
  };

  const wants = (object: KubeObject): boolean => isWanted(keyOf(object));

  /** Filters once more: an object that was wanted when its page was read may no longer be. */
  const changesOf = (change: ReflectorOutput): readonly ReflectorEvent[] => {
    if ("objects" in change) return eventsOf({ ...change, objects: change.objects.filter(wants) }, store);
    return wants(change.object) ? eventsOf(change, store) : [];
  };

  const kept = (event: WatchEvent): WatchEvent =>
    event.type === "BOOKMARK" || !wants(event.object) ? event : { ...event, object: keep(event.object, "watch") };

  const run = async (): Promise<void> => {
    let state = initialReflectorState;
    onTurn(0);
    while (!signal.aborted)
      for await (const input of doing(state)) {
        if (signal.aborted) break;
        if (input.type === "failed") onError(input.error, state.type === "listing" ? "list" : "watch");
        const [next, change] = reflectorStep(state, input, random());
        state = next;
        onTurn(longest(state));
        if (change !== undefined) for (const event of changesOf(change)) notify(event);
      }
  };

  const longest = (state: ReflectorState): number => {
    if (state.type === "waiting") return state.ms;
    return state.type === "watching" ? timeoutSeconds * 1100 + 1000 : 0;
  };

  const listed = (items: readonly KubeObject[]): readonly KubeObject[] =>
    items.filter(wants).map((object) => keep(object, "list"));

  /** While a page of all is under way, nothing else tells of those that come first. Ends with the request. */
  const meanwhile = async function* (request: Promise<unknown>): AsyncGenerator<ReflectorInput> {
    const answered = new AbortController();
    void request.then(() => answered.abort());
    const over = AbortSignal.any([signal, answered.signal]);
    while (!over.aborted) {
      await sleep(clock, Math.max(0, due - clock.now()), over);
      const some = over.aborted ? undefined : await ahead();
      if (some === undefined) return;
      // Goes on where that fails: the list of all need not begin anew.
      if (some.type === "some") yield some;
    }
  };

  /** Lists those that come first. */
  const ahead = async (): Promise<ReflectorInput | undefined> => {
    if (first === undefined) return undefined;
    const objects: KubeObject[] = [];
    const selector = [source.fieldSelector, first].filter((one) => one !== undefined).join();
    const began = clock.now();
    const reply = await eachPage(api, { ...source, fieldSelector: selector, purpose: "reflect" }, (items) => {
      onTurn(0);
      objects.push(...listed(items));
    });
    const ended = clock.now();
    due = ended + Math.max(REFRESHED, ended - began);
    if (E.isRight(reply)) return { type: "some", objects };
    if (!isUnselectable(reply.left)) return { type: "failed", error: reply.left };
    first = undefined;
    return undefined;
  };

  /** Runs a state, and returns the input of the next step. */
  const doing = async function* (state: ReflectorState): AsyncGenerator<ReflectorInput> {
    switch (state.type) {
      case "listing": {
        const some = state.next === "" ? await ahead() : undefined;
        if (some !== undefined) yield some;
        if (some?.type === "failed") return;
        const page = { ...pageRequest(state.limit), ...(state.next === "" ? {} : { continue: state.next }) };
        const request = api.send({ ...source, ...page, verb: "list", purpose: "reflect" });
        if (first !== undefined) yield* meanwhile(request);
        const reply = await request;
        const read = E.chain((list: KubeObject) => watchable(source.resource, list))(reply);
        if (E.isLeft(read)) yield { type: "failed", error: read.left };
        else {
          const limit = limitAfter(state.limit, read.right.items);
          yield { type: "page", page: { ...read.right, items: listed(read.right.items) }, limit };
        }
        return;
      }
      case "watching": {
        const seconds = Math.ceil(timeoutSeconds * (1 + random() / 10));
        const request = { ...source, resourceVersion: state.from, timeoutSeconds: seconds, purpose: "reflect" };
        for await (const event of api.watch({ ...request, verb: "watch" }, signal)) {
          yield E.isLeft(event) ? { type: "failed", error: event.left } : { type: "event", event: kept(event.right) };
          if (E.isLeft(event)) return;
        }
        yield { type: "ended" };
        return;
      }
      case "waiting":
        await sleep(clock, state.ms, signal);
        yield { type: "waited" };
    }
  };

  const done = run().finally(() => synced.resolve());
  return { store, forget: (key) => void store.delete(key), synced: synced.promise, done };
};

/** Kubernetes 1.30 selects custom resources by no field of theirs, nor does any version by one that the installed CRD does not name. */
const isUnselectable = (error: ApiError): boolean => error.type === "refused" && error.code === 400;

const sleep = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.after(ms, end);
    signal.addEventListener("abort", end);
  });

/** The changes to a store with the objects as last observed. */
export const eventsOf = (
  change: ReflectorOutput,
  store: ReadonlyMap<string, KubeObject>,
): readonly ReflectorEvent[] => {
  if (!("objects" in change)) return [change];
  const isAll = change.type === "all";
  const now = new Map(change.objects.map((object) => [keyOf(object), object]));
  const gone = [...store].filter(
    ([key, { metadata }]) => (isAll || now.has(key)) && now.get(key)?.metadata.uid !== metadata.uid,
  );
  const moved = [...now].filter(
    ([key, { metadata }]) => store.get(key)?.metadata.resourceVersion !== metadata.resourceVersion,
  );
  return [
    ...gone.map(([, object]) => ({ type: "deleted", object }) as const),
    ...moved.map(([, object]) => ({ type: "applied", object }) as const),
    ...(isAll ? [{ type: "synced" } as const] : []),
  ];
};
