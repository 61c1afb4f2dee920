// Folds the answers to requests for snapshot stores into the observations.
import { type SnapshotStore, type Transaction, TRANSACTION_LABEL, UID_LABEL } from "@janus/api";
import { type ApiError, isAbsent, isTaken, type KubeObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { ownerUids } from "../kubernetes/kube-object.ts";
import { withStorePostponed, withStoreReleased } from "../state/cleanup.ts";
import type { ApiCall, Effect } from "../state/effect.ts";
import type { StoreFault, StoreFold } from "../state/fold.ts";
import type { Faults, Folds } from "../state/folding.ts";
import { type Observations, set, unset, withChange } from "../state/observations.ts";
import type { OurStore, StoreData, StoreListing, StoreObservation } from "../state/store-observations.ts";
import { isOf, storeKey } from "./release-stores.ts";
import { laterStore, openStore } from "./snapshot-data.ts";
import { formerObject, storesWith } from "./snapshot-stores.ts";
import { withRefs } from "./take-snapshots.ts";

type Named = Pick<SnapshotStore, "kind" | "name">;

/** The store that is written or read. */
const storeOf = ({ call: { place } }: ApiCall): Named => ({
  kind: place.resource.kind === "Secret" ? "Secret" : "ConfigMap",
  name: place.name,
});

const withObservation = (known: Observations, n: number, observed: StoreObservation): Observations => ({
  ...known,
  stores: set(known.stores, n, observed),
});

const withListing = (known: Observations, store: Named, observed: StoreListing): Observations => ({
  ...known,
  found: set(known.found, storeKey(store), observed),
});

const withoutListing = (known: Observations, effect: Effect): Observations =>
  "call" in effect ? { ...known, found: unset(known.found, storeKey(storeOf(effect))) } : known;

const toOurStore = ({ metadata: { uid = "", resourceVersion = "", finalizers = [] } }: KubeObject): OurStore => ({
  type: "ours",
  uid,
  resourceVersion,
  finalizers,
});

const alteredAtOnce = ({ kind, name }: Named, why: string): string =>
  `the snapshot ${kind} ${name} was modified when it was written (${why}): exempt objects with the label ${TRANSACTION_LABEL} from the admission webhook or policy that modifies it`;

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

export const storeFolds: Folds<StoreFold> = {
  "store-written": (known, { n, digest }, { effect, answer }, { txn }) => {
    const store = storeOf(effect);
    if (E.isRight(answer)) {
      const observed = toOurStore(answer.right);
      const ref = { ...store, uid: observed.uid, digest };
      const kept = opened(txn, ref, answer);
      // Reported now, not when it is needed for a restore.
      return withObservation(
        withListing(known, store, observed),
        n,
        kept.type === "data"
          ? { type: "written", store: ref }
          : { type: "unusable", why: alteredAtOnce(store, kept.why) },
      );
    }
    const fault = answer.left;
    return withObservation(
      known,
      n,
      isTaken(fault)
        ? { type: "taken" }
        : { type: "unusable", why: `the snapshot ${store.kind} ${store.name} cannot be written: ${messageOf(fault)}` },
    );
  },
  "store-name-read": (known, { n }, { effect, answer }) => {
    const { kind, name } = storeOf(effect);
    const unusable = (what: string): Observations =>
      withObservation(known, n, { type: "unusable", why: `${kind} ${name} ${what}` });
    if (E.isLeft(answer))
      return isAbsent(answer.left)
        ? { ...known, stores: unset(known.stores, n) }
        : unusable(`cannot be read: ${messageOf(answer.left)}`);
    return answer.right.metadata.labels?.[UID_LABEL] === undefined
      ? unusable(
          "exists and does not belong to this Transaction: delete or rename it, then create the Transaction again",
        )
      : withObservation(known, n, { type: "left-over" });
  },
  "store-read": (known, { store }, { answer, at }, { txn }) => {
    const data = opened(txn, store, answer);
    const why = E.isRight(answer) && data.type === "data" ? laterStore(txn, store, answer.right) : undefined;
    return why === undefined
      ? { ...known, storeData: set(known.storeData, storeKey(store), data) }
      : { ...known, later: { why, readAt: at } };
  },
  "store-looked-at": (known, { recorded }, { effect, answer, at }, { txn }) => {
    const store = storeOf(effect);
    if (E.isLeft(answer)) return withListing(known, store, { type: "absent" });
    const object = answer.right;
    const observed = toOurStore(object);
    const isSame = ({ uid }: SnapshotStore): boolean =>
      uid === observed.uid ||
      (recorded !== undefined && openStore({ ...recorded, uid: observed.uid }, object).type === "data");
    const isOurs = isOf(txn, object) && (recorded === undefined || isSame(recorded));
    if (!isOurs) return withListing(known, store, { type: "theirs" });
    const why = laterStore(txn, store, object);
    return why === undefined
      ? withListing(known, store, observed)
      : { ...withListing(known, store, { ...observed, isLater: true }), later: { why, readAt: at } };
  },
  "store-released": (known, { uid, to }, { effect, answer }) =>
    E.isLeft(answer)
      ? withListing(known, storeOf(effect), { type: "absent" })
      : {
          ...withListing(known, storeOf(effect), toOurStore(answer.right)),
          cleanup: withStoreReleased(known.cleanup, uid, to),
        },
  // If another client delays the deletion, that is not ours to wait for.
  "store-deleted": (known, _, { effect }) => withListing(known, storeOf(effect), { type: "absent" }),
  "store-step-tried": (known, { uid, step, done }, answered, { run }) => {
    const { answer } = answered;
    return E.isLeft(answer) && !isAbsent(answer.left)
      ? { ...known, cleanup: withStorePostponed(known.cleanup, uid, step) }
      : run(known, done, answered);
  },
  "snapshots-stored": (known, { packs, starts }) => {
    const stores = storesWith(known, packs);
    return stores.every((store) => store !== undefined) ? withRefs(known, starts, stores) : known;
  },
  "former-owners-read": (known, { index, stores, key }) => {
    const object = formerObject(known, stores, key);
    return E.isLeft(object) ? known : withChange(known, index, { ownersBefore: ownerUids(object.right) });
  },
};

export const storeFaults: Faults<StoreFault> = {
  "store-maybe-written": (known, { n }, { at }) => ({
    ...withObservation(known, n, { type: "taken" }),
    unansweredCreate: at,
  }),
  "store-maybe-released": (known, _, { effect }) => withoutListing(known, effect),
};
