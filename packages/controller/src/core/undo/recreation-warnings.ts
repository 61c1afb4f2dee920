// Warns of what could not be restored in an object that was created again.
import { isEmpty, type KubeObject } from "@janus/types";
import { type ObjectRef, formatRef } from "../kubernetes/kube-object.ts";
import { claimsDeletedBy } from "../kubernetes/deleted-claims.ts";
import { withoutEphemeral } from "../merge/ephemeral-containers.ts";
import { withoutGenerated } from "../merge/job-selector.ts";
import { type DifferingField, differingFields, differingItems, firstPaths } from "../merge/server-mutations.ts";
import { showPaths } from "../merge/show-path.ts";
import { writable } from "../merge/write-body.ts";
import { recordedBefore } from "../snapshots/prior-state.ts";
import { goalOf, knownGoal, recreatable } from "./recreated-object.ts";
import { isAllocated, isService, reallocated, unallocated } from "./service-allocations.ts";
import type { UndoContext } from "./undo-context.ts";

/**
 * Warns of what is not as before in an object that was created again: values that the API server did not restore, and what the
 * garbage collector deleted with it. Undefined: nothing.
 *
 * @example
 *   Service shop/web: spec.clusterIP was 10.0.1.2, now 10.0.3.4
 *   StatefulSet shop/db: deleted with it, and not restored: PersistentVolumeClaim data-db-0
 */
export const recreationWarning = (undoContext: UndoContext, before: KubeObject): string | undefined => {
  const { place, seen } = undoContext;
  const wanted = recreatable(undoContext, before);
  const live = seen.object ?? wanted;
  const goal = goalOf(undoContext, wanted, live);
  const changed = changedFields(wanted, goal, place);
  const whoever = knownGoal(undoContext) === undefined ? "admission, or another client," : "admission";
  const lost = lostFields(withoutGenerated(wanted), live, place);
  const dependents = lostDependents(undoContext, before);
  const warnings = [
    ...leftOut(before, wanted),
    ...(isService(place.resource) ? reallocated(wanted, live) : []),
    ...(changed.length === 0 ? [] : [`${whoever} has set other values for ${showPaths(firstPaths(changed))}`]),
    ...(lost.length === 0 ? [] : [`the API server did not restore ${showPaths(firstPaths(lost))}`]),
    ...(dependents === undefined ? [] : [`deleted with it, and not restored: ${dependents}`]),
  ];
  return warnings.length === 0 ? undefined : `${formatRef(place)}: ${warnings.join("; ")}`;
};

/** The parts that were not even tried to be created again: of a Pod, or of a Secret with a token. */
const leftOut = (before: KubeObject, wanted: KubeObject): readonly string[] => {
  if (wanted === before) return [];
  return withoutEphemeral(before) === before
    ? ["it has a new token, of its new ServiceAccount"]
    : ["its ephemeral containers were not restored"];
};

/** Claims go with a StatefulSet also where the ServiceAccount could not list them. */
const lostDependents = ({ context: { txn }, journal, index, change }: UndoContext, before: KubeObject) => {
  const recorded = recordedBefore(txn, journal, index);
  return (recorded.existed ? recorded.dependents : undefined) ?? claimsDeletedBy(change, before)?.names;
};

/** The object without allocations and generated values: these are reported separately, or irrelevant. */
const comparable = (object: KubeObject, { resource }: ObjectRef): KubeObject =>
  unallocated(resource, withoutGenerated(object));

/** Fields to which the API server or admission has given other values than before. */
const changedFields = (before: KubeObject, goal: KubeObject, place: ObjectRef): readonly DifferingField[] => {
  const [was, is] = [before, goal].map((object) => comparable(object, place));
  return differingItems(was, is).filter(({ b }) => b !== undefined);
};

/** Fields that have lost their value, except for allocations, and for owners, which are restored later. */
const lostFields = (before: KubeObject, live: KubeObject, place: ObjectRef): readonly DifferingField[] => {
  const { ownerReferences: _, ...metadata } = before.metadata;
  const [was, is] = [{ ...before, metadata }, live].map((object) => writable(object, place));
  return differingFields(was, is).filter(
    ({ a, b, path }) => b === undefined && !isEmpty(a) && !isAllocated(place.resource, path),
  );
};
