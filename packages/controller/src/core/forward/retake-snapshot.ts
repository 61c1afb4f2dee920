// Stores a new snapshot if other clients have modified fields that the change does not set, and records it.
import type { Item } from "@janus/api";
import { allStores } from "../snapshots/prior-state.ts";
import { APPLYING } from "../state/conditions.ts";
import { type ApiCall, run, type Step } from "../state/effect.ts";
import type { ChangeContext } from "./change-context.ts";
import { beforeOf, type Journal, type Renewed } from "../state/journal.ts";
import { checkpoint } from "../state/journal-requests.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { withLostOwners } from "../snapshots/owner-references.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { pack, snapshotKey } from "../snapshots/snapshot-data.ts";
import { deleteOrRetry } from "../snapshots/release-stores.ts";
import { store, writeNext } from "../snapshots/snapshot-stores.ts";
import { abort } from "../transitions/abort.ts";
import { projected, updateStatus } from "../state/status-update.ts";
import type { KubeObject } from "@janus/types";

const storeOf = (item: Item | undefined): string | undefined => {
  const before = beforeOf(item?.state ?? { type: "untouched" });
  return before.existed ? before.snapshot?.store : undefined;
};

/**
 * Names what is restored from then on in the status, before the change is made: else it would be lost with the journal.
 * Undefined: that is done.
 */
export const recordRenewed = (
  { txn, known, now, settings }: ReconcileContext,
  journal: Journal,
): ApiCall | undefined => {
  if (journal.renewed.size === 0) return undefined;
  const items = projected(txn, journal, settings);
  const stores = allStores(txn, journal);
  // Progress that was shown meanwhile may name the snapshot on its item alone.
  const isNamed = items.every((item, index) => storeOf(item) === storeOf(txn.status.items[index]));
  if (isNamed && stores.length === txn.status.snapshots.length) return undefined;
  const obsolete = new Set(known.obsolete.map(({ uid }) => uid));
  const snapshots = stores.filter(({ uid }) => !obsolete.has(uid));
  return updateStatus(txn, { items, snapshots, because: APPLYING }, now);
};

/**
 * Other clients modified fields of the target that the change does not set: the new state is stored in a new
 * snapshot, recorded in the journal, and what rollback restores from then on. Owner references that the
 * Transaction itself has removed are kept in it.
 *
 * Guarantees: there are at most two such snapshots of a change, and the recorded one is complete: the obsolete
 *             one is deleted before the next one is written.
 */
export const renewSnapshot = (
  context: ReconcileContext,
  journal: Journal,
  { index, place, before }: ChangeContext,
  live: KubeObject,
): Step => {
  const { txn, known } = context;
  const needed = new Set(allStores(txn, journal).map(({ uid }) => uid));
  const obsolete = known.obsolete.filter(({ uid }) => !needed.has(uid));
  const dropping = obsolete.flatMap((ref) => deleteOrRetry(txn, known, ref));
  if (dropping.length > 0) return run(...dropping);
  const object = before === undefined ? live : withLostOwners(txn, journal, before, live);
  const { packs } = pack(new Map([[index, object]]));
  const storing = store(txn, known, packs);
  if (storing.type === "writing") return run(writeNext(txn, journal, storing, packs.length));
  const [first, ...more] = storing.type === "stored" ? storing.stores : [];
  if (first === undefined)
    return abort(context, journal, {
      reason: "CommitFailed",
      message: storing.type === "refused" ? storing.why : `${formatRef(place)} cannot be stored in a snapshot`,
      fate: "rejected",
    });
  const renewed: Renewed = {
    before: {
      existed: true,
      uid: object.metadata.uid ?? "",
      resourceVersion: object.metadata.resourceVersion ?? "",
      snapshot: { store: first.name, key: snapshotKey(index, object) },
    },
    stores: [first, ...more],
  };
  const recorded = checkpoint(txn, journal, { renewed: [index, renewed] });
  const replaces = journal.renewed.get(index)?.stores ?? [];
  return run({
    ...recorded,
    folds: [...recorded.folds, { type: "snapshot-renewed", index, before: object, replaces }],
  });
};
