// Runs the checks of live targets before the first change: reads, dry runs and access reviews.
import { MANAGED_BY, MANAGED_BY_LABEL, type Transaction, TRANSACTION_LABEL } from "@janus/api";
import type { ApiCall } from "../state/effect.ts";
import { asObject, equal, isObject, type Json, type JsonObject, type KubeObject } from "@janus/types";
import { changeIn, type Observations, trialIn } from "../state/observations.ts";
import type { KeepDryRun } from "../state/preflight-observations.ts";
import type { TargetObservation } from "../state/target-observations.ts";
import { serviceAccounts, formatRef } from "../kubernetes/kube-object.ts";
import { dependsOnEarlier } from "../state/target-resolution.ts";
import { missingOwners, readNewOwners } from "./missing-owners.ts";
import { missingPermissions } from "./permissions.ts";
import { refusedGrants, regranting } from "./regranting.ts";
import { readTarget, type ResolvedItem, writeOf } from "../state/resolved-changes.ts";
import { lossOf, readOtherVersions } from "../state/other-versions.ts";
import { fieldsOf } from "../merge/field-set.ts";
import { entriesOf } from "../merge/marks.ts";
import { nullInUnknownList, nullInWhole } from "../merge/nulls.ts";
import { unclearMerge } from "../merge/take-over.ts";
import { isServed } from "../state/unserved-kind.ts";

/** Reads the ServiceAccount itself: impersonating one that does not exist would fail with an unclear message. */
export const readServiceAccount = (txn: Transaction): ApiCall => ({
  purpose: "read-service-account",
  as: "controller",
  call: {
    verb: "get",
    place: { resource: serviceAccounts, namespace: txn.metadata.namespace, name: txn.spec.serviceAccountName },
  },
  untilDone: true,
  folds: [{ type: "service-account-read" }],
});

/** Sends the change as a dry run. */
const dryRun = (
  txn: Transaction,
  item: ResolvedItem,
  { object }: TargetObservation,
  mayBeUnserved: boolean,
  keep: KeepDryRun,
): ApiCall => ({
  purpose: "dry-run",
  item: item.index,
  as: "serviceAccount",
  dryRun: true,
  mayBeUnserved,
  call: writeOf(txn, item, object),
  folds: [{ type: "change-tried", change: item.change, target: object, keep }],
});

/** The kinds of locks, journals and snapshots. */
const KEPT: readonly string[] = ["Lease", "ConfigMap", "Secret"];

/** Whether a value says nothing: what tools write for a status that is still to come. */
const isBlank = (value: Json): boolean =>
  isObject(value) || Array.isArray(value)
    ? Object.values(value).every(isBlank)
    : value === null || value === "" || value === 0 || value === false;

/** Checks of a change against its live target. */
const liveChecks: readonly ((item: ResolvedItem, seen: TargetObservation) => string | undefined)[] = [
  ({ change, place }, { object }) =>
    change.type === "Create" && object !== undefined
      ? `${formatRef(place)} exists already: use Update or Patch, or delete it in an earlier Transaction`
      : undefined,
  ({ change, place }, { object }) =>
    change.type !== "Create" && object === undefined
      ? `${formatRef(place)} not found: ${change.type === "Delete" ? "remove this change" : "use Create"}`
      : undefined,
  ({ place }, { object }) => {
    const labels = object?.metadata.labels ?? {};
    return KEPT.includes(place.resource.kind) && labels[MANAGED_BY_LABEL] === MANAGED_BY && TRANSACTION_LABEL in labels
      ? `${formatRef(place)} belongs to Janus (Transaction ${labels[TRANSACTION_LABEL]}) and cannot be a target`
      : undefined;
  },
  ({ place }, { object }) => {
    if (object?.metadata.deletionTimestamp === undefined) return undefined;
    const { finalizers = [] } = object.metadata;
    const remedy = finalizers.length === 0 ? "" : `, or remove its finalizers (${finalizers.join(", ")})`;
    return `${formatRef(place)} is being deleted: wait until it is gone${remedy}`;
  },
  ({ change, place }, { object }) =>
    object !== undefined &&
    change.resourceVersion !== undefined &&
    change.resourceVersion !== object.metadata.resourceVersion
      ? `${formatRef(place)} is at resourceVersion ${object.metadata.resourceVersion}, but the change requires ${change.resourceVersion}: review the new version, and create a Transaction for it`
      : undefined,
  ({ change, place }, { object }) => {
    const uid = change.type === "Delete" ? undefined : asObject(change.content["metadata"])["uid"];
    return object === undefined || uid === undefined || uid === object.metadata.uid
      ? undefined
      : `${formatRef(place)} has the uid ${object.metadata.uid}, and content.metadata.uid does not match: remove it, or correct the target`;
  },
  ({ change, place }, { object }) => {
    const status = change.type === "Delete" || !place.resource.statusSubresource ? undefined : change.content["status"];
    return status === undefined || isBlank(status) || equal(status, object?.["status"])
      ? undefined
      : `the status of ${formatRef(place)} cannot be set, since it is a subresource: remove it from the content`;
  },
  ({ change, place }, { object }) => {
    if (change.type !== "Patch" || change.isApply === true || object === undefined) return undefined;
    const at = nullInWhole(object as JsonObject, change.content, fieldsOf(entriesOf(object)));
    return at === undefined
      ? undefined
      : `${at} of ${formatRef(place)} is replaced as a whole, so null in it would remove all of its other keys: write all that it shall have`;
  },
  ({ change, place }, { object }) => {
    if (change.type !== "Patch" || change.isApply === true || object === undefined) return undefined;
    const at = nullInUnknownList(object as JsonObject, change.content, fieldsOf(entriesOf(object)));
    return at === undefined
      ? undefined
      : `nobody manages ${at} of ${formatRef(place)}, so that it is unknown of which item null would remove a field: apply the list as it is first, in a Transaction of its own`;
  },
  ({ change, place }, { object }) => (object === undefined ? undefined : unclearMerge(change, place, object)),
];

/** Problems that the live target shows. */
export const liveProblems = (item: ResolvedItem, known: Observations): readonly string[] => {
  const { target: seen } = changeIn(known, item.index);
  return seen === undefined ? [] : liveChecks.flatMap((check) => check(item, seen) ?? []);
};

/** The requests that are still needed for the preflight of this change. */
export const examine = (
  txn: Transaction,
  known: Observations,
  item: ResolvedItem,
  keep: KeepDryRun,
): readonly ApiCall[] => {
  const { target: seen } = changeIn(known, item.index);
  const mayBeUnserved = !isServed(known, item.place.resource);
  if (seen === undefined) {
    // A target needs a snapshot before the first change, except for a Create.
    const isForNow = item.change.type === "Create" && dependsOnEarlier(txn, item.index);
    return [{ ...readTarget(item, { type: "target-unreadable", isForNow }), mayBeUnserved }];
  }
  if (liveProblems(item, known).length > 0) return [];
  const more =
    seen.type === "read"
      ? [...regranting(txn, known, item, seen.object), ...readOtherVersions(txn, item, known, seen.object)]
      : [];
  const owners = readNewOwners(known, item);
  return trialIn(known, item.index) === undefined
    ? [dryRun(txn, item, seen, mayBeUnserved, keep), ...owners, ...more]
    : [...owners, ...more];
};

/** Describes what the change to this object, or its snapshot, loses, and no rollback could restore. */
export const versionProblems = (
  item: ResolvedItem,
  known: Observations,
  object: KubeObject | undefined,
): readonly string[] => {
  const loss = object === undefined ? undefined : lossOf(item, known, object);
  if (loss === undefined) return [];
  const { message, apiVersion } = loss;
  return apiVersion === undefined
    ? [message]
    : [`${message}, and a rollback could not restore it: set target.apiVersion to ${apiVersion}`];
};

/** All problems of a change. */
export const problems = (txn: Transaction, item: ResolvedItem, known: Observations): readonly string[] => {
  const { target } = changeIn(known, item.index);
  return [
    ...(trialIn(known, item.index)?.problems ?? liveProblems(item, known)),
    ...missingPermissions(txn, item, known),
    ...(target?.object === undefined ? [] : refusedGrants(txn, item, known, target.object)),
    ...versionProblems(item, known, target?.object),
    ...missingOwners(item, known),
  ];
};
