// Reads the Leases of a Transaction and their holders.
import { lockLease, parseHolder, SYSTEM_NAMESPACE, type Transaction } from "@janus/api";
import { isTerminal } from "@janus/controller";
import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "../cluster/cluster.ts";
import { printable } from "../output/printable.ts";
import { asObject, leases } from "@janus/types";

/** The holder of the lock on the target of a change. */
export interface Holder {
  readonly lease: string;
  /** `this Transaction`, `Transaction shop/other`, or another holder identity; undefined: none. */
  readonly holder: string | undefined;
}

const named = (identity: unknown, { metadata }: Transaction): string | undefined => {
  if (typeof identity !== "string" || identity === "") return undefined;
  const holder = parseHolder(identity);
  if (holder?.uid === metadata.uid) return "this Transaction";
  return holder === undefined ? printable(identity) : `Transaction ${holder.namespace}/${holder.name}`;
};

interface Place {
  readonly namespace: string;
  readonly lease: string;
}

/**
 * The lock of a change: as recorded, which is only once all are held; until then by the name that it has to have, of a cluster-scoped
 * target in the namespace that the controller has by default.
 */
const placeOf = async ({ discovery }: Cluster, txn: Transaction, index: number): Promise<Place | undefined> => {
  const { lock } = txn.status.items[index] ?? {};
  const target = txn.spec.changes[index]?.target;
  if (lock !== undefined || target === undefined) return lock;
  const resource = await discovery.resource(target.apiVersion, target.kind);
  if (E.isLeft(resource)) return undefined;
  const { group, kind, namespaced } = resource.right;
  const { name, namespace = txn.metadata.namespace } = target;
  const locked = { group, kind, name, ...(namespaced ? { namespace } : {}) };
  return { namespace: namespaced ? namespace : SYSTEM_NAMESPACE, lease: lockLease(locked) };
};

/** The locks of an active Transaction by change, as far as the user may read them; none of one that has finished. */
export const readLocks = async (cluster: Cluster, txn: Transaction): Promise<ReadonlyMap<number, Holder>> => {
  if (isTerminal(txn.status.phase)) return new Map();
  const read = await Promise.all(
    txn.spec.changes.map(async (_, index) => {
      const place = await placeOf(cluster, txn, index);
      if (place === undefined) return [];
      const { namespace, lease } = place;
      const found = await cluster.api.send({ verb: "get", resource: leases, namespace, name: lease });
      if (E.isLeft(found)) return [];
      const holder = named(asObject(found.right["spec"])["holderIdentity"], txn);
      return [[index, { lease: `${namespace}/${lease}`, holder }] as const];
    }),
  );
  return new Map(read.flat());
};
