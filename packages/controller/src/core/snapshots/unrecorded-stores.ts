import { type SnapshotStore, storeName } from "@janus/api";
import { allStores } from "./prior-state.ts";
import type { ApiCall } from "../state/effect.ts";
import { mostStoreNames } from "../state/journal.ts";
import { journalIn, storeNamesIn } from "../state/observations.ts";
import { lookAtStore, storeKey, deleteStore } from "./release-stores.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { isWritten } from "./snapshot-stores.ts";

const KINDS = ["ConfigMap", "Secret"] as const;

/**
 * Looks for stores of ours by their names: all that the journal says may have been written, and behind these up to the first
 * one that neither kind has, for where the journal is lost; but under none that it cannot have. The very first name is looked at
 * in any case.
 *
 * @param names that belong to a store, whether or not it is there
 */
export const search = (
  { txn, known }: ReconcileContext,
  names: readonly string[],
  recorded: readonly SnapshotStore[] = [],
): { readonly asking: readonly ApiCall[] } | { readonly found: readonly SnapshotStore[] } => {
  const stores: SnapshotStore[] = [];
  const asking: ApiCall[] = [];
  const written = storeNamesIn(known);
  const most = mostStoreNames(txn.spec.changes.length);
  for (let n = 0, isLast = false; !isLast; n += 1) {
    const name = storeName(txn.metadata.name, n);
    const sights = KINDS.map((kind) => known.found.get(storeKey({ kind, name })));
    KINDS.forEach((kind, at) => {
      const sight = sights[at];
      const isHere = (store: SnapshotStore): boolean => store.kind === kind && store.name === name;
      if (sight === undefined) asking.push(lookAtStore(txn, { kind, name }, recorded.find(isHere)));
      if (typeof sight === "object") stores.push({ kind, name, uid: sight.uid, digest: "" });
    });
    const isFree = sights.every((sight) => sight === "nothing") && !names.includes(name);
    isLast = n + 1 >= most || (n + 1 >= written && (isFree || asking.length > 0));
  }
  return asking.length > 0 ? { asking } : { found: stores };
};

/** Stores that a former process wrote and did not live to record. */
export const leftOvers = (situation: ReconcileContext): readonly ApiCall[] => {
  const { txn, known } = situation;
  const stores = allStores(txn, journalIn(known));
  const recorded = new Set(stores.map(({ uid }) => uid));
  const names = stores.map(({ name }) => name);
  const sights = [...known.stores.values()];
  // This process has written every store itself, and has recorded each.
  if (sights.length > 0 && sights.every((sight) => isWritten(sight) && recorded.has(sight.uid))) return [];
  const searched = search(situation, names, stores);
  if ("asking" in searched) return searched.asking;
  return searched.found.filter(({ uid }) => !recorded.has(uid)).flatMap((ref) => deleteStore(txn, known, ref));
};
