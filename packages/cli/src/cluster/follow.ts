// Watches one object, a Transaction unless said otherwise, and yields each of its states.
import { transactions } from "@janus/api";
import type { ApiError, KubeObject, Resource } from "@janus/kube";
import { startReflector } from "@janus/runtime/parts";
import type { Cluster } from "./cluster.ts";

/** The object as it is now; undefined: it is gone. */
export type Observed = KubeObject | undefined;

export interface FollowOptions {
  readonly signal: AbortSignal;
  /** The connection is lost, or watching is denied; it is retried. */
  readonly onError?: (error: ApiError) => void;
  /** It has been read, for the first time, or again after an error, whether or not it has changed. */
  readonly onRead?: () => void;
  /** Default: Transactions. */
  readonly resource?: Resource;
}

/**
 * Every state of an object that is seen from now on, the present one first.
 *
 * Guarantees: ends when `signal` is aborted; is retried after errors.
 */
export const follow = async function* (
  { api, namespace }: Cluster,
  name: string,
  { signal, onError = () => {}, onRead = () => {}, resource = transactions }: FollowOptions,
): AsyncGenerator<Observed> {
  const seen: Observed[] = [];
  let wake = Promise.withResolvers<void>();
  const report = (observed?: KubeObject): void => {
    if (observed !== undefined || seen.at(-1) !== undefined || seen.length === 0) seen.push(observed);
    wake.resolve();
  };
  signal.addEventListener("abort", () => wake.resolve(), { once: true });
  const reflector = startReflector(
    api,
    { resource, namespace, fieldSelector: `metadata.name=${name}` },
    {
      signal,
      onError,
      onEvent: (event) => {
        if (event.type === "applied") report(event.object);
        else if (event.type === "deleted" || reflector.store.size === 0) report();
        if (event.type === "synced") onRead();
      },
    },
  );
  while (!signal.aborted) {
    await wake.promise;
    wake = Promise.withResolvers();
    yield* seen.splice(0);
  }
};
