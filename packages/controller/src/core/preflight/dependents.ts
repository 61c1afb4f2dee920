import { type Change, cut, type Transaction } from "@janus/api";
import { collectGarbage, type Collected } from "./garbage-collection.ts";
import type { FindOwned } from "../state/effect.ts";
import type { Instant } from "../kubernetes/time.ts";
import { type Observations, set } from "../state/observations.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { lastEqual, memoized } from "../kubernetes/memoize.ts";
import { type Item, itemsOf } from "../state/resolved-changes.ts";
import { callName } from "../kubernetes/implicit-owners.ts";
import { dueAgain } from "./unlisted-kinds.ts";
import type { Owned } from "../state/listings.ts";
import type { KubeObject } from "@janus/types";

const deletions = (txn: Transaction, known: Observations): readonly Item[] =>
  itemsOf(txn, known).filter(({ change }) => change.type === "Delete");

const EVERYWHERE = "";

const find = (scope: string, only?: readonly string[]): FindOwned => ({
  purpose: "find-owned",
  ...(scope === EVERYWHERE ? {} : { namespace: scope }),
  ...(only === undefined ? {} : { only }),
  onAnswer: (known, found, now) => {
    const { since = now, unlisted = [] } = known.listings.get(scope) ?? {};
    // What is not tried again stays unlisted.
    const left = [...unlisted.filter(({ resource }) => only?.includes(resource) === false), ...found.unlisted];
    return {
      ...known,
      owned: set(known.owned, scope, [...(known.owned.get(scope) ?? []), ...found.owned]),
      listings: set(known.listings, scope, { since, readAt: now, unlisted: left }),
    };
  },
});

/**
 * Looks for what the targets of deletions own: in their namespaces, or everywhere where one is cluster-scoped. Once, but for
 * kinds whose server does not answer (see `unlisted-kinds.ts`).
 */
export const findOwned = (txn: Transaction, known: Observations, now: Instant): readonly FindOwned[] => {
  const scopes = new Set(deletions(txn, known).map(({ place }) => place.namespace ?? EVERYWHERE));
  const wanted = scopes.has(EVERYWHERE) ? [EVERYWHERE] : [...scopes];
  return wanted.flatMap((scope): readonly FindOwned[] => {
    const listing = known.listings.get(scope);
    if (!known.owned.has(scope)) return [find(scope)];
    const again = listing === undefined ? [] : dueAgain(listing, now);
    return again.length === 0 ? [] : [find(scope, again)];
  });
};

/** What the changes delete, by change. */
const deleted = memoized((changes: readonly Change[]) => {
  const same = lastEqual<KubeObject | undefined>();
  return memoized((observed: Observations["changes"]): readonly (KubeObject | undefined)[] =>
    same(changes.map(({ type }, index) => (type === "Delete" ? observed.get(index)?.target?.object : undefined))),
  );
});

const callNames = (all: readonly Owned[], deletions: readonly (KubeObject | undefined)[]) =>
  new Map([
    ...all.flatMap(({ uid, callName }) => (callName === undefined ? [] : [[uid, callName] as const])),
    ...deletions.flatMap((object) => {
      const name = object === undefined ? undefined : callName(object);
      return object?.metadata.uid === undefined || name === undefined ? [] : [[object.metadata.uid, name] as const];
    }),
  ]);

const followed = memoized((owned: Observations["owned"]) => {
  const all = [...owned.values()].flat();
  return memoized((deletions: readonly (KubeObject | undefined)[]) =>
    collectGarbage(
      all,
      deletions.map((object) => object?.metadata.uid),
      callNames(all, deletions),
    ),
  );
});

/** What goes with the deletions, as far as it was seen. */
export const collected = ({ spec }: Transaction, known: Observations): Collected =>
  followed(known.owned)(deleted(spec.changes)(known.changes));

const MOST_NAMED = 5;

export const named = (lost: readonly Owned[], home: string | undefined, most = 230): string => {
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
 * What will go with the targets of deletions, by change, in words: it is no target, so nothing keeps it, and rollback does
 * not bring it back. What has several owners goes with the last of them, what is tied to one with that one.
 *
 * Assumes: what the ServiceAccount may not list is not seen, nor what is made later.
 */
export const dependents = (txn: Transaction, known: Observations): ReadonlyMap<number, string> => {
  const { lost } = collected(txn, known);
  return new Map(
    deletions(txn, known).flatMap(({ index, place }) => {
      const its = lost.get(index);
      return its === undefined ? [] : [[index, named(its, place.namespace)] as const];
    }),
  );
};

/** Said before anything is touched. */
export const warnings = (txn: Transaction, known: Observations): readonly string[] => {
  const found = dependents(txn, known);
  return deletions(txn, known).flatMap(({ index, place }) => {
    const its = found.get(index);
    return its === undefined
      ? []
      : [`changes[${index}]: deleting ${formatRef(place)} also deletes ${its}, which a rollback does not restore`];
  });
};
