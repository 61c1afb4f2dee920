// Records that everything is prepared, and that the changes begin: snapshots, locks, and warnings of the preflight.
import { type Before, type Item, journalName } from "@janus/api";
import { dependents, warnings } from "../preflight/dependents.ts";
import { irreversibleGateWarnings, takenForGood } from "../preflight/irreversible-changes.ts";
import { unauthorized } from "../preflight/permissions.ts";
import { schemaWarnings } from "../preflight/schema-changes.ts";
import { watchWarnings } from "../preflight/watch-permissions.ts";
import { deniedNotice, unlistedWarnings } from "../preflight/unlisted-kinds.ts";
import { storesOf } from "../snapshots/take-snapshots.ts";
import { snapshotKey } from "../snapshots/snapshot-data.ts";
import { lockPlace, lockTimeoutNotice } from "../locks/lock-requests.ts";
import { APPLYING, CHECKED } from "../state/conditions.ts";
import type { ApiCall, EventSpec } from "../state/effect.ts";
import type { Journal } from "../state/journal.ts";
import { changeIn } from "../state/observations.ts";
import type { SnapshotRef } from "../state/store-observations.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { itemsOf, type ResolvedItem } from "../state/resolved-changes.ts";
import { updateStatus } from "../state/status-update.ts";
import { namedTarget } from "../state/target-resolution.ts";

/**
 * Records that everything is prepared, where the snapshots are, and which locks are held: after it, the first change may be made.
 *
 * @param snapshots of which target the snapshot is where.
 */
export const recordPrepared = (
  context: ReconcileContext,
  journal: Journal,
  snapshots: ReadonlyMap<number, SnapshotRef>,
): ApiCall => {
  const { txn, known, now, settings } = context;
  const stores = storesOf(snapshots);
  const lost = dependents(txn, known);
  const beforeOf = (item: ResolvedItem): Before => {
    const { index } = item;
    const object = changeIn(known, index).target?.object;
    const dependents = lost.get(index);
    return object === undefined
      ? { existed: false }
      : {
          existed: true,
          uid: object.metadata.uid ?? "",
          resourceVersion: object.metadata.resourceVersion ?? "",
          snapshot: { store: snapshots.get(index)?.first ?? "", key: snapshotKey(index, object) },
          ...(dependents === undefined ? {} : { dependents }),
          ...(takenForGood(txn, known, item) === undefined ? {} : { isIrreversible: true as const }),
        };
  };
  const late = unauthorized(txn, known);
  const items = itemsOf(txn, known).map((item): Item => {
    const { index, place } = item;
    const { name: lease, namespace = "" } = lockPlace(place, settings.controllerNamespace);
    return {
      ...namedTarget(txn, known, index),
      // Without a lock, it is acquired in the turn of the change; see `send-change.ts`.
      ...(late.has(index) ? {} : { lock: { lease, namespace } }),
      state: { type: "prepared", before: beforeOf(item) },
    };
  });
  const preflightWarnings = [
    ...warnings(txn, known),
    ...unlistedWarnings(known),
    ...watchWarnings(txn, known),
    ...irreversibleGateWarnings(txn, known),
    ...schemaWarnings(txn, known),
  ];
  const recorded = updateStatus(
    txn,
    {
      phase: "Committing",
      items,
      snapshots: stores,
      journal: { name: journalName(txn.metadata.uid), uid: journal.version.uid },
      ...(stores[0] === undefined ? {} : { rollbackRef: stores[0].name }),
      because: {
        reason: APPLYING.reason,
        message: [CHECKED, ...lockTimeoutNotice(context), ...preflightWarnings, ...deniedNotice(known)].join("; "),
        readyMessage: APPLYING.message,
      },
    },
    now,
    ...preflightWarnings.map((message): EventSpec => ({ type: "Warning", reason: "PreflightWarning", message })),
  );
  return { ...recorded, folds: [...recorded.folds, { type: "prepared" }] };
};
