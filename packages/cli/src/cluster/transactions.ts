// Reads and decodes stored Transactions.
import { decodeTransaction, type Transaction, transactions } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { Failure } from "../failure.ts";
import { type Cluster, found } from "./cluster.ts";

/** A Transaction as it is stored, and as this version understands it. */
export interface Stored {
  readonly object: KubeObject;
  readonly txn: Transaction;
}

/** Left: that a later version of Janus wrote it, and why this one cannot read it. */
export const understood = (object: KubeObject): E.Either<string, Stored> =>
  E.bimap(
    (why: string) =>
      `cannot be read by this version of kubectl-janus: ${why}. ` +
      "Upgrade it to the version of the controller (kubectl janus version)",
    (txn: Transaction): Stored => ({ object, txn }),
  )(decodeTransaction(object));

/** Errors: where a later version of Janus wrote it. */
export const stored = (object: KubeObject): Stored => {
  const read = understood(object);
  if (E.isRight(read)) return read.right;
  const { namespace = "", name = "" } = object.metadata;
  throw new Failure(`Transaction ${namespace}/${name} ${read.left}`);
};

const findObject = ({ api, namespace }: Cluster, name: string): Promise<KubeObject | undefined> =>
  found(api, { verb: "get", resource: transactions, namespace, name }, `cannot read Transaction ${namespace}/${name}`);

/** Undefined: there is none of that name. */
export const findTransaction = async (cluster: Cluster, name: string): Promise<Stored | undefined> => {
  const object = await findObject(cluster, name);
  return object === undefined ? undefined : stored(object);
};

/** Reads it as it is stored, whichever version has written it. Errors: if there is none of that name. */
export const readObject = async (cluster: Cluster, name: string): Promise<KubeObject> => {
  const object = await findObject(cluster, name);
  if (object !== undefined) return object;
  const { namespace } = cluster;
  throw new Failure(
    `Transaction ${namespace}/${name} does not exist. To list those of the namespace: kubectl janus get -n ${namespace}`,
  );
};

/** Errors: if there is none of that name, or a later version of Janus wrote it. */
export const readTransaction = async (cluster: Cluster, name: string): Promise<Stored> =>
  stored(await readObject(cluster, name));
