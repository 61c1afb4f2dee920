// Watches the objects of another kind, and wakes those that are to be reconciled when one of them has changed.
import type { Api } from "@janus/kube";
import type { KubeObject, Resource } from "@janus/types";
import { defect, type Log } from "../process/log.ts";
import type { Watchdog } from "../process/watchdog.ts";
import { throttle } from "../work-queue/throttle.ts";
import { keyOf } from "./reflector.ts";
import { reflectNamespaces } from "./reflect-namespaces.ts";
import { reportWatchFailure } from "./watch-failure.ts";

/** Objects of another kind, such as those that a controller creates, or reads. */
export interface SecondaryWatch {
  readonly resource: Resource;
  readonly labelSelector?: string;
  /**
   * The objects to reconcile when this one has changed: each `namespace/name`, or its name if it is cluster-scoped. Those that are
   * not watched are passed over.
   */
  readonly keysOf: (object: KubeObject) => readonly string[];
}

export interface SecondaryOptions {
  /** Only the objects of these namespaces, if the kind has namespaces. Default: all. */
  readonly namespaces?: readonly string[];
  readonly log: Log;
  readonly watchdog: Watchdog;
  readonly signal: AbortSignal;
  /** How long a watch lasts, in s. */
  readonly timeoutSeconds: number;
  /** A key is woken at most once in this time, in ms. */
  readonly interval: number;
  readonly wake: (key: string) => void;
}

/** The place of an object in metadata alone: what else it has is not kept in memory. */
const outline = ({
  apiVersion,
  kind,
  metadata: { namespace, name, uid, resourceVersion },
}: KubeObject): KubeObject => ({
  apiVersion,
  kind,
  metadata: {
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  },
});

/**
 * Guarantees: after each change of an object, those are woken that it belonged to before the change, and that it belongs to now.
 *
 * @returns resolves when all were listed
 */
export const watchSecondary = (
  api: Api,
  { resource, labelSelector, keysOf }: SecondaryWatch,
  { namespaces, log, watchdog, signal, timeoutSeconds, interval, wake }: SecondaryOptions,
): Promise<void> => {
  const objects = `${resource.kind}s`;
  const owners = new Map<string, readonly string[]>();
  const wakeSoon = throttle(interval, wake);
  const seen = new WeakMap<KubeObject, readonly string[]>();
  const keysIn = (object: KubeObject): readonly string[] => {
    try {
      return keysOf(object);
    } catch (error) {
      log("error", `internal error: nothing is reconciled for a ${resource.kind}`, {
        target: keyOf(object),
        ...defect(error),
      });
      return [];
    }
  };
  const { synced } = reflectNamespaces(
    api,
    {
      resource,
      ...(namespaces === undefined ? {} : { namespaces }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
    },
    {
      signal,
      timeoutSeconds,
      keep: (object) => {
        const kept = outline(object);
        seen.set(kept, keysIn(object));
        return kept;
      },
      watchdog,
      loop: `watch of ${objects}`,
      onEvent: (event) => {
        if (event.type === "synced") return;
        const key = keyOf(event.object);
        const before = owners.get(key) ?? [];
        const now = event.type === "applied" ? (seen.get(event.object) ?? []) : [];
        if (now.length > 0) owners.set(key, now);
        else owners.delete(key);
        for (const one of new Set([...before, ...now])) wakeSoon(one);
      },
      onError: reportWatchFailure(log, objects, resource),
    },
  );
  return synced;
};
