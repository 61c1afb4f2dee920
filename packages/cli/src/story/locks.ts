import { parseHolder, type Transaction } from "@janus/api";
import { isTerminal, leases } from "@janus/controller";
import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "../cluster/cluster.ts";

/** Who holds the lock on the target of a change. */
export interface Holder {
  readonly lease: string;
  /** `this Transaction`, `Transaction shop/other`, or another holder identity; undefined: nobody. */
  readonly holder: string | undefined;
}

const asObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};

const named = (identity: unknown, { metadata }: Transaction): string | undefined => {
  if (typeof identity !== "string" || identity === "") return undefined;
  const holder = parseHolder(identity);
  if (holder?.uid === metadata.uid) return "this Transaction";
  return holder === undefined ? identity : `Transaction ${holder.namespace}/${holder.name}`;
};

/** The locks of an active Transaction by change, as far as the user may read them; none of one that has finished. */
export const readLocks = async ({ api }: Cluster, txn: Transaction): Promise<ReadonlyMap<number, Holder>> => {
  if (isTerminal(txn.status.phase)) return new Map();
  const read = await Promise.all(
    txn.status.items.map(async ({ lock }, index) => {
      if (lock === undefined) return [];
      const { namespace, lease } = lock;
      const found = await api.send({ verb: "get", resource: leases, namespace, name: lease });
      if (E.isLeft(found)) return [];
      const holder = named(asObject(found.right["spec"])["holderIdentity"], txn);
      return [[index, { lease: `${namespace}/${lease}`, holder }] as const];
    }),
  );
  return new Map(read.flat());
};
