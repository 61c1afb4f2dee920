import type { Change, Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { asObject } from "./json.ts";
import { type Known, set } from "./known.ts";
import type { Discover } from "./effect.ts";
import type { Json, Place, Resource } from "./object.ts";

const groupOf = (apiVersion: string): string => apiVersion.split("/").toReversed().slice(1).join("/");

const versionOf = (apiVersion: string): string => apiVersion.split("/").at(-1) ?? "";

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? (value as readonly Json[]) : []);

/** The resource that a CustomResourceDefinition among the changes will serve. */
const servedBy = (change: Change, apiVersion: string, kind: string): Resource | undefined => {
  if (change.type !== "Create" || change.target.kind !== "CustomResourceDefinition") return undefined;
  const spec = asObject(change.content["spec"]);
  const names = asObject(spec["names"]);
  const version = list(spec["versions"])
    .map(asObject)
    .find(({ name }) => spec["group"] === groupOf(apiVersion) && name === versionOf(apiVersion));
  if (version === undefined || names["kind"] !== kind || typeof names["plural"] !== "string") return undefined;
  return {
    group: groupOf(apiVersion),
    version: versionOf(apiVersion),
    plural: names["plural"],
    kind,
    namespaced: spec["scope"] === "Namespaced",
    statusSubresource: asObject(version["subresources"])["status"] !== undefined,
  };
};

const kindKey = (change: Change): string => `${change.target.apiVersion}/${change.target.kind}`;

/** Asks for each kind among the changes that is not known yet. */
export const discoveries = (txn: Transaction, known: Known): readonly Discover[] => {
  const missing = new Map(
    txn.spec.changes
      .filter((change) => !known.resources.has(kindKey(change)))
      .map((change) => [kindKey(change), change]),
  );
  return [...missing].map(
    ([key, { target }]): Discover => ({
      purpose: "discover",
      apiVersion: target.apiVersion,
      kind: target.kind,
      learn: (known, resource) => ({ ...known, resources: set(known.resources, key, resource ?? null) }),
    }),
  );
};

const resourceOf = (txn: Transaction, known: Known, index: number): Resource | undefined => {
  const change = txn.spec.changes[index];
  if (change === undefined) return undefined;
  const { apiVersion, kind } = change.target;
  return (
    known.resources.get(kindKey(change)) ??
    txn.spec.changes
      .slice(0, index)
      .map((earlier) => servedBy(earlier, apiVersion, kind))
      .find((resource) => resource !== undefined)
  );
};

/**
 * Where the target of a change is.
 *
 * Assumes: all kinds have been asked for ({@link discoveries}).
 * @returns Left: a sentence about what is wrong with the target.
 */
export const locate = (txn: Transaction, known: Known, index: number): E.Either<string, Place> => {
  const change = txn.spec.changes[index];
  const resource = resourceOf(txn, known, index);
  if (change === undefined || resource === undefined) {
    const { apiVersion, kind } = change?.target ?? { apiVersion: "", kind: "" };
    return E.left(
      `the API server does not serve ${kind} in ${apiVersion}: correct the target, or create its CustomResourceDefinition in an earlier change`,
    );
  }
  const { name, namespace } = change.target;
  if (resource.namespaced) return E.right({ resource, namespace: namespace ?? txn.metadata.namespace, name });
  return namespace === undefined
    ? E.right({ resource, name })
    : E.left(`${resource.kind} is cluster-scoped: take out target.namespace`);
};

/** Places of all changes that have one, by change. */
export const places = (txn: Transaction, known: Known): ReadonlyMap<number, Place> =>
  new Map(
    txn.spec.changes.flatMap((_, index) => {
      const place = locate(txn, known, index);
      return E.isRight(place) ? [[index, place.right] as const] : [];
    }),
  );

const ENABLING: readonly string[] = [
  "Namespace",
  "CustomResourceDefinition",
  "ServiceAccount",
  "Role",
  "RoleBinding",
  "ClusterRole",
  "ClusterRoleBinding",
];

/**
 * Whether an earlier change brings what this one needs (a Namespace, a CRD, a ServiceAccount, rights): what the server
 * says of it before then, 403 or 404, means only "not verifiable yet".
 */
export const dependsOnEarlier = (txn: Transaction, index: number): boolean =>
  txn.spec.changes.slice(0, index).some((change) => change.type !== "Delete" && ENABLING.includes(change.target.kind));

/**
 * The targets that can be locked once the changes before `cursor` are in: not those in a namespace that a change from there
 * on has yet to create, nor those in one that is deleted by then, with the locks in it. `early`: their locks are held by now, since they could be taken before any change, or a change was
 * made under them. `late`: those in a namespace that is there only now, of which none has been touched.
 */
export const lockable = (
  txn: Transaction,
  known: Known,
  cursor: number,
): { readonly early: ReadonlyMap<number, Place>; readonly late: ReadonlyMap<number, Place> } => {
  const makers = new Map<string, number>();
  const gone = new Set(
    txn.spec.changes
      .slice(0, cursor)
      .flatMap(({ type, target }) => (type === "Delete" && target.kind === "Namespace" ? [target.name] : [])),
  );
  const early = new Map<number, Place>();
  const late = new Map<number, Place>();
  for (const [index, place] of places(txn, known)) {
    if (gone.has(place.namespace ?? "")) continue;
    const maker = makers.get(place.namespace ?? "");
    if (maker === undefined || index < cursor) early.set(index, place);
    else if (maker < cursor) late.set(index, place);
    if (txn.spec.changes[index]?.type === "Create" && place.resource.kind === "Namespace")
      makers.set(place.name, index);
  }
  return { early, late };
};
