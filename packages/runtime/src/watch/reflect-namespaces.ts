// Keeps one copy of the objects of a resource in some namespaces, each of which is watched alone, or in all of them.
import type { Api } from "@janus/kube";
import type { KubeObject } from "@janus/types";
import type { Watchdog } from "../process/watchdog.ts";
import { keyOf, type Reflected, type ReflectOptions, startReflector } from "./reflector.ts";

export interface ReflectedNamespaces extends Omit<Reflected, "namespace"> {
  /** Only the objects of these namespaces, if the kind has namespaces. Default: all. */
  readonly namespaces?: readonly string[];
}

export interface NamespacesOptions extends Omit<ReflectOptions, "onTurn"> {
  readonly watchdog: Watchdog;
  /** The name of its loops for the watchdog. */
  readonly loop: string;
}

export interface ReflectedStore {
  /** Objects by {@link keyOf}. */
  readonly store: ReadonlyMap<string, KubeObject>;
  /** Resolves after the first complete list of each namespace, or when it ended before that. */
  readonly synced: Promise<void>;
}

/**
 * Guarantees: those of a reflector for each namespace, whatever the server responds for others: it needs no permission outside of them.
 */
export const reflectNamespaces = (
  api: Api,
  { namespaces, ...source }: ReflectedNamespaces,
  { watchdog, loop: name, onEvent, ...options }: NamespacesOptions,
): ReflectedStore => {
  const store = new Map<string, KubeObject>();
  const places =
    namespaces === undefined || !source.resource.namespaced ? [{}] : namespaces.map((namespace) => ({ namespace }));
  const synced = places.map((place) => {
    const loop = watchdog.loop(name);
    const one = startReflector(
      api,
      { ...source, ...place },
      {
        ...options,
        onTurn: loop.heartbeat,
        onEvent: (event) => {
          if (event.type === "applied") store.set(keyOf(event.object), event.object);
          if (event.type === "deleted") store.delete(keyOf(event.object));
          onEvent(event);
        },
      },
    );
    void one.done.finally(loop.rest);
    return one.synced;
  });
  return { store, synced: Promise.all(synced).then(() => undefined) };
};
