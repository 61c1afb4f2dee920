// Creates snapshot stores under free names, and trusts only those that are recorded.
import { type SnapshotStore, storeName, type Transaction, TRANSACTION_LABEL, UID_LABEL } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { ApiCall } from "../state/effect.ts";
import { isAbsent, messageOf, type ApiError, type KubeObject } from "@janus/types";
import { type Journal, mostStoreNames } from "../state/journal.ts";
import { recordStoreNames } from "../state/journal-requests.ts";
import { type Observations, set, unset } from "../state/observations.ts";
import type { StoreData, StoreObservation } from "../state/store-observations.ts";
import { isOf, toOurStore, storeKey } from "./release-stores.ts";
import { digestOfStore, laterStore, openStore, type Pack, storeBody, storePlace, unpack } from "./snapshot-data.ts";

const withObservation = (known: Observations, n: number, observed: StoreObservation): Observations => ({
  ...known,
  stores: set(known.stores, n, observed),
});

/** The stores that this process has written, in their order. */
export const writtenStores = ({ stores }: Observations): readonly SnapshotStore[] =>
  [...stores.values()].flatMap((observed) => (observed.type === "written" ? [observed.store] : []));

const alteredAtOnce = ({ kind, name }: Pick<SnapshotStore, "kind" | "name">, why: string): string =>
  `the snapshot ${kind} ${name} was modified when it was written (${why}): exempt objects with the label ${TRANSACTION_LABEL} from the admission webhook or policy that modifies it`;

/** Creates a store with the n-th name. One that exists already is read, and neither trusted nor modified. */
const write = (txn: Transaction, n: number, pack: Pack): ApiCall => {
  const store = { kind: pack.kind, name: storeName(txn.metadata.name, n) };
  return {
    purpose: "store",
    as: "controller",
    call: { verb: "create", place: storePlace(txn, store), body: storeBody(txn, n, pack), manager: "janus" },
    folds: [
      (known, answer) => {
        if (E.isRight(answer)) {
          const observed = toOurStore(answer.right);
          const written = { ...known, found: set(known.found, storeKey(store), observed) };
          const ref = { ...store, uid: observed.uid, digest: digestOfStore(pack.data) };
          const kept = opened(txn, ref, answer);
          // Reported now, not when it is needed for a restore.
          return withObservation(
            written,
            n,
            kept.type === "data"
              ? { type: "written", store: ref }
              : { type: "unusable", why: alteredAtOnce(store, kept.why) },
          );
        }
        const exists = answer.left.type === "refused" && answer.left.reason === "AlreadyExists";
        return withObservation(
          known,
          n,
          exists
            ? { type: "taken" }
            : {
                type: "unusable",
                why: `the snapshot ${store.kind} ${store.name} cannot be written: ${messageOf(answer.left)}`,
              },
        );
      },
    ],
    unanswered: [(known, _, now) => ({ ...withObservation(known, n, { type: "taken" }), unansweredCreate: now })],
  };
};

/**
 * A store with our uid is a leftover from before a crash. One with another uid is the only copy of a snapshot of
 * a former Transaction with our name. Both are ignored, and the next name is tried. Anything else belongs to
 * another client.
 */
const look = (txn: Transaction, n: number, kind: SnapshotStore["kind"]): ApiCall => {
  const store = { kind, name: storeName(txn.metadata.name, n) };
  return {
    purpose: "read-store",
    as: "controller",
    call: { verb: "get", place: storePlace(txn, store) },
    folds: [
      (known, answer) => {
        if (E.isLeft(answer))
          return isAbsent(answer.left)
            ? { ...known, stores: unset(known.stores, n) }
            : withObservation(known, n, {
                type: "unusable",
                why: `${kind} ${store.name} cannot be read: ${messageOf(answer.left)}`,
              });
        return withObservation(
          known,
          n,
          answer.right.metadata.labels?.[UID_LABEL] !== undefined
            ? { type: "left-over" }
            : {
                type: "unusable",
                why: `${kind} ${store.name} exists and does not belong to this Transaction: delete or rename it, then create the Transaction again`,
              },
        );
      },
    ],
  };
};

export type Storing =
  | { readonly type: "stored"; readonly stores: readonly SnapshotStore[] }
  /** `n`: the number in the name that is written or read. */
  | { readonly type: "writing"; readonly effect: ApiCall; readonly n: number }
  | { readonly type: "refused"; readonly why: string };

/**
 * Writes the packs one after the other, under the next free names. A pack that this process has written already
 * is recognized by its digest.
 */
export const store = (txn: Transaction, known: Observations, packs: readonly Pack[]): Storing => {
  const written = writtenStores(known).filter((ref) => !isGone(known, ref));
  const stores: SnapshotStore[] = [];
  for (const pack of packs) {
    const digest = digestOfStore(pack.data);
    const found = written.find((ref) => ref.kind === pack.kind && ref.digest === digest);
    if (found === undefined) return next(txn, known, pack);
    stores.push(found);
  }
  return { type: "stored", stores };
};

/** It was deleted again: its name is free. */
const isGone = (known: Observations, ref: SnapshotStore): boolean => known.found.get(storeKey(ref))?.type === "absent";

const next = (txn: Transaction, known: Observations, pack: Pack): Storing => {
  const most = mostStoreNames(txn.spec.changes.length);
  for (let n = 0; n < most; n += 1) {
    const observed = known.stores.get(n);
    if (observed === undefined || (observed.type === "written" && isGone(known, observed.store)))
      return { type: "writing", effect: write(txn, n, pack), n };
    if (observed.type === "taken") return { type: "writing", effect: look(txn, n, pack.kind), n };
    if (observed.type === "unusable") return { type: "refused", why: observed.why };
  }
  return { type: "refused", why: `the first ${most} names for snapshots are taken: delete those that are not needed` };
};

/**
 * Writes the next store, once the journal lists its name.
 *
 * @param more how many stores are left to write, with this one
 */
export const writeNext = (
  txn: Transaction,
  journal: Journal,
  { effect, n }: Extract<Storing, { readonly type: "writing" }>,
  more: number,
): ApiCall => (n < Math.max(journal.storeNames, 1) ? effect : recordStoreNames(txn, journal, n + more));

const read = (txn: Transaction, ref: SnapshotStore): ApiCall => ({
  purpose: "read-store",
  as: "controller",
  call: { verb: "get", place: storePlace(txn, ref) },
  folds: [
    (known, answer, now) => {
      const data = opened(txn, ref, answer);
      const why = E.isRight(answer) && data.type === "data" ? laterStore(txn, ref, answer.right) : undefined;
      return why === undefined
        ? { ...known, storeData: set(known.storeData, storeKey(ref), data) }
        : { ...known, later: { why, readAt: now } };
    },
  ],
});

const opened = (txn: Transaction, ref: SnapshotStore, answer: E.Either<ApiError, KubeObject>): StoreData => {
  const store = `${ref.kind} ${ref.name}`;
  if (E.isLeft(answer))
    return {
      type: "broken",
      why: `the snapshot ${store} ${isAbsent(answer.left) ? "is gone" : "cannot be read"}: ${messageOf(answer.left)}`,
    };
  // Journal and status, which other clients may have written, could name a store of another Transaction.
  return isOf(txn, answer.right)
    ? openStore(ref, answer.right)
    : { type: "broken", why: `${store} does not have the label of this Transaction` };
};

/** The stores of a snapshot that were read, and the next one of it to read: a large snapshot is in several. */
export const holding = (
  all: readonly SnapshotStore[],
  { storeData }: Observations,
  first: string,
  key: string,
): readonly SnapshotStore[] => {
  const from = all.slice(
    Math.max(
      0,
      all.findIndex(({ name }) => name === first),
    ),
  );
  let part = 0;
  const last = from.findIndex((ref) => {
    const read = storeData.get(storeKey(ref));
    if (read === undefined || read.type === "broken" || read.data.has(key)) return true;
    const before = part;
    while (read.data.has(`${key}.${part}`)) part += 1;
    return part === before;
  });
  return last === -1 ? from : from.slice(0, last + 1);
};

/** Reads the stores that were not read yet. */
export const readStores = (
  txn: Transaction,
  known: Observations,
  stores: readonly SnapshotStore[],
): readonly ApiCall[] => stores.filter((ref) => !known.storeData.has(storeKey(ref))).map((ref) => read(txn, ref));

/** The former object, from the stores that were read. Left: why it is not available. */
export const restored = (
  known: Observations,
  stores: readonly SnapshotStore[],
  key: string,
): E.Either<string, KubeObject> => {
  const read = stores.map((ref) => known.storeData.get(storeKey(ref)));
  const object = unpack(
    key,
    read.flatMap((data) => (data?.type === "data" ? [data.data] : [])),
  );
  if (object !== undefined) return E.right(object);
  const broken = read.find((data) => data?.type === "broken");
  return E.left(broken?.type === "broken" ? broken.why : `the snapshots do not contain ${key}`);
};
