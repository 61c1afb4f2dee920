import type { Before, SnapshotStore, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { Ask } from "./effect.ts";
import { beforeIn, type Journal } from "./journal.ts";
import { type Known, set } from "./known.ts";
import { type KubeObject, ownerUids } from "./object.ts";
import { letGoOrLater, type ReleaseTo } from "./release-stores.ts";
import { holding, readStores, restored } from "./stores.ts";

/** What was recorded as there before a change. */
export const recordedBefore = (txn: Transaction, journal: Journal, index: number): Before => {
  return beforeIn(txn.status.items[index]?.state ?? { at: "untouched" }, index, journal);
};

export const allStores = (txn: Transaction, journal: Journal | undefined): readonly SnapshotStore[] => [
  ...txn.status.snapshots,
  ...[...(journal?.renewed.values() ?? [])].flatMap(({ stores }) => stores),
];

/** Lets go of every store that was not let go of yet, as far as the API server takes it. */
export const releaseAll = (
  { txn, known }: { readonly txn: Transaction; readonly known: Known },
  journal: Journal,
  to: ReleaseTo,
): readonly Ask[] => allStores(txn, journal).flatMap((ref) => letGoOrLater(txn, known, ref, to));

/** `ConfigMap a-rollback, Secret a-rollback-1`: how messages name the snapshots. */
export const showStores = (txn: Transaction, journal: Journal): string =>
  allStores(txn, journal)
    .map(({ kind, name }) => `${kind} ${name}`)
    .join(", ") || "no snapshot";

/** What was there before a change: from memory, or from the snapshots, which take reading. */
export type Snapshot =
  | { readonly at: "absent" }
  | { readonly at: "object"; readonly object: KubeObject }
  | { readonly at: "unread"; readonly effects: readonly Ask[] }
  | { readonly at: "lost"; readonly why: string };

export const snapshotOf = (txn: Transaction, known: Known, journal: Journal, index: number): Snapshot => {
  const before = recordedBefore(txn, journal, index);
  if (!before.existed) return { at: "absent" };
  const remembered = known.before.get(index);
  if (remembered?.metadata.uid === before.uid && remembered.metadata.resourceVersion === before.resourceVersion)
    return { at: "object", object: remembered };
  const { store, key } = before.snapshot;
  const stores = holding(allStores(txn, journal), known, store, key);
  const effects = readStores(txn, known, stores);
  if (effects.length > 0) return { at: "unread", effects: effects.map((ask) => withOwners(ask, index, stores, key)) };
  const object = restored(known, stores, key);
  return E.isRight(object) ? { at: "object", object: object.right } : { at: "lost", why: object.left };
};

/** Whose it was is remembered also when the snapshot is let go of. */
const withOwners = (ask: Ask, index: number, stores: readonly SnapshotStore[], key: string): Ask => ({
  ...ask,
  learn: (...answer) => {
    const after = ask.learn(...answer);
    const object = restored(after, stores, key);
    return E.isLeft(object)
      ? after
      : { ...after, ownersBefore: set(after.ownersBefore, index, ownerUids(object.right)) };
  },
});
