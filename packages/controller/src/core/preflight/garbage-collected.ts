import type { ResolvedChange, Transaction } from "@janus/api";
import { collected } from "./dependents.ts";
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
  if (change.type === "Update" && ownerReferences !== undefined) return uidsIn(ownerReferences);
  return [...now, ...uidsIn(ownerReferences)];
};

/** The implicit owners of the target, now or after its change. */
const tiesOf = (
  { change, place: { namespace, name } }: ResolvedItem,
  now: KubeObject | undefined,
): readonly string[] => {
  const { apiVersion, kind } = change.target;
  const content = change.type === "Create" ? change.content : {};
  const { annotations } = asObject(content["metadata"]) as ObjectMeta;
  const metadata = {
    ...(namespace === undefined ? {} : { namespace }),
    name,
    ...(annotations === undefined ? {} : { annotations }),
  };
  const type = content["type"] ?? "Opaque";
  return [now ?? { apiVersion, kind, metadata, type }].flatMap((object) => tiedTo(object) ?? []);
};

/**
 * Why a change cannot last, or cannot be applied: the garbage collector deletes its target with the owners that
 * other changes delete, also through objects that are not targets; or kube-controller-manager deletes it with an
 * implicit owner. Such a change could neither commit nor be rolled back. A Delete after an earlier change has
 * deleted the owner counts as applied; but not if there is an object in between, which no rollback restores; nor
 * for implicit owners, whose dependents can only be restored after them.
 *
 * Assumes: all targets and their owners have been read, as far as the ServiceAccount may see them.
 */
export const garbageCollectedTargets = (
  txn: Transaction,
  known: Observations,
  item: ResolvedItem,
): readonly string[] => {
  const { index, change, place } = item;
  const live = changeIn(known, index).target?.object;
  const now = uidsIn(live?.metadata.ownerReferences);
  const after = ownersAfter(change, now);
  const ties = tiesOf(item, live);
  if (now.length === 0 && after.length === 0 && ties.length === 0) return [];
  const { goneAfter, deletedBy } = collected(txn, known);
  /** The change after which the last of these owners is gone; infinite if one of them stays. */
  const last = (owners: readonly unknown[]): number =>
    owners.reduce<number>(
      (latest, owner) => Math.max(latest, goneAfter.get(owner as string) ?? Number.POSITIVE_INFINITY),
      owners.length === 0 ? Number.POSITIVE_INFINITY : 0,
    );
  const untied = last(ties);
  if (change.type === "Delete" ? untied < index : Number.isFinite(untied))
    return [
      `${formatRef(place)} is garbage-collected with its owner, which changes[${untied}] deletes: ${change.type === "Delete" ? "delete it before that" : "remove one of the two changes"}`,
    ];
  const isMadeBefore = now.every((owner) => (deletedBy.get(owner as string) ?? index) < index);
  const isTooLate = change.type === "Delete" ? !isMadeBefore : true;
  const isTaken = (isTooLate && last(now) < index) || Number.isFinite(last(after));
  const by = Math.min(last(now), last(after));
  return isTaken
    ? [
        `${formatRef(place)} is garbage-collected with its owner, which changes[${by}] deletes: remove one of the two changes`,
      ]
    : [];
};

/**
 * Why a Delete is refused whose target owns the Transaction itself: with the last of its owners, the garbage collector would delete
 * it, while it is active. Also if it is owned through objects that are not targets, as far as these were listed.
 */
export const ownsTransaction = (
  txn: Transaction,
  known: Observations,
  { index, change, place }: ResolvedItem,
): string[] => {
  const owners = txn.metadata.ownerReferences ?? [];
  if (change.type !== "Delete" || owners.length === 0) return [];
  const { goneAfter } = collected(txn, known);
  const last = Math.max(...owners.map(({ uid }) => goneAfter.get(uid) ?? Number.POSITIVE_INFINITY));
  return last === index
    ? [`${formatRef(place)} owns this Transaction, which would be deleted with it: create one without this owner`]
    : [];
};
