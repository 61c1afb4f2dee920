// Releases snapshot stores: deletes them, or hands them to the Transaction, or orphans them.
import {
  API_VERSION,
  journalName,
  KIND,
  ORPHANED_LABEL,
  SNAPSHOT_FINALIZER,
  type SnapshotStore,
  type Transaction,
  UID_LABEL,
} from "@janus/api";
import type { ApiCall } from "../state/effect.ts";
import { type KubeObject } from "@janus/types";
import { type ReleaseTo, storeCleanup } from "../state/cleanup.ts";
import { type Observations } from "../state/observations.ts";
import type { OurStore } from "../state/store-observations.ts";
import { storePlace } from "./snapshot-data.ts";

export const storeKey = ({ kind, name }: Pick<SnapshotStore, "kind" | "name">): string => `${kind}/${name}`;

/** Whether its label says that it is a store of this Transaction. The journal has the label as well, and is none. */
export const isOf = ({ metadata: { uid } }: Transaction, { metadata: { name, labels } }: KubeObject): boolean =>
  labels?.[UID_LABEL] === uid && name !== journalName(uid);

/**
 * Reads the object of this name. Journal and status may name anything, since other clients may have written
 * them; the store's own label says whose it is. An object in place of a recorded store is ours only if it has
 * the same data: a create that was sent twice, and applied twice.
 */
export const lookAtStore = (
  txn: Transaction,
  store: Pick<SnapshotStore, "kind" | "name">,
  recorded?: SnapshotStore,
): ApiCall => ({
  purpose: "read-store",
  as: "controller",
  call: { verb: "get", place: storePlace(txn, store) },
  untilDone: true,
  folds: [{ type: "store-looked-at", recorded }],
});

const writeRelease = (txn: Transaction, ref: SnapshotStore, to: ReleaseTo, observed: OurStore): ApiCall => ({
  purpose: "release-store",
  as: "controller",
  call: {
    verb: "mergePatch",
    place: storePlace(txn, ref),
    body: {
      metadata: {
        uid: observed.uid,
        resourceVersion: observed.resourceVersion,
        finalizers: observed.finalizers.filter((name) => name !== SNAPSHOT_FINALIZER),
        // It may have an owner reference already, if it was about to be kept.
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
  untilDone: true,
  folds: [{ type: "store-released", uid: observed.uid, to }],
  unanswered: [{ type: "store-maybe-released" }],
});

const remove = (txn: Transaction, ref: SnapshotStore, { uid, resourceVersion }: OurStore): ApiCall => ({
  purpose: "release-store",
  as: "controller",
  call: { verb: "delete", place: storePlace(txn, ref), preconditions: { uid, resourceVersion } },
  untilDone: true,
  folds: [{ type: "store-deleted" }],
  unanswered: [{ type: "store-maybe-released" }],
});

/** The listed store, if it is the recorded or found one; `undefined` if it does not exist (any more). */
const ours = (known: Observations, ref: SnapshotStore): OurStore | undefined => {
  const observed = known.found.get(storeKey(ref));
  return observed?.type === "ours" && observed.uid === ref.uid ? observed : undefined;
};

/** Whether a store is released; if it is to be kept, whether it got its owner or its label as well. */
const isReleased = ({ cleanup }: Observations, { uid, finalizers }: OurStore, to: ReleaseTo): boolean =>
  to === "owned" || to === "orphaned"
    ? storeCleanup(cleanup, uid).released.has(to)
    : !finalizers.includes(SNAPSHOT_FINALIZER);

/**
 * The next request to release a store, if one is needed: without our finalizer, it can be deleted.
 *
 * Guarantees: only an object with this Transaction's uid is written, in the version that was read; finalizers of
 *             other clients stay. It is retried until it is done.
 */
export const releaseStore = (
  txn: Transaction,
  known: Observations,
  ref: SnapshotStore,
  to: ReleaseTo,
): readonly ApiCall[] => {
  if (!known.found.has(storeKey(ref))) return [lookAtStore(txn, ref, ref)];
  const observed = ours(known, ref);
  return observed === undefined || isReleased(known, observed, to) ? [] : [writeRelease(txn, ref, to, observed)];
};

/** The next request to delete a store, if one is needed; with the guarantees of {@link releaseStore}. */
export const deleteStore = (txn: Transaction, known: Observations, ref: SnapshotStore): readonly ApiCall[] => {
  const letting = releaseStore(txn, known, ref, "free");
  const observed = ours(known, ref);
  return letting.length > 0 || observed === undefined ? letting : [remove(txn, ref, observed)];
};

/**
 * A rejection does not block anything now: the request is repeated during the final cleanup, and then until it
 * is done.
 */
const orLater = (
  { cleanup }: Observations,
  { uid }: SnapshotStore,
  step: ReleaseTo | "deleted",
  requests: readonly ApiCall[],
): readonly ApiCall[] =>
  storeCleanup(cleanup, uid).postponed.has(step)
    ? []
    : requests.map((request) => ({
        ...request,
        untilDone: "unless-refused",
        folds: [{ type: "store-step-tried", uid, step, done: request.folds }],
      }));

/** {@link releaseStore} before a terminal phase: the phase does not wait for it. */
export const releaseOrRetry = (
  txn: Transaction,
  known: Observations,
  ref: SnapshotStore,
  to: ReleaseTo,
): readonly ApiCall[] => orLater(known, ref, to, releaseStore(txn, known, ref, to));

/** {@link deleteStore} before a terminal phase. */
export const deleteOrRetry = (txn: Transaction, known: Observations, ref: SnapshotStore): readonly ApiCall[] =>
  orLater(known, ref, "deleted", deleteStore(txn, known, ref));
