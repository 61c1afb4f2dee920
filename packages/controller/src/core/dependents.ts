import { cut, type Transaction } from "@janus/api";
import type { FindOwned } from "./effect.ts";
import { type Known, set } from "./known.ts";
import { show } from "./object.ts";
import { type Item, itemsOf } from "./targets.ts";

/** An object that names owners, as far as the ServiceAccount may see it. */
export interface Owned {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  /** Their uids. */
  readonly owners: readonly string[];
}

const deletions = (txn: Transaction, known: Known): readonly Item[] =>
  itemsOf(txn, known).filter(({ change }) => change.type === "Delete");

const uidOf = (known: Known, { index }: Item): string | undefined => known.live.get(index)?.object?.metadata.uid;

const EVERYWHERE = "";

/** Looks, once, for what the targets of deletions own: in their namespaces, or everywhere where one is cluster-scoped. */
export const findOwned = (txn: Transaction, known: Known): readonly FindOwned[] => {
  const scopes = new Set(deletions(txn, known).map(({ place }) => place.namespace ?? EVERYWHERE));
  const wanted = scopes.has(EVERYWHERE) ? [EVERYWHERE] : [...scopes];
  return wanted
    .filter((scope) => !known.owned.has(scope))
    .map(
      (scope): FindOwned => ({
        purpose: "find-owned",
        ...(scope === EVERYWHERE ? {} : { namespace: scope }),
        learn: (known, found) => ({ ...known, owned: set(known.owned, scope, found) }),
      }),
    );
};

/** All whose owners are all gone, or go: https://kubernetes.io/docs/concepts/architecture/garbage-collection/ */
export const collected = (all: readonly Owned[], deleted: ReadonlySet<string>): readonly Owned[] => {
  const dead = new Set(deleted);
  const left = new Set(all.filter(({ uid }) => !deleted.has(uid)));
  const lost: Owned[] = [];
  for (let before = -1; before < lost.length; ) {
    before = lost.length;
    for (const object of left)
      if (object.owners.every((owner) => dead.has(owner))) {
        left.delete(object);
        dead.add(object.uid);
        lost.push(object);
      }
  }
  return lost;
};

/** Those of `lost` that this owner has a part in, directly or through others. */
const descending = (lost: readonly Owned[], owner: string): readonly Owned[] => {
  const from = new Set([owner]);
  // An owner comes before what it owns.
  return lost.filter(({ uid, owners }) => {
    const is = owners.some((one) => from.has(one));
    if (is) from.add(uid);
    return is;
  });
};

const MOST_NAMED = 5;

const named = (lost: readonly Owned[], home: string | undefined): string => {
  const names = lost.map(
    ({ kind, namespace, name }) =>
      `${kind} ${namespace === undefined || namespace === home ? "" : `${namespace}/`}${name}`,
  );
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return `${cut(names.slice(0, MOST_NAMED).join(", "), 230)}${more}`;
};

/**
 * What the garbage collector will take with the targets of deletions, by change, in words: it is no target, so nothing
 * keeps it, and rollback does not bring it back.
 *
 * Assumes: what the ServiceAccount may not list is not seen, nor what is made later.
 */
export const dependents = (txn: Transaction, known: Known): ReadonlyMap<number, string> => {
  const items = deletions(txn, known);
  const deleted = new Set(items.flatMap((item) => uidOf(known, item) ?? []));
  const lost = collected([...known.owned.values()].flat(), deleted);
  return new Map(
    items.flatMap((item) => {
      const its = descending(lost, uidOf(known, item) ?? "");
      return its.length === 0 ? [] : [[item.index, named(its, item.place.namespace)] as const];
    }),
  );
};

/** Said before anything is touched. */
export const warnings = (txn: Transaction, known: Known): readonly string[] => {
  const found = dependents(txn, known);
  return deletions(txn, known).flatMap(({ index, place }) => {
    const its = found.get(index);
    return its === undefined
      ? []
      : [`changes[${index}]: deleting ${show(place)} takes with it ${its}, which a rollback does not bring back`];
  });
};
