// Creates snapshot stores under free names, and trusts only those that are recorded.
import { type SnapshotStore, storeName, type Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { ApiCall } from "../state/effect.ts";
import { type KubeObject } from "@janus/types";
import { type Journal, mostStoreNames } from "../state/journal.ts";
import { recordStoreNames } from "../state/journal-requests.ts";
import { type Observations } from "../state/observations.ts";
import { storeKey } from "./release-stores.ts";
import { type DigestedPack, storeBody, storePlace, unpack } from "./snapshot-data.ts";

/** The stores that this process has written, in their order. */
export const writtenStores = ({ stores }: Observations): readonly SnapshotStore[] =>
  [...stores.values()].flatMap((observed) => (observed.type === "written" ? [observed.store] : []));

/** Creates a store with the n-th name. One that exists already is read, and neither trusted nor modified. */
const write = (txn: Transaction, n: number, pack: DigestedPack): ApiCall => {
  const store = { kind: pack.kind, name: storeName(txn.metadata.name, n) };
  return {
    purpose: "store",
    as: "controller",
    call: { verb: "create", place: storePlace(txn, store), body: storeBody(txn, n, pack), manager: "janus" },
    folds: [{ type: "store-written", n, digest: pack.digest }],
    unanswered: [{ type: "store-maybe-written", n }],
  };
};

/**
 * A store with our uid is a leftover from before a crash. One with another uid is the only copy of a snapshot of
 * a former Transaction with our name. Both are ignored, and the next name is tried. Anything else belongs to
 * another client.
 */
const look = (txn: Transaction, n: number, kind: SnapshotStore["kind"]): ApiCall => ({
  purpose: "read-store",
  as: "controller",
  call: { verb: "get", place: storePlace(txn, { kind, name: storeName(txn.metadata.name, n) }) },
  folds: [{ type: "store-name-read", n }],
});

export type Storing =
  | { readonly type: "stored"; readonly stores: readonly SnapshotStore[] }
  /** `n`: the number in the name that is written or read. */
  | { readonly type: "writing"; readonly effect: ApiCall; readonly n: number }
  | { readonly type: "refused"; readonly why: string };

/** The written stores that have these packs, in their order; undefined where one is still to be written. */
export const storesWith = (
  known: Observations,
  packs: readonly Pick<DigestedPack, "kind" | "digest">[],
): readonly (SnapshotStore | undefined)[] => {
  const written = writtenStores(known).filter((ref) => !isGone(known, ref));
  return packs.map(({ kind, digest }) => written.find((ref) => ref.kind === kind && ref.digest === digest));
};

/**
 * Writes the packs one after the other, under the next free names. A pack that this process has written already
 * is recognized by its digest.
 */
export const store = (txn: Transaction, known: Observations, packs: readonly DigestedPack[]): Storing => {
  const stores = storesWith(known, packs);
  const pack = packs.find((_, at) => stores[at] === undefined);
  return pack === undefined
    ? { type: "stored", stores: stores.filter((ref) => ref !== undefined) }
    : next(txn, known, pack);
};

/** It was deleted again: its name is free. */
const isGone = (known: Observations, ref: SnapshotStore): boolean => known.found.get(storeKey(ref))?.type === "absent";

const next = (txn: Transaction, known: Observations, pack: DigestedPack): Storing => {
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
  folds: [{ type: "store-read", store: ref }],
});

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
export const formerObject = (
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
