// Finds targets that are garbage-collected between two changes.
import { deletes, type ResolvedChange, type Transaction } from "@janus/api";
import { collected } from "./dependents.ts";
import type { Collected } from "./garbage-collection.ts";
import { changeIn, type Observations } from "../state/observations.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";
import { tiedTo } from "../kubernetes/implicit-owners.ts";
import { asObject, type KubeObject, type ObjectMeta } from "@janus/types";

const uidsIn = (references: unknown): readonly unknown[] =>
  Array.isArray(references) ? references.map((reference) => asObject(reference)["uid"]) : [];

/** The owners of a target after its change. A Patch removes none. */
const ownersAfter = (change: ResolvedChange, now: readonly unknown[]): readonly unknown[] => {
  if (change.type === "Delete") return [];
  const { ownerReferences } = asObject(change.content["metadata"]);
  if (change.type === "Replace") return uidsIn(ownerReferences);
  if (change.type === "Update" && ownerReferences !== undefined) return uidsIn(ownerReferences);
  return [...now, ...uidsIn(ownerReferences)];
};

/** The implicit owners of the target, now or after its change. */
const tiesOf = (
  { change, place: { namespace, name } }: ResolvedItem,
  now: KubeObject | undefined,
): readonly string[] => {
  const { apiVersion, kind } = change.target;
  const content = change.type === "Create" || change.type === "Replace" ? change.content : {};
  const { annotations } = asObject(content["metadata"]) as ObjectMeta;
  const metadata = {
    ...(namespace === undefined ? {} : { namespace }),
    name,
    ...(annotations === undefined ? {} : { annotations }),
  };
  const type = content["type"] ?? "Opaque";
  return [now ?? { apiVersion, kind, metadata, type }].flatMap((object) => tiedTo(object) ?? []);
};

/** The change after which the last of these owners is gone; undefined if one of them stays, or there is none. */
const goneWith = (owners: readonly unknown[], { goneAfter }: Collected): number | undefined => {
  let last: number | undefined;
  for (const owner of owners) {
    const after = goneAfter.get(owner as string);
    if (after === undefined) return undefined;
    last = Math.max(last ?? 0, after);
  }
  return last;
};

const collectedMessage = ({ place }: ResolvedItem, by: number, remedy = "remove one of the two changes"): string =>
  `${formatRef(place)} is garbage-collected with its owner, which changes[${by}] deletes: ${remedy}`;

/**
 * A Delete whose target is gone by then. That counts as applied: all its owners are targets, and a rollback restores them
 * before it. But it restores no object in between; and dependents of an implicit owner only after that.
 */
const goneBeforeDelete = (
  item: ResolvedItem,
  owners: readonly unknown[],
  ties: readonly string[],
  all: Collected,
): string | undefined => {
  const { index } = item;
  const untied = goneWith(ties, all);
  if (untied !== undefined && untied < index) return collectedMessage(item, untied, "delete it before that");
  const gone = goneWith(owners, all);
  if (gone === undefined || gone >= index) return undefined;
  const isDeletedBefore = (owner: unknown): boolean => (all.deletedBy.get(owner as string) ?? index) < index;
  return owners.every(isDeletedBefore) ? undefined : collectedMessage(item, gone);
};

/** Any other change whose target is gone before it, or goes after it, with the owners that it has then. */
const goneWithChange = (
  item: ResolvedItem,
  owners: readonly unknown[],
  ties: readonly string[],
  all: Collected,
): string | undefined => {
  const untied = goneWith(ties, all);
  if (untied !== undefined) return collectedMessage(item, untied);
  const before = goneWith(owners, all);
  const after = goneWith(ownersAfter(item.change, owners), all);
  const isGone = (before !== undefined && before < item.index) || after !== undefined;
  return isGone ? collectedMessage(item, Math.min(...[before ?? [], after ?? []].flat())) : undefined;
};

/**
 * Why a change can neither commit nor be rolled back: its target is deleted with the owners that other changes delete, by the
 * garbage collector, also through objects that are not targets; or with an implicit owner, by kube-controller-manager.
 *
 * @example where Deployment d owns ReplicaSet r, and r owns Pod p
 *   [Delete r, Patch p]   refused: p is gone before it is patched
 *   [Patch p, Delete r]   refused: p goes after it was patched
 *   [Delete r, Delete p]  accepted: r and p are restored in the reverse order
 *   [Delete d, Delete p]  refused: r goes in between, and nothing restores it
 *   [Delete ServiceAccount s, Delete the Secret with its token]  refused: the other way round
 *
 * Assumes: all targets and their owners have been read, as far as the ServiceAccount may see them.
 */
export const garbageCollectedTargets = (
  txn: Transaction,
  known: Observations,
  item: ResolvedItem,
): readonly string[] => {
  const { change } = item;
  const live = changeIn(known, item.index).target?.object;
  const owners = uidsIn(live?.metadata.ownerReferences);
  const ties = tiesOf(item, live);
  if (owners.length === 0 && ownersAfter(change, owners).length === 0 && ties.length === 0) return [];
  const isGone = change.type === "Delete" ? goneBeforeDelete : goneWithChange;
  return [isGone(item, owners, ties, collected(txn, known)) ?? []].flat();
};

/**
 * Why a deletion is refused whose target owns the Transaction itself: with the last of its owners, the garbage collector would delete
 * it, while it is active. Also if it is owned through objects that are not targets, as far as these were listed.
 */
export const ownsTransaction = (
  txn: Transaction,
  known: Observations,
  { index, change, place }: ResolvedItem,
): string[] => {
  const owners = txn.metadata.ownerReferences ?? [];
  if (!deletes(change) || owners.length === 0) return [];
  const last = goneWith(
    owners.map(({ uid }) => uid),
    collected(txn, known),
  );
  return last === index
    ? [`${formatRef(place)} owns this Transaction, which would be deleted with it: create one without this owner`]
    : [];
};
