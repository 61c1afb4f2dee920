// Reads the snapshots of Transactions that were deleted while they were active.
import { ORPHANED_LABEL, TRANSACTION_LABEL, transactionLabel, UID_LABEL } from "@janus/api";
import { configMaps, secrets, unpack } from "@janus/controller";
import { fromBase64 } from "@janus/controller/core/kubernetes/base64";
import { type KubeObject, listAll } from "@janus/kube";
import { asObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { cannotUse, type Cluster } from "../cluster/cluster.ts";
import { Failure } from "../failure.ts";

/** The key of a snapshot, or of a part of one, with the number of its change. */
const KEY = /^(item-(\d+)-[^.]+)(?:\.\d+)?$/u;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const dataOf = (store: KubeObject): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(asObject(store["data"])).map(([key, value]) => [
      key,
      store.kind === "Secret" ? (fromBase64(text(value)) ?? "") : text(value),
    ]),
  );

/** The states that these stores have, in the order of the changes. */
const statesIn = (stores: readonly KubeObject[]): readonly KubeObject[] => {
  const data = stores.map(dataOf);
  const numbers = new Map<string, number>();
  for (const key of data.flatMap((one) => [...one.keys()])) {
    const [, whole, index] = KEY.exec(key) ?? [];
    if (whole !== undefined) numbers.set(whole, Number(index));
  }
  const keys = [...numbers].toSorted(([, one], [, other]) => one - other).map(([key]) => key);
  return keys.flatMap((key) => unpack(key, data) ?? []);
};

/**
 * The states of the targets before Transactions of this name that were deleted while they were active: their snapshots are
 * kept. Those of several such Transactions follow each other.
 *
 * Errors: if ConfigMaps or Secrets cannot be listed.
 * Not guaranteed: that nobody has modified them: what was recorded of them is gone with the Transaction.
 */
export const readOrphans = async ({ api, namespace }: Cluster, name: string): Promise<readonly KubeObject[]> => {
  const labelSelector = `${ORPHANED_LABEL}=true,${TRANSACTION_LABEL}=${transactionLabel(name)}`;
  const stores: KubeObject[] = [];
  for (const resource of [configMaps, secrets]) {
    const listed = await listAll(api, { resource, namespace, labelSelector });
    if (E.isLeft(listed))
      throw new Failure(
        `Transaction ${namespace}/${name} does not exist, and it is unknown whether its snapshots are kept: ${cannotUse(listed.left)}`,
      );
    stores.push(...listed.right.items);
  }
  const uids = new Set(stores.map(({ metadata }) => metadata.labels?.[UID_LABEL]));
  return [...uids].flatMap((uid) => statesIn(stores.filter(({ metadata }) => metadata.labels?.[UID_LABEL] === uid)));
};
