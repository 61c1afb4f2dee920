// Says of the targets of a Transaction that name no namespace whether they are in that of the Transaction, by discovery.
import type { Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "./cluster.ts";

/** The Transaction for people to read: only targets of the cluster, and of kinds that are not served, name no namespace. */
export const withPlacedTargets = async ({ discovery }: Cluster, txn: Transaction): Promise<Transaction> => {
  const { namespace } = txn.metadata;
  const changes = await Promise.all(
    txn.spec.changes.map(async (change) => {
      const { target } = change;
      if (target.namespace !== undefined) return change;
      const resource = await discovery.resource(target.apiVersion, target.kind);
      const isInOne = E.isRight(resource) && resource.right.namespaced;
      return isInOne ? { ...change, target: { ...target, namespace } } : change;
    }),
  );
  return { ...txn, spec: { ...txn.spec, changes } };
};
