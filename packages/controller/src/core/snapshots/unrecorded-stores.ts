// Finds stores of this Transaction that no status or journal records, such as after a crash.
import { journalIn } from "../state/observations.ts";
import { type SnapshotStore, storeName } from "@janus/api";
import { allStores } from "./prior-state.ts";
import type { ApiCall } from "../state/effect.ts";
import { mostStoreNames } from "../state/journal.ts";
import { storeNamesIn } from "../state/journal-observation.ts";
import { lookAtStore, storeKey, deleteStore } from "./release-stores.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { writtenStores } from "./snapshot-stores.ts";

const KINDS = ["ConfigMap", "Secret"] as const;

export type StoreSearch =
  | { readonly type: "searching"; readonly requests: readonly ApiCall[] }
  | { readonly type: "found"; readonly stores: readonly SnapshotStore[] };

/**
 * Finds our stores by their names: all that the journal lists, and after these up to the first free name, in
 * case the journal is lost; but no more than it can list. The first name is always checked.
 *
 * @param names names of stores, whether or not they exist
 */
export const searchStores = (
  { txn, known }: ReconcileContext,
  names: readonly string[],
  recorded: readonly SnapshotStore[] = [],
): StoreSearch => {
  const stores: SnapshotStore[] = [];
  const requests: ApiCall[] = [];
  const written = storeNamesIn(known);
  const most = mostStoreNames(txn.spec.changes.length);
  for (let n = 0, isLast = false; !isLast; n += 1) {
    const name = storeName(txn.metadata.name, n);
    const observations = KINDS.map((kind) => known.found.get(storeKey({ kind, name })));
    KINDS.forEach((kind, at) => {
      const observed = observations[at];
      const isHere = (store: SnapshotStore): boolean => store.kind === kind && store.name === name;
      if (observed === undefined) requests.push(lookAtStore(txn, { kind, name }, recorded.find(isHere)));
      if (observed?.type === "ours") stores.push({ kind, name, uid: observed.uid, digest: "" });
    });
    const isFree = observations.every((observed) => observed?.type === "absent") && !names.includes(name);
    isLast = n + 1 >= most || (n + 1 >= written && (isFree || requests.length > 0));
  }
  return requests.length > 0 ? { type: "searching", requests } : { type: "found", stores };
};

/** Stores of ours that are not recorded: a former process did not live to, or the Transaction is Committed. */
export const unrecordedStores = (context: ReconcileContext): readonly ApiCall[] => {
  const { txn, known } = context;
  const stores = allStores(txn, journalIn(known));
  const recorded = new Set(stores.map(({ uid }) => uid));
  const names = stores.map(({ name }) => name);
  const written = writtenStores(known);
  const isUnrecorded = ({ uid }: SnapshotStore): boolean => !recorded.has(uid);
  const remove = (ref: SnapshotStore): readonly ApiCall[] => deleteStore(txn, known, ref);
  // This process has written every store itself, so there are no others.
  if (written.length > 0 && written.length === known.stores.size) return written.filter(isUnrecorded).flatMap(remove);
  const searched = searchStores(context, names, stores);
  if (searched.type === "searching") return searched.requests;
  return searched.stores.filter(isUnrecorded).flatMap(remove);
};
