// Computes the RBAC rules that the ServiceAccount of a Transaction needs.
import { type Change, groupOf, verbsOf } from "@janus/api";
import { asObject } from "@janus/types";
import type { ChangeManifest, SpecManifest } from "./manifest.ts";
import { type ResourceName, resourceOf } from "./resource.ts";

/** A rule of a Role or ClusterRole. https://kubernetes.io/docs/reference/access-authn-authz/rbac/ */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Absent: all objects, as for `create`, which has no name when it is authorized. */
  readonly resourceNames?: readonly string[];
}

/** Permissions that the ServiceAccount needs in one namespace; `undefined`: in the whole cluster. */
export interface Permissions {
  readonly namespace: string | undefined;
  readonly rules: readonly PolicyRule[];
}

const verbsOfType = (type: Change["type"]): readonly string[] => [
  "get",
  ...(type === "Apply" ? [...verbsOf("Create"), ...verbsOf("Patch")] : verbsOf(type)),
];

/** One verb on one object; without a name, on all of the kind. */
interface Grant {
  readonly resource: ResourceName;
  readonly namespace: string | undefined;
  readonly verb: string;
  readonly name: string | undefined;
}

const RBAC = "rbac.authorization.k8s.io";
const PLURALS: Readonly<Record<string, string>> = { Role: "roles", ClusterRole: "clusterroles" };

/**
 * A user may only grant what they have, unless they have these verbs.
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
 */
const escalations = (
  { target: { apiVersion, kind, name }, type, content }: ChangeManifest,
  at: Omit<Grant, "verb" | "name">,
): readonly Grant[] => {
  if (groupOf(apiVersion) !== RBAC) return [];
  // Like a create, which has no name when it is authorized, and neither has what is asked for along with it.
  if (kind in PLURALS)
    return [{ ...at, verb: "escalate", name: verbsOfType(type).includes("create") ? undefined : name }];
  const { kind: bound, name: role } = asObject(asObject(content)["roleRef"]);
  const plural = typeof bound === "string" ? PLURALS[bound] : undefined;
  return plural === undefined || typeof role !== "string"
    ? []
    : [{ ...at, resource: { ...at.resource, plural }, verb: "bind", name: role }];
};

/** Kinds whose Pods, and what Events say of these, explain why they are not ready. */
const WORKLOADS: readonly string[] = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job"];
const PODS: ResourceName = { group: "", plural: "pods", namespaced: true };
const EVENTS: ResourceName = { group: "", plural: "events", namespaced: true };

const explainedBy = (kind: string): readonly ResourceName[] => {
  if (WORKLOADS.includes(kind)) return [PODS, EVENTS];
  return kind === "PersistentVolumeClaim" ? [EVENTS] : [];
};

/** Gates are watched, not polled; and a message names the Pod that has a problem, or why a claim is not bound. */
const gates = (
  { target: { kind } }: ChangeManifest,
  { resource, namespace }: Omit<Grant, "verb" | "name">,
): readonly Grant[] => [
  ...["list", "watch"].map((verb) => ({ resource, namespace, verb, name: undefined })),
  ...explainedBy(kind).map((resource) => ({ resource, namespace, verb: "list", name: undefined })),
];

/** A content that is in a ConfigMap or Secret is read from there. */
const readingContent = (
  plural: string,
  ref: { readonly name: string } | undefined,
  namespace: string,
): readonly Grant[] =>
  ref === undefined
    ? []
    : [{ resource: { group: "", plural, namespaced: true }, namespace, verb: "get", name: ref.name }];

const grantsOf = (spec: SpecManifest, transactionNamespace: string): readonly Grant[] =>
  spec.changes.flatMap((change) => {
    const resource = resourceOf(change.target, spec.changes);
    const namespace = resource.namespaced ? (change.target.namespace ?? transactionNamespace) : undefined;
    const at = { resource, namespace };
    const { name } = change.target;
    const { configMapKeyRef, secretKeyRef } = change.contentFrom ?? {};
    const isGated = [...(change.waitFor ?? spec.waitFor ?? []), ...(spec.rollbackWaitFor ?? [])].length > 0;
    return [
      ...[...new Set(verbsOfType(change.type))].map((verb) => ({
        ...at,
        verb,
        name: verb === "create" ? undefined : name,
      })),
      ...escalations(change, at),
      ...(isGated ? gates(change, at) : []),
      ...readingContent("configmaps", configMapKeyRef, transactionNamespace),
      ...readingContent("secrets", secretKeyRef, transactionNamespace),
    ];
  });

const grouped = <A>(items: readonly A[], keyOf: (item: A) => string): readonly (readonly [A, ...A[]])[] => {
  const groups = new Map<string, [A, ...A[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
};

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

/** The fewest rules that grant this and nothing else: per resource, the names that take the same verbs. */
const rulesOf = (grants: readonly Grant[]): readonly PolicyRule[] => {
  const perObject = grouped(grants, ({ resource: { group, plural }, name }) => JSON.stringify([group, plural, name]));
  const needs = perObject.map((same) => ({ ...same[0], verbs: distinct(same.map(({ verb }) => verb)) }));
  const alike = grouped(needs, ({ resource: { group, plural }, name, verbs }) =>
    JSON.stringify([group, plural, name === undefined, verbs]),
  );
  return alike.map((same): PolicyRule => {
    const [{ resource, name, verbs }] = same;
    const rule = { apiGroups: [resource.group], resources: [resource.plural], verbs };
    return name === undefined ? rule : { ...rule, resourceNames: same.flatMap(({ name }) => name ?? []) };
  });
};

/**
 * Returns what the ServiceAccount of a Transaction needs for its changes, their contents and their rollback, and nothing else:
 * for each namespace one Role, and one ClusterRole for cluster-scoped targets. Rules name the targets, except for `create`, and
 * for `list` and `watch` of gates. What a RoleBinding binds is known only if the content says so: for one that is deleted, or
 * patched without its `roleRef`, the verb `bind` is not among them. The kinds are resolved without a cluster; see
 * {@link resourceOf}.
 */
export const permissionsOf = (spec: SpecManifest, namespace: string): readonly Permissions[] =>
  grouped(grantsOf(spec, namespace), ({ namespace }) => JSON.stringify([namespace])).map((same) => ({
    namespace: same[0].namespace,
    rules: rulesOf(same),
  }));
