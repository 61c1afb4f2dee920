// Reads the states of the targets from the snapshots of a Transaction.
import type { Transaction } from "@janus/api";
import {
  allStores,
  beforeIn,
  decodeJournal,
  isTerminal,
  type Journal,
  openStore,
  storePlace,
  unpack,
} from "@janus/controller";
import type { KubeObject } from "@janus/kube";
import { type Cluster, found } from "../cluster/cluster.ts";
import { configMaps } from "@janus/controller";

/** The state before a change. */
export type Former =
  | { readonly type: "object"; readonly index: number; readonly object: KubeObject }
  /** There was nothing. */
  | { readonly type: "none"; readonly index: number }
  | { readonly type: "lost"; readonly index: number; readonly why: string };

const readJournal = async ({ api, namespace }: Cluster, txn: Transaction): Promise<Journal | undefined> => {
  const { journal } = txn.status;
  if (journal === undefined) return undefined;
  const { name } = journal;
  const object = await found(api, { verb: "get", resource: configMaps, namespace, name }, "cannot read the journal");
  return object?.metadata.uid === journal.uid ? decodeJournal(object, txn.spec.changes.length) : undefined;
};

/** The states of the targets before the Transaction, from its snapshots; none before it was prepared. */
export const readSnapshots = async (cluster: Cluster, txn: Transaction): Promise<readonly Former[]> => {
  const journal = await readJournal(cluster, txn);
  const opened = new Map<string, ReadonlyMap<string, string> | string>();
  for (const store of allStores(txn, journal)) {
    const { resource, name } = storePlace(txn, store);
    const { namespace } = cluster;
    const what = `cannot read ${store.kind} ${namespace}/${name}`;
    const object = await found(cluster.api, { verb: "get", resource, namespace, name }, what);
    const data =
      object === undefined
        ? { type: "broken" as const, why: `${store.kind} ${name} is gone` }
        : openStore(store, object);
    opened.set(`${store.kind}/${name}`, data.type === "data" ? data.data : data.why);
  }
  const data = [...opened.values()].flatMap((one) => (typeof one === "string" ? [] : [one]));
  const broken = [...opened.values()].filter((one) => typeof one === "string");
  return txn.status.items.flatMap(({ state }, index): readonly Former[] => {
    if (!("before" in state)) return [];
    const before = journal === undefined ? state.before : beforeIn(state, index, journal);
    if (!before.existed) return [{ type: "none", index }];
    if (before.snapshot === undefined) return [{ type: "lost", index, why: gone(txn) }];
    const object = unpack(before.snapshot.key, data);
    return object === undefined
      ? [{ type: "lost", index, why: broken.join("; ") || `${before.snapshot.store} does not have it` }]
      : [{ type: "object", index, object }];
  });
};

const gone = ({ status: { phase } }: Transaction): string =>
  isTerminal(phase) ? "the snapshots were deleted when the Transaction was Committed" : "it is not recorded";
