// Finds the objects that would be garbage-collected with deleted targets.
import { type Change, cut, deletes, type Transaction } from "@janus/api";
import { collectGarbage, type Collected } from "./garbage-collection.ts";
import type { FindOwned } from "../state/effect.ts";
import { asObject, type Instant, type KubeObject, lastEqual, memoized } from "@janus/types";
import { changeIn, type Observations } from "../state/observations.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { itemsOf, type ResolvedItem } from "../state/resolved-changes.ts";
import { callName } from "../kubernetes/implicit-owners.ts";
import { dueAgain } from "./unlisted-kinds.ts";
import type { Owned } from "../state/listings.ts";

const deletions = (txn: Transaction, known: Observations): readonly ResolvedItem[] =>
  itemsOf(txn, known).filter(({ change }) => deletes(change));

const EVERYWHERE = "";

const find = (scope: string, only?: readonly string[]): FindOwned => ({
  purpose: "find-owned",
  ...(scope === EVERYWHERE ? {} : { namespace: scope }),
  ...(only === undefined ? {} : { only }),
  finds: { type: "dependents" },
});

const scopeOf = ({ place }: ResolvedItem): string => place.namespace ?? EVERYWHERE;

/**
 * Lists the dependents of deleted targets: in their namespaces, or everywhere if one is cluster-scoped. Once,
 * except for kinds whose server does not answer (see `unlisted-kinds.ts`). Not where no such target was found: who may
 * write hundreds of names of namespaces could have every kind listed in each.
 */
export const findOwned = (txn: Transaction, known: Observations, now: Instant): readonly FindOwned[] => {
  const all = deletions(txn, known);
  const found = all.filter(({ index }) => changeIn(known, index).target?.object !== undefined);
  const isEverywhere = found.length > 0 && all.some((item) => scopeOf(item) === EVERYWHERE);
  const wanted = isEverywhere ? [EVERYWHERE] : [...new Set(found.map(scopeOf))];
  return wanted.flatMap((scope): readonly FindOwned[] => {
    const listing = known.listings.get(scope);
    if (!known.owned.has(scope)) return [find(scope)];
    const again = listing === undefined ? [] : dueAgain(listing, now);
    return again.length === 0 ? [] : [find(scope, again)];
  });
};

/** The objects that the changes delete, by change. */
const deleted = memoized((changes: readonly Change[]) => {
  const same = lastEqual<KubeObject | undefined>();
  return memoized((observed: Observations["changes"]): readonly (KubeObject | undefined)[] =>
    same(changes.map((change, index) => (deletes(change) ? observed.get(index)?.target?.object : undefined))),
  );
});

export const callNames = (all: readonly Owned[], deletions: readonly (KubeObject | undefined)[]) =>
  new Map([
    ...all.flatMap(({ uid, callName }) => (callName === undefined ? [] : [[uid, callName] as const])),
    ...deletions.flatMap((object) => {
      const name = object === undefined ? undefined : callName(object);
      return object?.metadata.uid === undefined || name === undefined ? [] : [[object.metadata.uid, name] as const];
    }),
  ]);

/** The uids of the objects that the changes replace, by change. */
const replaced = memoized((changes: readonly Change[]) => {
  const same = lastEqual<string | undefined>();
  return memoized((observed: Observations["changes"]): readonly (string | undefined)[] =>
    same(
      changes.map(({ type }, index) =>
        type === "Update" ? observed.get(index)?.target?.object?.metadata.uid : undefined,
      ),
    ),
  );
});

/** The owners that an Update gives its target; undefined if it leaves them as they are. */
const ownersGiven = (change: Change | undefined): readonly string[] | undefined => {
  const { ownerReferences } = change?.type === "Update" ? asObject(change.content["metadata"]) : {};
  return Array.isArray(ownerReferences)
    ? ownerReferences.map(asObject).flatMap(({ uid }) => (typeof uid === "string" ? [uid] : []))
    : undefined;
};

/**
 * The objects with the owners that an Update gives them. One that comes after the deletion of its owner is refused (see
 * `garbage-collected.ts`), so that its target has these owners at each deletion that counts.
 */
const released = memoized((owned: Observations["owned"]) => {
  const all = [...owned.values()].flat();
  return memoized((changes: readonly Change[]) =>
    memoized((uids: readonly (string | undefined)[]): readonly Owned[] => {
      const given = new Map(
        uids.flatMap((uid, index) => {
          const owners = uid === undefined ? undefined : ownersGiven(changes[index]);
          return uid === undefined || owners === undefined ? [] : [[uid, owners] as const];
        }),
      );
      return given.size === 0 ? all : all.map((one) => ({ ...one, owners: given.get(one.uid) ?? one.owners }));
    }),
  );
});

const followed = memoized((all: readonly Owned[]) =>
  memoized((deletions: readonly (KubeObject | undefined)[]) =>
    collectGarbage(
      all,
      deletions.map((object) => object?.metadata.uid),
      callNames(all, deletions),
    ),
  ),
);

/** The objects that the garbage collector deletes with them, as far as it was seen. */
export const collected = ({ spec }: Transaction, known: Observations): Collected =>
  followed(released(known.owned)(spec.changes)(replaced(spec.changes)(known.changes)))(
    deleted(spec.changes)(known.changes),
  );

const MOST_NAMED = 5;

export const ownedNames = (lost: readonly Owned[], home: string | undefined, most = 230): string => {
  const names = lost
    .slice(0, MOST_NAMED)
    .map(
      ({ kind, namespace, name }) =>
        `${kind} ${namespace === undefined || namespace === home ? "" : `${namespace}/`}${name}`,
    );
  const more = lost.length > MOST_NAMED ? ` and ${lost.length - MOST_NAMED} more` : "";
  return `${cut(names.join(", "), most)}${more}`;
};

/**
 * Dependents of deleted targets, by change, as text: they are not targets, so they have no snapshot, and
 * rollback does not restore them. A dependent with several owners is deleted with the last of them.
 *
 * Assumes: objects that the ServiceAccount may not list, or that are created later, are not seen.
 */
export const dependents = (txn: Transaction, known: Observations): ReadonlyMap<number, string> => {
  const { lost } = collected(txn, known);
  return new Map(
    deletions(txn, known).flatMap(({ index, place }) => {
      const its = lost.get(index);
      return its === undefined ? [] : [[index, ownedNames(its, place.namespace)] as const];
    }),
  );
};

/** Reported before the first change. */
export const warnings = (txn: Transaction, known: Observations): readonly string[] => {
  const found = dependents(txn, known);
  return deletions(txn, known).flatMap(({ index, place }) => {
    const its = found.get(index);
    return its === undefined
      ? []
      : [`changes[${index}]: deleting ${formatRef(place)} also deletes ${its}, which a rollback does not restore`];
  });
};
