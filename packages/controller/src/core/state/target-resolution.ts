// Resolves apiVersion and kind of each target by discovery, or by a CRD among the changes.
import { type Change, groupOf, type Item, type Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { type Observations, type ServedKind } from "./observations.ts";
import type { Discover } from "./effect.ts";
import { asObject, type Json, memoized, type Resource } from "@janus/types";
import { formatRef, type ObjectRef } from "../kubernetes/kube-object.ts";
import { resolvedChange } from "./resolve-apply.ts";

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

/** The resources that a CustomResourceDefinition among the changes will serve: one for each version. */
const servedBy = (change: Change): readonly Resource[] => {
  if ((change.type !== "Create" && change.type !== "Apply") || change.target.kind !== "CustomResourceDefinition")
    return [];
  const { group, scope, names, versions } = asObject(change.content["spec"]);
  const { kind, plural } = asObject(names);
  if (typeof group !== "string" || typeof kind !== "string" || typeof plural !== "string") return [];
  return list(versions)
    .map(asObject)
    .flatMap(({ name: version, subresources }) =>
      typeof version === "string"
        ? [
            {
              group,
              version,
              plural,
              kind,
              namespaced: scope === "Namespaced",
              statusSubresource: asObject(subresources)["status"] !== undefined,
            },
          ]
        : [],
    );
};

const kindKey = ({ target: { apiVersion, kind } }: Change): string => `${apiVersion}/${kind}`;
const servedKey = ({ group, version, kind }: Resource): string => `${group}/${version}/${kind}`;

const notServed = ({ apiVersion, kind }: Pick<Change["target"], "apiVersion" | "kind">): string =>
  `the API server does not serve ${kind} in ${apiVersion}: correct the target, or apply what defines it first, in a Transaction of its own unless that is its CustomResourceDefinition`;

/** The apiVersions in which a CustomResourceDefinition among the changes will serve the kind. */
const definedIn = ({ spec }: Transaction, { target }: Change): readonly string[] =>
  spec.changes
    .flatMap(servedBy)
    .filter(({ group, kind }) => group === groupOf(target.apiVersion) && kind === target.kind)
    .map(({ group, version }) => `${group}/${version}`);

/** Discovers each kind among the changes that is not known yet. */
export const discoveries = (txn: Transaction, known: Observations): readonly Discover[] => {
  const missing = new Map(
    txn.spec.changes
      .filter((change) => !known.resources.has(kindKey(change)))
      .map((change) => [kindKey(change), change]),
  );
  return [...missing].map(
    ([, change]): Discover => ({
      purpose: "discover",
      apiVersion: change.target.apiVersion,
      kind: change.target.kind,
      // For a message; once it has begun, it waits for what is not served.
      ...(txn.status.phase === "Pending" && definedIn(txn, change).length === 0 ? { isMistake: true } : {}),
      unanswered: [{ type: "kind-undiscovered" }],
    }),
  );
};

const NOT_SERVED: E.Either<string, ObjectRef> = E.left(notServed({ apiVersion: "", kind: "" }));

const placeOf = (txn: Transaction, { target }: Change, resource: Resource | undefined): E.Either<string, ObjectRef> => {
  if (resource === undefined) return E.left(notServed(target));
  if (resource.isVirtual)
    return E.left(`${resource.kind} is not a stored kind, and cannot be rolled back: remove this change`);
  const { name, namespace } = target;
  if (resource.namespaced) return E.right({ resource, namespace: namespace ?? txn.metadata.namespace, name });
  return namespace === undefined
    ? E.right({ resource, name })
    : E.left(`${resource.kind} is cluster-scoped: remove target.namespace`);
};

/** All targets, by change. Memoized, since every decision needs them. */
const located = memoized((txn: Transaction) =>
  memoized((resources: Observations["resources"]): readonly E.Either<string, ObjectRef>[] => {
    const served = new Map<string, Resource>();
    return txn.spec.changes.map((change) => {
      const key = kindKey(change);
      const place = placeOf(txn, change, resources.get(key) ?? served.get(key));
      for (const resource of servedBy(change))
        if (!served.has(servedKey(resource))) served.set(servedKey(resource), resource);
      return place;
    });
  }),
);

/**
 * Resolves the target of a change.
 *
 * Assumes: all kinds have been discovered ({@link discoveries}).
 * @returns Left: a message about what is wrong with the target.
 */
export const resolveTarget = (
  txn: Transaction,
  { resources }: Observations,
  index: number,
): E.Either<string, ObjectRef> => located(txn)(resources)[index] ?? NOT_SERVED;

const insteadOf = (kind: string, others: readonly ServedKind[]): string =>
  others.some((other) => other.kind === kind)
    ? `use ${others.map(({ apiVersion }) => apiVersion).join(" or ")}`
    : `did you mean ${others.map((other) => `${other.kind} in ${other.apiVersion}`).join(" or ")}?`;

/** Tells what is wrong with the target of a change: of a kind that is not served, what to use instead, if there is anything. */
export const targetProblem = (txn: Transaction, known: Observations, index: number): string | undefined => {
  const place = resolveTarget(txn, known, index);
  const change = txn.spec.changes[index];
  if (E.isRight(place) || change === undefined) return undefined;
  const { apiVersion, kind } = change.target;
  const defined = definedIn(txn, change).map((apiVersion): ServedKind => ({ apiVersion, kind }));
  const others = defined.length > 0 ? defined : (known.servedIn?.get(kindKey(change)) ?? []);
  const isServed = others.some((other) => other.apiVersion === apiVersion && other.kind === kind);
  return place.left !== notServed(change.target) || others.length === 0 || isServed
    ? place.left
    : `the API server does not serve ${kind} in ${apiVersion}: ${insteadOf(kind, others)}`;
};

/** The target as the status names it, with its namespace. Without a target if its kind is not known. */
export const namedTarget = (txn: Transaction, known: Observations, index: number): Pick<Item, "target"> => {
  const place = resolveTarget(txn, known, index);
  return E.isRight(place) ? { target: formatRef(place.right) } : {};
};

const placed = memoized(
  (all: readonly E.Either<string, ObjectRef>[]): ReadonlyMap<number, ObjectRef> =>
    new Map(all.flatMap((place, index) => (E.isRight(place) ? [[index, place.right] as const] : []))),
);

/** All resolved targets, by change. */
export const resolvedTargets = (txn: Transaction, { resources }: Observations): ReadonlyMap<number, ObjectRef> =>
  placed(located(txn)(resources));

const GRANTING: readonly string[] = ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"];
const ENABLING: readonly string[] = ["Namespace", "CustomResourceDefinition", "ServiceAccount", ...GRANTING];

/** Whether later changes may need it, so that its rollback would take it away from them. */
export const isEnabling = ({ type, target }: Change): boolean => type !== "Delete" && ENABLING.includes(target.kind);

/**
 * Whether an earlier change may bring what this one needs (a Namespace, a CRD, a ServiceAccount, permissions):
 * before then, a 403 or 404 means only "not verifiable yet".
 */
export const dependsOnEarlier = (txn: Transaction, index: number): boolean =>
  txn.spec.changes.slice(0, index).some(isEnabling);

/** Whether an earlier change may bring permissions to the ServiceAccount, which exists already. */
export const mayBeGranted = (txn: Transaction, index: number): boolean =>
  txn.spec.changes.slice(0, index).some(({ type, target }) => type !== "Delete" && GRANTING.includes(target.kind));

/**
 * The targets that can be locked once the changes before `cursor` are applied: not those in a namespace that a
 * later change creates, nor those in one that was deleted, with the locks in it. `early`: their locks are held
 * by now, since they could be acquired before any change, or a change was applied under them. `late`: those in a
 * namespace that has just been created, none of which was modified; and that of the change at the cursor, if it
 * is `unauthorized`: the ServiceAccount has no permissions for it until its turn.
 */
export const lockable = (
  txn: Transaction,
  known: Observations,
  cursor: number,
  unauthorized: ReadonlySet<number>,
): { readonly early: ReadonlyMap<number, ObjectRef>; readonly late: ReadonlyMap<number, ObjectRef> } => {
  const makers = new Map<string, number>();
  const gone = new Set(
    txn.spec.changes
      .slice(0, cursor)
      .flatMap(({ type, target }) => (type === "Delete" && target.kind === "Namespace" ? [target.name] : [])),
  );
  const early = new Map<number, ObjectRef>();
  const late = new Map<number, ObjectRef>();
  for (const [index, place] of resolvedTargets(txn, known)) {
    if (gone.has(place.namespace ?? "")) continue;
    const maker = makers.get(place.namespace ?? "");
    if (unauthorized.has(index) && index >= cursor) {
      if (index === cursor) late.set(index, place);
    } else if (maker === undefined || index < cursor) early.set(index, place);
    else if (maker < cursor) late.set(index, place);
    if (resolvedChange(txn, known, index)?.type === "Create" && place.resource.kind === "Namespace")
      makers.set(place.name, index);
  }
  return { early, late };
};
