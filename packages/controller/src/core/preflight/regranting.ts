// Checks that the ServiceAccount could restore RBAC objects, despite escalation prevention.
import type { ResolvedChange, Transaction } from "@janus/api";
import { deletes, fieldManager } from "@janus/api";
import { asUpdate } from "../merge/take-over.ts";
import { desiredState, recreateBody } from "../merge/write-body.ts";
import type { ApiCall, Call } from "../state/effect.ts";
import { type Observations, preflightIn } from "../state/observations.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";
import { mayBeGranted } from "../state/target-resolution.ts";
import { formatRef, type ObjectRef } from "../kubernetes/kube-object.ts";
import { type ApiError, equal, isObject, type KubeObject } from "@janus/types";

/** A comparison that the API server makes when a client writes an object, beyond the verbs on it. */
interface Comparison {
  /** The verb that lets a user write what they could not otherwise; of others, what is compared. */
  readonly exempting: string;
  readonly isRejection: (fault: ApiError) => boolean;
  /** Describes what the object has, and what is to be done about it. */
  readonly remedy: (item: ResolvedItem) => string;
}

/** The message of the API server about permissions that the user lacks, and about an aggregationRule, which may collect any. */
const NOT_HELD = /attempting to grant RBAC permissions not currently held|must have cluster-admin privileges/;
/** The message about a binding of a role that does not exist, so that it is unknown what it would grant. */
const NO_ROLE = /^(?:cluster)?role(?:binding)?s\.rbac\.authorization\.k8s\.io "[^"]*" not found$/;

/** https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping */
const permissions = (exempting: string): Comparison => ({
  exempting,
  isRejection: (fault) =>
    fault.type === "refused" &&
    ((fault.code === 403 && NOT_HELD.test(fault.message)) || (fault.code === 404 && NO_ROLE.test(fault.message))),
  remedy: ({ place: { resource } }) =>
    `contains permissions that the ServiceAccount does not have: grant it these, or the verb ${exempting} on ${resource.plural}`,
});

/** Whoever creates an admission policy or its binding must be allowed to read its parameters; whoever deletes it, not. */
const parameters = (field: string): Comparison => ({
  exempting: field,
  isRejection: (fault) =>
    fault.type === "refused" && fault.code === 422 && fault.message.includes(`spec.${field}: Forbidden`),
  remedy: () => `names parameters in spec.${field} that the ServiceAccount cannot read: grant it the verb get on these`,
});

const COMPARISONS: ReadonlyMap<string, Comparison> = new Map([
  ["rbac.authorization.k8s.io/Role", permissions("escalate")],
  ["rbac.authorization.k8s.io/ClusterRole", permissions("escalate")],
  ["rbac.authorization.k8s.io/RoleBinding", permissions("bind")],
  ["rbac.authorization.k8s.io/ClusterRoleBinding", permissions("bind")],
  ["admissionregistration.k8s.io/ValidatingAdmissionPolicy", parameters("paramKind")],
  ["admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding", parameters("paramRef")],
  ["admissionregistration.k8s.io/MutatingAdmissionPolicy", parameters("paramKind")],
  ["admissionregistration.k8s.io/MutatingAdmissionPolicyBinding", parameters("paramRef")],
]);

const comparisonOf = ({ resource }: ObjectRef): Comparison | undefined =>
  COMPARISONS.get(`${resource.group}/${resource.kind}`);

/** Whether this says that the ServiceAccount may not grant what the object grants. */
export const isRefusedGrant = (place: ObjectRef, fault: ApiError): boolean =>
  comparisonOf(place)?.isRejection(fault) === true;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The parts of an object that grant permissions, before and after a change. */
const grants = ({ rules, aggregationRule }: Fields): readonly (readonly unknown[])[] => [
  listOf(rules),
  isObject(aggregationRule) ? listOf(aggregationRule["clusterRoleSelectors"]) : [],
];

type Fields = Readonly<Record<string, unknown>>;

/** The object after the change: what a Patch does not name stays, what an Update leaves out goes; null is nothing. */
const resulting = (change: ResolvedChange, place: ObjectRef, before: KubeObject): Fields => {
  const made = asUpdate(change, place, before);
  const desired = desiredState(made, place, before);
  return made.type === "Patch" ? { ...before, ...desired } : desired;
};

const withFirstTwice = (list: readonly unknown[]): readonly unknown[] => [...list, ...list.slice(0, 1)];

/**
 * A dry run that grants what the rollback would grant. For a deletion it is rejected in the end, since the object still exists, but
 * only after permissions are compared. For an edit they are compared only if something differs, so one of the rules is repeated; a
 * binding has the same permissions before and after.
 */
const granting = (txn: Transaction, { change, place }: ResolvedItem, before: KubeObject): Call | undefined => {
  const manager = fieldManager(txn.metadata);
  if (deletes(change)) return { verb: "create", place, body: recreateBody(before, place, txn.metadata, []), manager };
  const [rules = [], selectors = []] = grants(before);
  const isNothing = rules.length === 0 && selectors.length === 0;
  if (isNothing || equal(grants(resulting(change, place, before)), [rules, selectors])) return undefined;
  const { aggregationRule } = before;
  const body = {
    ...before,
    rules: withFirstTwice(rules),
    ...(isObject(aggregationRule)
      ? { aggregationRule: { ...aggregationRule, clusterRoleSelectors: withFirstTwice(selectors) } }
      : {}),
  };
  return { verb: "update", place, body, manager };
};

/** Asks whether the ServiceAccount could grant again what the change takes away from others, where that is not known of this state. */
export const regranting = (
  txn: Transaction,
  known: Observations,
  item: ResolvedItem,
  before: KubeObject | undefined,
): readonly ApiCall[] => {
  if (comparisonOf(item.place) === undefined || before === undefined || isKnown(known, item, before)) return [];
  const call = granting(txn, item, before);
  return call === undefined
    ? []
    : [
        {
          purpose: "dry-run",
          item: item.index,
          as: "serviceAccount",
          dryRun: true,
          call,
          folds: [{ type: "regrant-tried", resourceVersion: before.metadata.resourceVersion }],
        },
      ];
};

const isKnown = (known: Observations, { index }: ResolvedItem, { metadata }: KubeObject): boolean => {
  const { regrant } = preflightIn(known, index);
  return regrant !== undefined && regrant.resourceVersion === metadata.resourceVersion;
};

/** Reports that the ServiceAccount could not grant again what this state grants, as far as is known. */
export const lostGrants = (
  txn: Transaction,
  item: ResolvedItem,
  known: Observations,
  before: KubeObject,
): readonly string[] => {
  const comparison = comparisonOf(item.place);
  return comparison === undefined ||
    !isKnown(known, item, before) ||
    preflightIn(known, item.index).regrant?.isDenied !== true
    ? []
    : [
        `ServiceAccount ${txn.spec.serviceAccountName} cannot roll back ${formatRef(item.place)}: it ${comparison.remedy(item)}`,
      ];
};

/** {@link lostGrants}, but where an earlier change may grant it that: it is asked again in the turn of the change. */
export const refusedGrants = (
  txn: Transaction,
  item: ResolvedItem,
  known: Observations,
  before: KubeObject,
): readonly string[] => (mayBeGranted(txn, item.index) ? [] : lostGrants(txn, item, known, before));
