import { type Change, emptyStatus, type Status, type Transaction } from "@janus/api";

export const UID = "11111111-2222-3333-4444-555555555555";

/** A Transaction as the API server has stored it. */
export const transaction = (
  changes: readonly Change[],
  status: Partial<Status> = {},
  metadata: Partial<Transaction["metadata"]> = {},
): Transaction => ({
  metadata: { name: "deploy-v2", namespace: "shop", uid: UID, resourceVersion: "7", generation: 1, ...metadata },
  spec: { serviceAccountName: "deploy-sa", lockTimeout: 300_000, timeout: 1_800_000, changes },
  status: { ...emptyStatus, ...status },
});
