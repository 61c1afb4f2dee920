import { API_VERSION, KIND, type SnapshotStore, storeName, type Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { Ask } from "./effect.ts";
import { sentence } from "./fault.ts";
import { type Known, set, type StoreSight } from "./known.ts";
import type { KubeObject } from "./object.ts";
import {
  digestOf,
  openStore,
  ORPHANED_LABEL,
  type Pack,
  storeBody,
  storePlace,
  UID_LABEL,
  unpack,
} from "./snapshot.ts";

const sighted = (known: Known, n: number, sight: StoreSight): Known => ({
  ...known,
  stores: set(known.stores, n, sight),
});

export const isWritten = (sight: StoreSight | undefined): sight is SnapshotStore =>
  typeof sight === "object" && "uid" in sight;

/** Writes one store under the n-th name. One that is there already is looked at, and neither trusted nor touched. */
const write = (txn: Transaction, n: number, pack: Pack): Ask => {
  const store = { kind: pack.kind, name: storeName(txn.metadata.name, n) };
  return {
    purpose: "store",
    as: "controller",
    call: { verb: "create", place: storePlace(txn, store), body: storeBody(txn, n, pack), manager: "janus" },
    learn: (known, answer) => {
      if (E.isRight(answer))
        return sighted(known, n, { ...store, uid: answer.right.metadata.uid ?? "", digest: digestOf(pack.data) });
      const exists = answer.left.kind === "refused" && answer.left.reason === "AlreadyExists";
      return sighted(
        known,
        n,
        exists
          ? "taken"
          : { unusable: `the snapshot ${store.kind} ${store.name} cannot be written: ${sentence(answer.left)}` },
      );
    },
    lost: (known, _, now) => ({ ...sighted(known, n, "taken"), unansweredCreate: now }),
  };
};

/**
 * One that names our uid is a leftover of ours from before a crash; one that names another is the only copy of what a
 * former Transaction of our name found: both are ignored, and the next name is taken. Anything else is somebody's.
 */
const look = (txn: Transaction, n: number, kind: SnapshotStore["kind"]): Ask => {
  const store = { kind, name: storeName(txn.metadata.name, n) };
  return {
    purpose: "read-store",
    as: "controller",
    call: { verb: "get", place: storePlace(txn, store) },
    learn: (known, answer) => {
      if (E.isLeft(answer)) return { ...known, stores: new Map([...known.stores].filter(([at]) => at !== n)) };
      return sighted(
        known,
        n,
        answer.right.metadata.labels?.[UID_LABEL] !== undefined
          ? "left-over"
          : {
              unusable: `${kind} ${store.name} exists and is not ours: delete or rename it, then create the Transaction again`,
            },
      );
    },
  };
};

export type Storing =
  | { readonly at: "stored"; readonly stores: readonly SnapshotStore[] }
  | { readonly at: "going"; readonly effect: Ask }
  | { readonly at: "refused"; readonly why: string };

/**
 * Writes the packs one after the other under the next free names, so that no name below a leftover stays unlooked-at.
 * A pack that this process has written already is known by its digest.
 */
export const store = (txn: Transaction, known: Known, packs: readonly Pack[]): Storing => {
  const written = [...known.stores.values()].filter(isWritten);
  const stores: SnapshotStore[] = [];
  for (const pack of packs) {
    const digest = digestOf(pack.data);
    const found = written.find((ref) => ref.kind === pack.kind && ref.digest === digest);
    if (found === undefined) return next(txn, known, pack);
    stores.push(found);
  }
  return { at: "stored", stores };
};

const next = (txn: Transaction, known: Known, pack: Pack): Storing => {
  for (let n = 0; ; n += 1) {
    const sight = known.stores.get(n);
    if (sight === undefined) return { at: "going", effect: write(txn, n, pack) };
    if (sight === "taken") return { at: "going", effect: look(txn, n, pack.kind) };
    if (sight !== "left-over" && !isWritten(sight)) return { at: "refused", why: sight.unusable };
  }
};

const storeKey = (ref: SnapshotStore): string => `${ref.kind}/${ref.name}`;

const read = (txn: Transaction, ref: SnapshotStore): Ask => ({
  purpose: "read-store",
  as: "controller",
  call: { verb: "get", place: storePlace(txn, ref) },
  learn: (known, answer) => ({
    ...known,
    storeData: set(
      known.storeData,
      storeKey(ref),
      E.isRight(answer)
        ? openStore(ref, answer.right)
        : { broken: `the snapshot ${ref.kind} ${ref.name} is gone: ${sentence(answer.left)}` },
    ),
  }),
});

/** Reads the stores that were not read yet. */
export const readStores = (txn: Transaction, known: Known, stores: readonly SnapshotStore[]): readonly Ask[] =>
  stores.filter((ref) => !known.storeData.has(storeKey(ref))).map((ref) => read(txn, ref));

/** The object of before, from the stores that were read. Left: why it cannot be had. */
export const restored = (known: Known, stores: readonly SnapshotStore[], key: string): E.Either<string, KubeObject> => {
  const opened = stores.map((ref) => known.storeData.get(storeKey(ref)));
  const object = unpack(
    key,
    opened.flatMap((data) => (data !== undefined && "data" in data ? [data.data] : [])),
  );
  if (object !== undefined) return E.right(object);
  const broken = opened.find((data) => data !== undefined && "broken" in data);
  return E.left(broken !== undefined && "broken" in broken ? broken.broken : `the snapshots have no ${key}`);
};

/**
 * Lets go of a store: without the finalizer it can be deleted.
 *
 * owned:    kept for a look, and gone with the Transaction.
 * orphaned: outlives the Transaction, to be found by its label.
 * free:     about to be deleted.
 * kept:     stays for a later attempt to restore from it.
 */
export const releaseStore = (
  txn: Transaction,
  ref: SnapshotStore,
  to: "owned" | "orphaned" | "free" | "kept",
): Ask => ({
  purpose: "release-store",
  as: "controller",
  call: {
    verb: "mergePatch",
    place: storePlace(txn, ref),
    body: {
      metadata: {
        uid: ref.uid,
        finalizers: null,
        // Its owner may be recorded already, where it was about to be kept for a look.
        ...(to === "orphaned" ? { labels: { [ORPHANED_LABEL]: "true" }, ownerReferences: null } : {}),
        ...(to === "owned"
          ? {
              ownerReferences: [
                { apiVersion: API_VERSION, kind: KIND, name: txn.metadata.name, uid: txn.metadata.uid },
              ],
            }
          : {}),
      },
    },
  },
  learn: (known) => ({
    ...known,
    released: new Set([...known.released, `store ${ref.uid}`, `${to} store ${ref.uid}`]),
  }),
});

/** One that is to be orphaned is let go of once more where it was let go of before somebody deleted the Transaction. */
export const isReleased = (known: Known, { uid }: SnapshotStore, to: Parameters<typeof releaseStore>[2]): boolean =>
  known.released.has(to === "orphaned" ? `orphaned store ${uid}` : `store ${uid}`);

export const deleteStore = (txn: Transaction, ref: SnapshotStore): Ask => ({
  purpose: "release-store",
  as: "controller",
  call: { verb: "delete", place: storePlace(txn, ref), preconditions: { uid: ref.uid } },
  learn: (known) => ({ ...known, released: new Set([...known.released, `deleted store ${ref.uid}`]) }),
});

export const isDeleted = (known: Known, { uid }: SnapshotStore): boolean => known.released.has(`deleted store ${uid}`);
