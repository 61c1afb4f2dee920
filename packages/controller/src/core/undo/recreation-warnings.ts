// Warns of what could not be restored in an object that was created again.
import { equal, isEmpty, type KubeObject } from "@janus/types";
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
 * Guarantees: the API server and admission are named for sure only for what the answers to our own writes show. Where these were
 *             lost, what differs may as well be of another client that has written since.
 *
 * @example
 *   Service shop/web: spec.clusterIP was 10.0.1.2, now 10.0.3.4
 *   StatefulSet shop/db: deleted with it, and not restored: PersistentVolumeClaim data-db-0
 */
export const recreationWarning = (undoContext: UndoContext, before: KubeObject): string | undefined => {
  const { place, seen } = undoContext;
  const wanted = recreatable(undoContext, before);
  const live = seen.object ?? wanted;
  const dependents = lostDependents(undoContext, before);
  const warnings = [
    ...leftOut(before, wanted),
    ...(isService(place.resource) ? reallocated(wanted, live) : []),
    ...differences(undoContext, wanted, live),
    ...(dependents === undefined ? [] : [`deleted with it, and not restored: ${dependents}`]),
  ];
  return warnings.length === 0 ? undefined : `${formatRef(place)}: ${warnings.join("; ")}`;
};

/** Names the fields that differ in it, and who has made them so, as far as the answers to our own writes show. */
const differences = (undoContext: UndoContext, wanted: KubeObject, live: KubeObject): readonly string[] => {
  const { place } = undoContext;
  const goal = goalOf(undoContext, wanted, live);
  const isAnswered = knownGoal(undoContext) !== undefined;
  const isAsAnswered = ({ b, other }: DifferingField): boolean => isAnswered && equal(b, other);
  const [made, changed] = parted(changedFields(wanted, goal, live, place), isAsAnswered);
  const wasThere = ({ other }: DifferingField): boolean => isAnswered && other !== undefined;
  const [removed, lost] = parted(lostFields(withoutGenerated(wanted), live, goal, place), wasThere);
  const notRestored = isAnswered
    ? "the API server did not restore"
    : "the API server did not restore, or another client has removed,";
  return [
    ...named("the API server or admission has set other values for", made),
    ...named("the API server, admission or another client has set other values for", changed),
    ...named(notRestored, lost),
    ...named("another client has removed", removed),
  ];
};

const parted = (fields: readonly DifferingField[], is: (field: DifferingField) => boolean) =>
  [fields.filter(is), fields.filter((field) => !is(field))] as const;

const named = (what: string, fields: readonly DifferingField[]): readonly string[] =>
  fields.length === 0 ? [] : [`${what} ${showPaths(firstPaths(fields))}`];

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

/** Fields to which the API server or admission has given other values than before. `other`: those of now, which are not the former ones. */
const changedFields = (
  before: KubeObject,
  goal: KubeObject,
  live: KubeObject,
  place: ObjectRef,
): readonly DifferingField[] => {
  const [was, is, now] = [before, goal, live].map((object) => comparable(object, place));
  return differingItems(was, is, now).filter(({ a, b, other }) => b !== undefined && !equal(a, other));
};

/**
 * Fields that have lost their value, except for allocations, and for owners, which are restored later. `other`: what the API server
 * has made of it, as in `goal`.
 */
const lostFields = (
  before: KubeObject,
  live: KubeObject,
  goal: KubeObject,
  place: ObjectRef,
): readonly DifferingField[] => {
  const { ownerReferences: _, ...metadata } = before.metadata;
  const [was, is, made] = [{ ...before, metadata }, live, goal].map((object) => writable(object, place));
  return differingFields(was, is, made).filter(
    ({ a, b, path }) => b === undefined && !isEmpty(a) && !isAllocated(place.resource, path),
  );
};
