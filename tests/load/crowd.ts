import { FINALIZER, type JsonObject, transactions } from "@janus/api";
import { isTerminal } from "@janus/controller";
import type { Api, KubeObject } from "@janus/kube";
import { keyOf, startReflector } from "@janus/runtime/parts";
import { create, deployer } from "./world.ts";

/** Every Transaction there is, as a watch shows it. */
export interface Crowd {
  readonly all: () => readonly KubeObject[];
  /** Resolves when every one has come to its end, and nothing of ours is left on it; rejects when none ends for five minutes. */
  readonly over: () => Promise<void>;
  readonly stop: () => void;
}

const STALLED_AFTER = 300_000;

export const phaseOf = (object: KubeObject): string =>
  (object["status"] as { readonly phase?: string } | undefined)?.phase ?? "Pending";

export const isOver = (object: KubeObject): boolean =>
  isTerminal(phaseOf(object) as Parameters<typeof isTerminal>[0]) &&
  !(object.metadata.finalizers ?? []).includes(FINALIZER);

export const watchCrowd = async (api: Api): Promise<Crowd> => {
  const watching = new AbortController();
  const underway = new Set<string>();
  let lastEnd = performance.now();
  const { store, synced } = startReflector(
    api,
    { resource: transactions },
    {
      signal: watching.signal,
      onEvent: (event) => {
        if (event.type === "synced") return;
        const key = keyOf(event.object);
        if (event.type === "applied" && !isOver(event.object)) underway.add(key);
        else if (underway.delete(key)) lastEnd = performance.now();
      },
    },
  );
  await synced;
  return {
    all: () => [...store.values()],
    over: async () => {
      lastEnd = performance.now();
      while (underway.size > 0) {
        if (performance.now() - lastEnd > STALLED_AFTER)
          throw new Error(`${underway.size} Transactions do not end, such as ${[...underway].slice(0, 5).join(", ")}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    stop: () => watching.abort(),
  };
};

export const submit = (
  api: Api,
  namespace: string,
  name: string,
  changes: readonly JsonObject[],
  spec: JsonObject = {},
  metadata: JsonObject = {},
): Promise<KubeObject> =>
  create(api, transactions, namespace, {
    metadata: { ...metadata, name },
    spec: { serviceAccountName: deployer, changes, ...spec },
  });

/** How long it takes from now until a Transaction that is created now is Committed, in ms. */
export const firstCommit = async (api: Api, crowd: Crowd, namespace: string, name: string): Promise<number> => {
  const began = performance.now();
  const target = { apiVersion: "v1", kind: "ConfigMap", name };
  await submit(api, namespace, name, [{ type: "Create", target, content: { data: { made: "yes" } } }]);
  const isCommitted = (): boolean =>
    crowd.all().some((one) => keyOf(one) === `${namespace}/${name}` && phaseOf(one) === "Committed");
  while (!isCommitted()) await new Promise((resolve) => setTimeout(resolve, 20));
  return performance.now() - began;
};
