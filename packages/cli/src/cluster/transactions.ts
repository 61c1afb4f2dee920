// Reads and decodes stored Transactions.
import { decodeTransaction, type Transaction } from "@janus/api";
import { transactions } from "@janus/controller";
import type { KubeObject } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { Failure } from "../failure.ts";
import { type Cluster, found } from "./cluster.ts";

/** A Transaction as it is stored, and as this version understands it. */
export interface Stored {
  readonly object: KubeObject;
  readonly txn: Transaction;
}

/** Errors: where a later version of Janus wrote it. */
export const stored = (object: KubeObject): Stored => {
  const txn = decodeTransaction(object);
  if (E.isRight(txn)) return { object, txn: txn.right };
  const { namespace = "", name = "" } = object.metadata;
  throw new Failure(
    `Transaction ${namespace}/${name} cannot be read by this version of kubectl-janus: ${txn.left}. ` +
      "Upgrade it to the version of the controller (kubectl janus version)",
  );
};

/** Undefined: there is none of that name. */
export const findTransaction = async ({ api, namespace }: Cluster, name: string): Promise<Stored | undefined> => {
  const what = `cannot read Transaction ${namespace}/${name}`;
  const object = await found(api, { verb: "get", resource: transactions, namespace, name }, what);
  return object === undefined ? undefined : stored(object);
};

/** Errors: if there is none of that name. */
export const readTransaction = async (cluster: Cluster, name: string): Promise<Stored> => {
  const found = await findTransaction(cluster, name);
  if (found !== undefined) return found;
  const { namespace } = cluster;
  throw new Failure(
    `Transaction ${namespace}/${name} does not exist. To list those of the namespace: kubectl janus get -n ${namespace}`,
  );
};
