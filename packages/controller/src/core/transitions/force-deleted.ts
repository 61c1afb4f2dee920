// Cleans up after a Transaction that was deleted although it had our finalizer.
import { FINALIZER, ORPHANED_LABEL, Transaction } from "@janus/api";
import type { ApiCall, EventSpec } from "../state/effect.ts";
import { type Instant, toTimestamp, asObject, type KubeObject } from "@janus/types";

/** Whether there may be objects of ours that only the finalizer protects from being left behind. */
export const mayLeaveResources = ({ metadata: { finalizers = [] }, status: { phase } }: Transaction): boolean =>
  finalizers.includes(FINALIZER) && phase !== "Pending";

/**
 * A Transaction that is gone although it had our finalizer, as one that was deleted and is released: applied
 * changes stay, our objects are released. The API server may carry out a deletion that it decided before the
 * finalizer was added; or another client has removed the finalizer.
 *
 * Assumes: what is written to it is not read again; see {@link afterWrite}.
 */
export const asReleased = (txn: Transaction, now: Instant): Transaction => ({
  ...txn,
  metadata: { ...txn.metadata, annotations: {}, deletionTimestamp: toTimestamp(now) },
  spec: { ...txn.spec, deletionPolicy: "Release" },
});

export const FORCE_DELETED: EventSpec = {
  type: "Warning",
  reason: "RecoveryInitiated",
  message: `the Transaction is gone although it was active: it was deleted before its finalizer was added, or its finalizer was removed. Applied changes stay; its locks are released, and snapshots that a restore may need are kept with the label ${ORPHANED_LABEL}`,
};

/** The Transaction as it would be after our write. */
export const afterWrite = (txn: Transaction, { call }: ApiCall): KubeObject => {
  const object = Transaction.encode(txn) as KubeObject;
  const body = asObject("body" in call ? call.body : {});
  return { ...object, ...body, metadata: { ...object.metadata, ...asObject(body["metadata"]) } };
};
