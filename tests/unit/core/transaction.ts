import { type Change, decodeTransaction, type Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";

export const UID = "11111111-2222-3333-4444-555555555555";

/** A Transaction as the API server has stored it, before anybody has looked at it. */
export const transaction = (changes: readonly Change[]): Transaction => {
  const decoded = decodeTransaction({
    metadata: { name: "deploy-v2", namespace: "shop", uid: UID, resourceVersion: "7", generation: 1 },
    spec: { serviceAccountName: "deploy-sa", changes },
  });
  if (E.isLeft(decoded)) throw new Error(decoded.left);
  return decoded.right;
};
