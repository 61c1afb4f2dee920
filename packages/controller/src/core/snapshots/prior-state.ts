// Reads the state before a change from its snapshot, and lists all stores of a Transaction.
import type { Before, SnapshotStore, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { ApiCall } from "../state/effect.ts";
import { beforeIn, type Journal } from "../state/journal.ts";
import { changeIn, type Observations } from "../state/observations.ts";
import { releaseOrRetry } from "./release-stores.ts";
import { formerObject, holding, readStores } from "./snapshot-stores.ts";
import type { KubeObject } from "@janus/types";

/** The recorded state before a change. */
export const recordedBefore = (txn: Transaction, journal: Journal, index: number): Before => {
  return beforeIn(txn.status.items[index]?.state ?? { type: "untouched" }, index, journal);
};

/** Every store that the status or the journal names, once. */
export const allStores = (txn: Transaction, journal: Journal | undefined): readonly SnapshotStore[] => {
  const { snapshots } = txn.status;
  const recorded = new Set(snapshots.map(({ uid }) => uid));
  const renewed = [...(journal?.renewed.values() ?? [])].flatMap(({ stores }) => stores);
  return [...snapshots, ...renewed.filter(({ uid }) => !recorded.has(uid))];
};

/** Leaves every store that was not released yet to users, unless the API server rejects it: each is an orphan from then on. */
export const orphanAll = (
  { txn, known }: { readonly txn: Transaction; readonly known: Observations },
  journal: Journal,
): readonly ApiCall[] => allStores(txn, journal).flatMap((ref) => releaseOrRetry(txn, known, ref, "orphaned"));

/** `ConfigMap a-rollback, Secret a-rollback-1`: how messages name the snapshots. */
export const showStores = (txn: Transaction, journal: Journal): string =>
  allStores(txn, journal)
    .map(({ kind, name }) => `${kind} ${name}`)
    .join(", ") || "no snapshot";

/** The state before a change: from memory, or from the snapshots, which have to be read. */
export type Snapshot =
  | { readonly type: "absent" }
  | { readonly type: "object"; readonly object: KubeObject }
  | { readonly type: "unread"; readonly effects: readonly ApiCall[] }
  | { readonly type: "lost"; readonly why: string };

export const snapshotOf = (txn: Transaction, known: Observations, journal: Journal, index: number): Snapshot => {
  const before = recordedBefore(txn, journal, index);
  if (!before.existed) return { type: "absent" };
  const remembered = changeIn(known, index).before;
  if (remembered?.metadata.uid === before.uid && remembered.metadata.resourceVersion === before.resourceVersion)
    return { type: "object", object: remembered };
  if (before.snapshot === undefined) return { type: "lost", why: "no snapshot of it is recorded" };
  const { store, key } = before.snapshot;
  const stores = holding(allStores(txn, journal), known, store, key);
  const effects = readStores(txn, known, stores);
  if (effects.length > 0)
    return { type: "unread", effects: effects.map((request) => withOwners(request, index, stores, key)) };
  const object = formerObject(known, stores, key);
  return E.isRight(object) ? { type: "object", object: object.right } : { type: "lost", why: object.left };
};

/** Its owners are remembered even after the snapshot is removed from memory. */
const withOwners = (request: ApiCall, index: number, stores: readonly SnapshotStore[], key: string): ApiCall => ({
  ...request,
  folds: [...request.folds, { type: "former-owners-read", index, stores, key }],
});
