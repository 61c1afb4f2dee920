// Checks by access reviews whether the ServiceAccount may apply and roll back each change.
import type { Forward } from "../state/journal.ts";
import { intentAt } from "../state/window.ts";
import { ownVerbs, ROLLBACK_VERBS, type Transaction, verbsOf } from "@janus/api";
import type { ApiCall, Call } from "../state/effect.ts";
import { type Observations, preflightIn } from "../state/observations.ts";
import { type ObjectRef, selfSubjectAccessReviews, formatRef } from "../kubernetes/kube-object.ts";
import { dependsOnEarlier } from "../state/target-resolution.ts";
import { itemsOf, type ResolvedItem } from "../state/resolved-changes.ts";

/** Asks whether the user may do this; without a name, to all objects of the kind in that namespace. */
export const accessReview = (place: Omit<ObjectRef, "name">, verb: string, name?: string) =>
  ({
    verb: "create",
    place: { resource: selfSubjectAccessReviews, name: "" },
    manager: "janus",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: {
        resourceAttributes: {
          group: place.resource.group,
          version: place.resource.version,
          resource: place.resource.plural,
          verb,
          ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
          ...(name === undefined ? {} : { name }),
        },
      },
    },
  }) satisfies Call;

/**
 * Checks whether the ServiceAccount may do this to all objects of the kind that these targets have, in their namespace.
 *
 * @param ofAll names this for a denial, which says nothing of one target. Default: it says the same of each of them
 */
export const reviewOfAll = (
  items: readonly [ResolvedItem, ...ResolvedItem[]],
  verb: string,
  ofAll?: string,
): ApiCall => ({
  purpose: "review",
  as: "serviceAccount",
  call: accessReview(items[0].place, verb),
  folds: [
    {
      type: "permission-reviewed",
      verb,
      indices: items.map(({ index }) => index),
      ...(ofAll === undefined ? {} : { ofAll }),
    },
  ],
});

/** Checks whether the ServiceAccount may do this to this target. A create has no name in an access review. */
const reviewOf = ({ index, place }: ResolvedItem, verb: string): ApiCall => ({
  purpose: "review",
  item: index,
  as: "serviceAccount",
  call: accessReview(place, verb, verb === "create" ? undefined : place.name),
  folds: [{ type: "permission-reviewed", verb, indices: [index] }],
});

/** Checks all verbs that this change and its rollback need. */
export const reviewsOf = (item: ResolvedItem): readonly ApiCall[] =>
  verbsOf(item.change.type).map((verb) => reviewOf(item, verb));

/** The changes that need the same verb on the same kind in the same namespace. */
interface Alike {
  readonly key: string;
  readonly verb: string;
  readonly items: readonly [ResolvedItem, ...ResolvedItem[]];
}

const alike = (items: readonly ResolvedItem[], known: Observations): readonly Alike[] => {
  const all = new Map<string, { readonly verb: string; readonly items: [ResolvedItem, ...ResolvedItem[]] }>();
  for (const item of items)
    for (const verb of verbsOf(item.change.type)) {
      if (preflightIn(known, item.index).permissions?.has(verb)) continue;
      const { resource, namespace = "" } = item.place;
      const key = JSON.stringify([resource.group, resource.plural, namespace, verb]);
      const others = all.get(key)?.items;
      if (others === undefined) all.set(key, { verb, items: [item] });
      else others.push(item);
    }
  return [...all].map(([key, needed]) => ({ key, ...needed }));
};

/**
 * The reviews that are still needed. For several targets of a kind in a namespace, the first one is about all
 * objects there, and single ones follow only if it is denied.
 */
export const reviews = (items: readonly ResolvedItem[], known: Observations): readonly ApiCall[] =>
  alike(items, known).flatMap(({ key, verb, items }): readonly ApiCall[] => {
    const isOne = items.length === 1 || known.deniedForAll.has(key);
    return isOne && verb !== "create"
      ? items.map((item) => reviewOf(item, verb))
      : [reviewOfAll(items, verb, verb === "create" ? undefined : key)];
  });

const notAllowed = ({ index }: ResolvedItem, known: Observations, verbs: readonly string[]): readonly string[] => {
  const { permissions } = preflightIn(known, index);
  return verbs.filter((verb) => permissions?.get(verb) !== "allowed");
};

/** The verbs of the change and of its rollback that the ServiceAccount is not known to have. */
export const lackingPermissions = (item: ResolvedItem, known: Observations): readonly string[] =>
  notAllowed(item, known, verbsOf(item.change.type));

/** The verbs of an Apply whose target may not be read: nobody knows which of these it is. */
const EITHER: readonly string[] = [...new Set([...verbsOf("Create"), ...verbsOf("Patch")])];

/** `create`, `create and update`, `get, create and update` */
const listed = (verbs: readonly string[]): string =>
  [verbs.slice(0, -1).join(", "), verbs.at(-1)].filter((part) => part !== "").join(" and ");

/** The solution, for messages. */
export const grant = ({ place }: ResolvedItem, verbs: readonly string[]): string =>
  `grant it the verb${verbs.length > 1 ? "s" : ""} ${listed(verbs)} on ${place.resource.plural}` +
  (place.namespace === undefined ? "" : ` in namespace ${place.namespace}`);

/**
 * All permissions that the change and its rollback need, and that neither the ServiceAccount has nor an earlier change may
 * bring: all of them, so that a user can grant them at once. Its target is not locked.
 */
export const missingPermissions = (txn: Transaction, item: ResolvedItem, known: Observations): readonly string[] => {
  const isUnreadable = preflightIn(known, item.index).permissions?.get("get") === "denied";
  const isEither = isUnreadable && txn.spec.changes[item.index]?.type === "Apply";
  const lacking = isEither ? notAllowed(item, known, EITHER) : lackingPermissions(item, known);
  const denied = [...(isUnreadable ? ["get"] : []), ...lacking];
  if (denied.length === 0 || dependsOnEarlier(txn, item.index)) return [];
  const { type } = item.change;
  const isForRollback = denied.every((verb) => !ownVerbs(type).includes(verb) && ROLLBACK_VERBS[type].includes(verb));
  const what = isForRollback
    ? `roll back ${formatRef(item.place)}`
    : `change ${formatRef(item.place)}, or roll it back`;
  return [`ServiceAccount ${txn.spec.serviceAccountName} may not ${what}: ${grant(item, denied)}`];
};

/** The changes for which the ServiceAccount does not have the permissions: not yet, or the preflight fails. */
export const unauthorized = (txn: Transaction, known: Observations): ReadonlySet<number> =>
  new Set(itemsOf(txn, known).flatMap((item) => (lackingPermissions(item, known).length > 0 ? [item.index] : [])));

/** The position of a journal before any change is sent. */
export const firstPosition = (txn: Transaction, known: Observations): Forward =>
  intentAt(txn, 0, unauthorized(txn, known));
