import { FINALIZER, ORPHANED_LABEL, TRANSACTION_LABEL, UID_LABEL, transactions } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import type { Insistent } from "./insist.ts";
import { observedStatusOf } from "./life.ts";
import { configMaps, leases, secrets } from "@janus/types";
import { HOME, TIGHT } from "./world.ts";

const isHere = ({ metadata: { namespace = "" } }: KubeObject): boolean => [HOME, TIGHT].includes(namespace);
const isOurs = ({ metadata: { labels = {} } }: KubeObject): boolean => TRANSACTION_LABEL in labels;
const show = ({ kind, metadata: { namespace, name } }: KubeObject): string => `${kind} ${namespace}/${name}`;

/** A snapshot, or a journal. */
const strayStore = (store: KubeObject, living: ReadonlyMap<string, KubeObject>): readonly string[] => {
  const { labels = {}, finalizers = [], ownerReferences = [] } = store.metadata;
  const owner = living.get(labels[UID_LABEL] ?? "");
  if (finalizers.length > 0)
    return [
      `${show(store)} is left with finalizers; its Transaction is ${owner === undefined ? "gone" : observedStatusOf(owner).phase}`,
    ];
  if (labels[ORPHANED_LABEL] === "true")
    return owner === undefined ? [] : [`${show(store)} is orphaned, and its Transaction is there`];
  if (owner === undefined) return [`${show(store)} is left of a Transaction that is gone`];
  const isKept =
    observedStatusOf(owner).phase === "RolledBack" && ownerReferences.some(({ uid }) => uid === owner.metadata.uid);
  return isKept ? [] : [`${show(store)} is left, and its Transaction is ${observedStatusOf(owner).phase}`];
};

/** What Janus has left behind that it should not, once every Transaction has come to its end. */
export const strays = async (admin: Insistent): Promise<readonly string[]> => {
  const living = new Map((await admin.list(transactions)).map((one) => [one.metadata.uid ?? "", one]));
  const locks = (await admin.list(leases)).filter(isHere);
  const stores = [...(await admin.list(configMaps)), ...(await admin.list(secrets))].filter(isHere).filter(isOurs);
  return [
    ...locks.map((lock) => `${show(lock)} is left, held by ${JSON.stringify(lock["spec"])}`),
    ...stores.flatMap((store) => strayStore(store, living)),
    ...[...living.values()]
      .filter(({ metadata }) => (metadata.finalizers ?? []).includes(FINALIZER))
      .map((one) => `${show(one)} is left with our finalizer`),
  ];
};
