// Writes the snapshots of the targets, group by group.
import type { SnapshotStore, Transaction } from "@janus/api";
import { ENOUGH_LIVE, outlined } from "../state/memory-budget.ts";
import type { ApiCall } from "../state/effect.ts";
import type { Journal, Position } from "../state/journal.ts";
import { findJournal, readJournal } from "../state/journal-requests.ts";
import { changeIn, type Observations, snapshotIn, withChanges, journalIn } from "../state/observations.ts";
import { isRefused } from "../state/journal-observation.ts";
import type { SnapshotRef } from "../state/store-observations.ts";
import { isOfSecret, pack, STORE_BYTES } from "./snapshot-data.ts";
import { store, writeNext, writtenStores } from "./snapshot-stores.ts";
import { type KubeObject, sizeOf } from "@janus/types";

/** Targets that are in memory as a whole. */
const whole = (known: Observations): readonly (readonly [index: number, object: KubeObject])[] =>
  [...known.changes].flatMap(([index, { target }]) =>
    target?.type === "read" ? [[index, target.object] as const] : [],
  );

/** The memory and the number of targets that are in memory as a whole. */
export const liveBytes = (known: Observations): { readonly bytes: number; readonly count: number } => {
  const objects = whole(known);
  return { bytes: objects.reduce((sum, [, object]) => sum + sizeOf(object), 0), count: objects.length };
};

/** The targets without a snapshot that fit into one store, all for the same kind of store. */
const nextGroup = (known: Observations): ReadonlyMap<number, KubeObject> => {
  const open = whole(known)
    .filter(([index]) => snapshotIn(known, index) === undefined)
    .toSorted(([a], [b]) => a - b);
  const [first] = open;
  if (first === undefined) return new Map();
  const group = new Map([first]);
  let left = STORE_BYTES - sizeOf(first[1]);
  for (const [index, object] of open.slice(1)) {
    if (isOfSecret(object) !== isOfSecret(first[1]) || sizeOf(object) > left) continue;
    left -= sizeOf(object);
    group.set(index, object);
  }
  return group;
};

/** Records the stores of snapshots. If the targets take much memory, only their outlines are kept. */
export const withRefs = (
  known: Observations,
  starts: Iterable<readonly [index: number, pack: number]>,
  stores: readonly SnapshotStore[],
): Observations => {
  const isMuch = liveBytes(known).bytes > ENOUGH_LIVE;
  return withChanges(
    known,
    [...starts].map(([index, at]) => {
      const observed = changeIn(known, index);
      const of = observed.target?.object?.metadata.resourceVersion;
      const kept = { ...observed, snapshot: { first: stores[at]?.name ?? "", stores, of } };
      return [index, isMuch ? outlined(kept) : kept];
    }),
  );
};

/** About how many stores are still to be written for the targets in memory. */
const storesLeft = (known: Observations): number => {
  const group = nextGroup(known);
  if (group.size === 0) return 0;
  const bytes = [...group.values()].reduce((sum, object) => sum + sizeOf(object), 0);
  const rest = withChanges(
    known,
    [...group].map(([index, { metadata }]) => [
      index,
      { snapshot: { first: "", stores: [], of: metadata.resourceVersion } },
    ]),
  );
  return Math.ceil(bytes / STORE_BYTES) + storesLeft(rest);
};

export type SnapshotProgress =
  | { readonly type: "taken"; readonly refs: ReadonlyMap<number, SnapshotRef>; readonly journal: Journal }
  | { readonly type: "writing"; readonly effects: readonly ApiCall[] }
  | { readonly type: "refused"; readonly why: string };

/**
 * Writes the journal, and the snapshots of targets that were read, one store after the other.
 *
 * Guarantees: a step packs at most one store, or one target; the journal lists the name of a store before it is
 *             written.
 *
 * @param begin the position of a journal that is created
 */
export const takeSnapshots = (txn: Transaction, known: Observations, begin: Position): SnapshotProgress => {
  const group = nextGroup(known);
  const unjournaled: SnapshotProgress | undefined = isRefused(known.journal)
    ? { type: "refused", why: `the journal cannot be written: ${known.journal.why}` }
    : undefined;
  const journal = journalIn(known);
  if (group.size === 0) {
    if (unjournaled !== undefined) return unjournaled;
    return journal === undefined
      ? { type: "writing", effects: [findJournal(txn, known, { position: begin }) ?? readJournal(txn)] }
      : { type: "taken", refs: refsIn(known), journal };
  }
  const { packs, starts } = pack(group);
  const storing = store(txn, known, packs);
  if (storing.type === "refused") return storing;
  if (unjournaled !== undefined) return unjournaled;
  if (storing.type === "stored") return takeSnapshots(txn, withRefs(known, starts, storing.stores), begin);
  const notingRefs = (request: ApiCall): ApiCall => ({
    ...request,
    folds: [
      ...request.folds,
      {
        type: "snapshots-stored",
        packs: packs.map(({ kind, digest }) => ({ kind, digest })),
        starts: [...starts],
      },
    ],
  });
  const more = Math.max(packs.length, storesLeft(known));
  const journaling = findJournal(txn, known, { position: begin }, more);
  if (journaling === undefined && journal !== undefined)
    return { type: "writing", effects: [notingRefs(writeNext(txn, journal, storing, more))] };
  // The first name is always checked, so the first store is written concurrently with the journal that lists the
  // others.
  const first = storing.n === 0 ? [notingRefs(storing.effect)] : [];
  return { type: "writing", effects: [journaling ?? readJournal(txn), ...first] };
};

/** The references of the snapshots, by change, in the order in which they were written. */
const refsIn = (known: Observations): ReadonlyMap<number, SnapshotRef> => {
  const places = new Map(writtenStores(known).map(({ uid }, place) => [uid, place] as const));
  const placeOf = ({ stores: [first] }: SnapshotRef): number => places.get(first?.uid ?? "") ?? 0;
  return new Map(
    [...known.changes.keys()]
      .flatMap((index) => {
        const snapshot = snapshotIn(known, index);
        return snapshot === undefined ? [] : [[index, snapshot] as const];
      })
      .toSorted(([, a], [, b]) => placeOf(a) - placeOf(b)),
  );
};

/** All stores, each once, in the order of writing. */
export const storesOf = (refs: ReadonlyMap<number, SnapshotRef>): readonly SnapshotStore[] => [
  ...new Map([...refs.values()].flatMap(({ stores }) => stores.map((ref) => [ref.uid, ref] as const))).values(),
];
