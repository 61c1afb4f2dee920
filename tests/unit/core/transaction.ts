import { type Change, decodeTransaction, emptyStatus, type Status, type Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";

export const UID = "11111111-2222-3333-4444-555555555555";

/** A Transaction as the API server has stored it. */
export const transaction = (
  changes: readonly Change[],
  status: Partial<Status> = {},
  metadata: Partial<Transaction["metadata"]> = {},
): Transaction => {
  const decoded = decodeTransaction({
    metadata: { name: "deploy-v2", namespace: "shop", uid: UID, resourceVersion: "7", generation: 1, ...metadata },
    spec: { serviceAccountName: "deploy-sa", changes },
    status: { ...emptyStatus, ...status },
  });
  if (E.isLeft(decoded)) throw new Error(decoded.left);
  return decoded.right;
};
