// The Transactions of all runs, by one watch.
import { transactions } from "@janus/api";
import type { Api, KubeObject } from "@janus/kube";
import { keyOf, startReflector } from "@janus/runtime/parts";

/** A Transaction as it was last seen. */
export interface ObservedTransaction {
  readonly object: KubeObject;
  readonly isGone: boolean;
}

/** Every Transaction there is or was, watched for all runs at once. */
export interface ObservedTransactions {
  readonly of: (namespace: string, name: string) => ObservedTransaction | undefined;
  /** Resolves as soon as a Transaction of the namespace changes. */
  readonly change: (namespace: string) => Promise<void>;
  readonly end: () => void;
}

export const observeTransactions = (api: Api): ObservedTransactions => {
  const ended = new AbortController();
  const seen = new Map<string, ObservedTransaction>();
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  startReflector(
    api,
    { resource: transactions },
    {
      signal: ended.signal,
      onEvent: (event) => {
        if (event.type === "synced") return;
        seen.set(keyOf(event.object), { object: event.object, isGone: event.type === "deleted" });
        const namespace = event.object.metadata.namespace ?? "";
        waiting.get(namespace)?.resolve();
        waiting.delete(namespace);
      },
    },
  );
  return {
    of: (namespace, name) => seen.get(`${namespace}/${name}`),
    change: (namespace) => {
      const next = waiting.get(namespace) ?? Promise.withResolvers<void>();
      waiting.set(namespace, next);
      return next.promise;
    },
    end: () => ended.abort(),
  };
};
