// Builds a Transaction as the API server would store it, with defaults and an empty status.
import { decodeTransaction, type Transaction } from "@janus/api";
import type { TransactionManifest } from "@janus/authoring";
import * as E from "fp-ts/lib/Either.js";
import { Failure } from "../failure.ts";

/** A Transaction as the API server would store it. */
export const asStored = ({ metadata, ...manifest }: TransactionManifest, namespace: string): Transaction => {
  const ofServer = { namespace, uid: "preview", resourceVersion: "0", generation: 1 };
  const txn = decodeTransaction({ ...manifest, metadata: { ...metadata, ...ofServer } });
  if (E.isRight(txn)) return txn.right;
  throw new Failure(txn.left);
};
