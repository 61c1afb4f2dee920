import type { Transaction } from "@janus/api";
import { fieldManager } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { equal } from "../kubernetes/json.ts";
import { desiredState, recreateBody } from "../merge/write-body.ts";
import type { ApiCall, Call } from "../state/effect.ts";
import { changeIn, type Observations } from "../state/observations.ts";
import { withVerdict } from "./permissions.ts";
import type { Item } from "../state/resolved-changes.ts";
import { mayBeGranted } from "../state/target-resolution.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { ApiError, KubeObject } from "@janus/types";

/** What the API server compares when somebody writes an object, beyond the verbs on it. */
interface Comparison {
  /** The verb that lets a user write what they could not otherwise; of others, what is compared. */
  readonly exempting: string;
  readonly isRejection: (fault: ApiError) => boolean;
  /** What the object has, and what is to be done about it. */
  readonly remedy: (item: Item) => string;
}

/** What the API server says of permissions that the user lacks, and of an aggregationRule, which may collect any. */
const NOT_HELD = /attempting to grant RBAC permissions not currently held|must have cluster-admin privileges/;
/** What it says of a binding of a role that does not exist, so that nobody knows what it would grant. */
const NO_ROLE = /^(?:cluster)?role(?:binding)?s\.rbac\.authorization\.k8s\.io "[^"]*" not found$/;

/** https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping */
const permissions = (exempting: string): Comparison => ({
  exempting,
  isRejection: (fault) =>
    fault.type === "refused" &&
    ((fault.code === 403 && NOT_HELD.test(fault.message)) || (fault.code === 404 && NO_ROLE.test(fault.message))),
  remedy: ({ place: { resource } }) =>
    `contains permissions that it does not have: grant it these, or the verb ${exempting} on ${resource.plural}`,
});

/** Whoever creates an admission policy or its binding must be allowed to read its parameters; whoever deletes it, not. */
const parameters = (field: string): Comparison => ({
  exempting: field,
  isRejection: (fault) =>
    fault.type === "refused" && fault.code === 422 && fault.message.includes(`spec.${field}: Forbidden`),
  remedy: () => `names parameters in spec.${field} that it may not read: grant it the verb get on these`,
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

const comparisonOf = ({ place: { resource } }: Item): Comparison | undefined =>
  COMPARISONS.get(`${resource.group}/${resource.kind}`);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/**
 * A dry run that grants what the rollback would grant. For a deletion it is rejected in the end, since the object still exists, but
 * only after permissions are compared. For an edit they are compared only if something differs, so one of the rules is repeated; a
 * binding has the same permissions before and after.
 */
const granting = (txn: Transaction, { change, place }: Item, before: KubeObject): Call | undefined => {
  const manager = fieldManager(txn.metadata);
  if (change.type === "Delete")
    return { verb: "create", place, body: recreateBody(before, place, txn.metadata, []), manager };
  const rules = listOf(before["rules"]);
  if (rules.length === 0 || equal(listOf(desiredState(change, place, before)["rules"] ?? rules), rules))
    return undefined;
  return { verb: "update", place, body: { ...before, rules: [...rules, rules[0]] }, manager };
};

/** Asks whether the ServiceAccount could grant again what the change takes away from others, where that is not known yet. */
export const regranting = (
  txn: Transaction,
  known: Observations,
  item: Item,
  before: KubeObject | undefined,
): readonly ApiCall[] => {
  const comparison = comparisonOf(item);
  if (comparison === undefined || before === undefined) return [];
  const { exempting, isRejection } = comparison;
  if (changeIn(known, item.index).permissions?.has(exempting)) return [];
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
          onAnswer: (known, answer) =>
            withVerdict(known, [item], exempting, E.isRight(answer) || !isRejection(answer.left)),
        },
      ];
};

/** That it could not, as far as is known. */
export const lostGrants = (txn: Transaction, item: Item, known: Observations): readonly string[] => {
  const comparison = comparisonOf(item);
  return comparison === undefined || changeIn(known, item.index).permissions?.get(comparison.exempting) !== "denied"
    ? []
    : [
        `ServiceAccount ${txn.spec.serviceAccountName} could not put ${formatRef(item.place)} back, which ${comparison.remedy(item)}`,
      ];
};

/** {@link lostGrants} before the first change: where an earlier one may grant it that, it is asked again in the turn of the change. */
export const refusedGrants = (txn: Transaction, item: Item, known: Observations): readonly string[] =>
  mayBeGranted(txn, item.index) ? [] : lostGrants(txn, item, known);
