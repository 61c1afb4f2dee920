// Waits for objects of one kind, in one namespace, until a watch shows them to be as one waits for them to be.
import type { Api, KubeObject, Resource } from "@janus/kube";
import { keyOf, startReflector } from "@janus/runtime/parts";

/** The objects of a kind, and when they are seen to be as one waits for them to be. */
export interface Seen {
  /** Rejects when `isSo` throws. */
  readonly when: (name: string, isSo: (object: KubeObject) => boolean) => Promise<KubeObject>;
}

/** @param onAdded is called with each object that is new */
export const watched = async (
  api: Api,
  resource: Resource,
  namespace: string,
  onAdded: (object: KubeObject) => void = () => {},
): Promise<Seen & { readonly stop: () => void }> => {
  const waiting = new Map<string, Set<(object: KubeObject) => void>>();
  const known = new Set<string>();
  const over = new AbortController();
  const { store, synced } = startReflector(
    api,
    { resource, namespace },
    {
      signal: over.signal,
      onEvent: (event) => {
        if (event.type !== "applied") return;
        const key = keyOf(event.object);
        if (!known.has(key)) onAdded(event.object);
        known.add(key);
        for (const look of waiting.get(key) ?? []) look(event.object);
      },
    },
  );
  await synced;
  const when: Seen["when"] = (name, isSo) => {
    const key = `${namespace}/${name}`;
    return new Promise((resolve, reject) => {
      const look = (object: KubeObject): void => {
        try {
          if (!isSo(object)) return;
          resolve(object);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
        looking.delete(look);
        if (looking.size === 0) waiting.delete(key);
      };
      const looking = waiting.get(key) ?? new Set();
      waiting.set(key, looking.add(look));
      const there = store.get(key);
      if (there !== undefined) look(there);
    });
  };
  return { when, stop: () => over.abort() };
};
