import { type SnapshotStore, storeName } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { allStores } from "./before.ts";
import type { Ask, Effect } from "./effect.ts";
import { journalIn, set } from "./known.ts";
import type { Situation } from "./situation.ts";
import { openStore, storePlace, UID_LABEL } from "./snapshot.ts";
import { deleteStore, isDeleted, isReleased, isWritten, releaseStore } from "./stores.ts";

const KINDS = ["ConfigMap", "Secret"] as const;

/**
 * Looks for stores of ours by their names. They are written one after the other under the next names that are free, so the
 * first name that neither kind has ends the search. What has come in the place of a recorded store is ours only if it is the same: a
 * create that was sent twice, and landed twice.
 *
 * @param names that belong to a store, whether or not it is there
 */
export const search = (
  { txn, known }: Situation,
  names: readonly string[],
  recorded: readonly SnapshotStore[] = [],
): { readonly asking: readonly Ask[] } | { readonly found: readonly SnapshotStore[] } => {
  const stores: SnapshotStore[] = [];
  for (let n = 0; ; n += 1) {
    const name = storeName(txn.metadata.name, n);
    const found = KINDS.map((kind) => known.found.get(`${kind}/${name}`));
    if (found.includes(undefined)) {
      const isHere = (kind: string) => (store: SnapshotStore) => store.kind === kind && store.name === name;
      const unknown = KINDS.filter((_, at) => found[at] === undefined);
      return { asking: unknown.map((kind) => probe(txn, kind, name, recorded.find(isHere(kind)))) };
    }
    KINDS.forEach((kind, at) => {
      const sight = found[at];
      if (typeof sight === "object") stores.push({ kind, name, uid: sight.uid, digest: "" });
    });
    if (found.every((sight) => sight === "nothing") && !names.includes(name)) return { found: stores };
  }
};

/** Stores that a former process wrote and did not live to record. */
export const leftOvers = (situation: Situation): readonly Effect[] => {
  const { txn, known } = situation;
  const stores = allStores(txn, journalIn(known));
  const recorded = new Set(stores.map(({ uid }) => uid));
  const names = stores.map(({ name }) => name);
  const sights = [...known.stores.values()];
  // This process has written every store itself, and has recorded each.
  if (sights.length > 0 && sights.every((sight) => isWritten(sight) && recorded.has(sight.uid))) return [];
  const searched = search(situation, names, stores);
  if ("asking" in searched) return searched.asking;
  const left = searched.found.filter(({ uid }) => !recorded.has(uid));
  // The last one first: a crash in between must leave no gap, which would end the next search.
  const last = left.findLast((ref) => !isDeleted(known, ref));
  if (last === undefined) return [];
  return [isReleased(known, last, "free") ? deleteStore(txn, last) : releaseStore(txn, last, "free")];
};

const probe = (
  txn: Situation["txn"],
  kind: SnapshotStore["kind"],
  name: string,
  recorded: SnapshotStore | undefined,
): Ask => ({
  purpose: "read-store",
  as: "controller",
  call: { verb: "get", place: storePlace(txn, { kind, name }) },
  learn: (known, answer) => {
    const object = E.isRight(answer) ? answer.right : undefined;
    const { uid = "", labels } = object?.metadata ?? {};
    const same = (recorded: SnapshotStore): boolean =>
      object !== undefined && "data" in openStore({ ...recorded, uid }, object);
    const ours = labels?.[UID_LABEL] === txn.metadata.uid && (recorded === undefined || same(recorded));
    const sight = ours ? { uid } : object === undefined ? "nothing" : "theirs";
    return { ...known, found: set(known.found, `${kind}/${name}`, sight) };
  },
});
