import type { Transaction } from "@janus/api";
import { fieldManager } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { equal } from "../kubernetes/json.ts";
import { desiredState, recreateBody } from "../merge/write-body.ts";
import type { ApiCall, Call } from "../state/effect.ts";
import { changeIn, type Observations } from "../state/observations.ts";
import { withVerdict } from "./permissions.ts";
import type { Item } from "../state/resolved-changes.ts";
import { dependsOnEarlier } from "../state/target-resolution.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { ApiError, KubeObject } from "@janus/types";

/**
 * The verb that lets a user write permissions that they do not have, by kind.
 * https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
 */
const EXEMPTING: ReadonlyMap<string, string> = new Map([
  ["Role", "escalate"],
  ["ClusterRole", "escalate"],
  ["RoleBinding", "bind"],
  ["ClusterRoleBinding", "bind"],
]);

const exempting = ({ place: { resource } }: Item): string | undefined =>
  resource.group === "rbac.authorization.k8s.io" ? EXEMPTING.get(resource.kind) : undefined;

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

const isEscalation = (fault: ApiError): boolean =>
  fault.type === "refused" &&
  fault.code === 403 &&
  fault.message.includes("attempting to grant RBAC permissions not currently held");

/** Asks whether the ServiceAccount could grant again what the change takes away from others, where that is not known yet. */
export const regranting = (
  txn: Transaction,
  known: Observations,
  item: Item,
  before: KubeObject | undefined,
): readonly ApiCall[] => {
  const verb = exempting(item);
  if (verb === undefined || before === undefined || changeIn(known, item.index).permissions?.has(verb)) return [];
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
            withVerdict(known, [item], verb, E.isRight(answer) || !isEscalation(answer.left)),
        },
      ];
};

/** That it could not, and no earlier change lets it. */
export const lostGrants = (txn: Transaction, item: Item, known: Observations): readonly string[] => {
  const verb = exempting(item);
  return verb === undefined ||
    changeIn(known, item.index).permissions?.get(verb) !== "denied" ||
    dependsOnEarlier(txn, item.index)
    ? []
    : [
        `ServiceAccount ${txn.spec.serviceAccountName} could not put ${formatRef(item.place)} back, which contains permissions that it does not have: grant it these, or the verb ${verb} on ${item.place.resource.plural}`,
      ];
};
