// Undoes an edit, that is a Patch or an Update: restores the fields that the change has set.
import * as E from "fp-ts/lib/Either.js";
import { type DifferingField, differingItems, firstPaths } from "../merge/server-mutations.ts";
import { desiredState, writable } from "../merge/write-body.ts";
import type { Path } from "../merge/field-set.ts";
import { showPaths } from "../merge/show-path.ts";
import { deletedWhenFinished } from "../kubernetes/finished-job.ts";
import { reclaimedAtOnce } from "../kubernetes/reclaim-policy.ts";
import { claimsDeletedBy } from "../kubernetes/deleted-claims.ts";
import { modifiedBy } from "../merge/field-managers.ts";
import { lossOf, readOtherVersions } from "../state/other-versions.ts";
import { mustConceal } from "../state/sensitive-kinds.ts";
import { rollbackIn } from "../state/observations.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { withRelinkedOwners, withNewOwners } from "../snapshots/owner-references.ts";
import { asUpdate } from "../merge/take-over.ts";
import { isMarked } from "../merge/marks.ts";
import { restoration } from "../merge/restore-update.ts";
import {
  conflict,
  continues,
  putCall,
  rollbackFailed,
  restoring,
  type UndoStep,
  type UndoContext,
} from "./undo-context.ts";
import { isService, reallocated, unallocated } from "./service-allocations.ts";
import { formerClaims } from "./former-claims.ts";
import { unseen } from "./namespace-contents.ts";
import { editGoal } from "./mutated-goal.ts";
import { deletedTogetherWith } from "./deleted-together.ts";
import { asObject, equal, type KubeObject, type Resource } from "@janus/types";

/** The most PUTs: after so many, something reverts each of them. */
const MOST_PUTS = 10;

/** Names what the cluster would destroy at once if this object were restored. */
const lostWith = (
  { group, kind }: Resource,
  body: object,
  live: KubeObject,
): { readonly field: string; readonly what: string } | undefined => {
  if (group === "" && kind === "PersistentVolume") return reclaimedAtOnce(body, live);
  const what = deletedWhenFinished(body, live);
  return what === undefined ? undefined : { field: "ttlSecondsAfterFinished", what };
};

/** Sends PUTs until the object has no field of ours. */
export const undoEdit = (undoContext: UndoContext, before: KubeObject): UndoStep => {
  const { seen, place, change, context, journal, index } = undoContext;
  const { txn, known } = context;
  const { object } = seen;
  if (object === undefined) {
    const owner = deletedTogetherWith(undoContext, before);
    return owner === undefined
      ? conflict(`${formatRef(place)} was deleted by another client`)
      : rollbackFailed(`${formatRef(place)} was deleted together with ${owner}`);
  }
  if (object.metadata.uid !== before.metadata.uid)
    return conflict(`${formatRef(place)} was deleted and created again by another client: left unchanged`);
  // Without a mark of ours: the values of another client stay.
  if (journal.doubted.has(index) && !isMarked(object, txn.metadata.uid))
    return equal(writable(object, place), writable(before, place))
      ? { type: "restored" }
      : conflict(
          `${formatRef(place)} has changed, and it is unknown whether this Transaction changed it: left unchanged`,
        );
  const wanted = editGoal(undoContext, before);
  if (E.isLeft(wanted)) return wanted.left;
  const goal = wanted.right;
  const { goal: made = before, puts: count = 0, yieldsToOthers } = rollbackIn(known, index);
  // Where the former values are asked for once more, they are counted anew.
  const puts = goal === made ? count : 0;
  // Owners that were deleted and are there again have another uid; the garbage collector may have taken them out meanwhile.
  const live = withRelinkedOwners(txn, journal, before, object);
  const former = withNewOwners(txn, journal, goal);
  const { put, conflicts, unclaimed } = restoration(change, place, former, live, txn.metadata, yieldsToOthers);
  if (put === undefined && live === object && object.metadata.deletionTimestamp !== undefined)
    return conflict(
      `${formatRef(place)} is being deleted by another client: the fields that the change set were restored`,
    );
  if (put === undefined && live === object)
    return conflicts.length === 0
      ? restoredOrFailed(undoContext, before, goal, unclaimed)
      : conflict(
          `${formatRef(place)}: ${showPaths(conflicts, mustConceal(place.resource, change, context.settings))} was modified by ${modifiedBy(object, conflicts)} since: not restored`,
        );
  if (puts >= MOST_PUTS) return conflict(`${formatRef(place)}: another client modifies it each time it is restored`);
  const reading = readOtherVersions(txn, undoContext, known, object, before);
  if (reading.length > 0) return continues(...reading);
  const loss = lossOf(undoContext, known, object);
  if (loss !== undefined) return conflict(`${loss.message}: not restored`);
  const body = put ?? live;
  const lost = lostWith(place.resource, body, object);
  if (lost !== undefined)
    return conflict(
      `${formatRef(place)}: restoring its ${lost.field} ${lost.what}: not restored; if that is wanted, set it by hand`,
    );
  const held = formerClaims(undoContext, {
    type: "Update",
    target: change.target,
    content: writable(asObject(body), place),
  });
  if (held !== undefined) return held;
  const edit = { puts, ...(yieldsToOthers ? {} : { insists: { change, former, live, put } }) };
  return continues(restoring(undoContext, putCall(undoContext, body), { goal, edit }));
};

/** Whether the change set it, or the API server has left it out. `other`: what the change was to set. */
const isOfChange = ({ a, b, other }: DifferingField): boolean =>
  b === undefined || (other !== undefined && !equal(other, a));

/**
 * Rolled back, except for allocations that another Service has now, and values that the API server or admission sets. It is not
 * rolled back if the API server keeps a value that the change set, or leaves out one that the change removed.
 */
const restoredOrFailed = (
  undoContext: UndoContext,
  before: KubeObject,
  goal: KubeObject,
  unclaimed: readonly Path[],
): UndoStep => {
  const { change, place, context, seen } = undoContext;
  const { settings } = context;
  const allocations = isService(place.resource) ? reallocated(before, goal) : [];
  const all = [before, goal, seen.object ?? goal];
  const [was, is, now] = allocations.length === 0 ? all : all.map((object) => unallocated(place.resource, object));
  const fields = differingItems(was, is, desiredState(change, place, before));
  const shown = (paths: readonly Path[]): string => showPaths(paths, mustConceal(place.resource, change, settings));
  const show = (some: readonly DifferingField[]): string => shown(firstPaths(some));
  if (fields.some(isOfChange))
    return rollbackFailed(`${formatRef(place)}: the API server does not restore ${show(fields.filter(isOfChange))}`);
  // Restored as far as that is possible; but what was in the volumes is lost, so it does not count as rolled back.
  const claims = claimsDeletedBy(asUpdate(change, place, before), before);
  if (claims !== undefined)
    return rollbackFailed(
      `${formatRef(place)}: the change deletes ${claims.names}, which cannot be restored: restore the volumes from a backup`,
    );
  // The answers to our PUTs show what the API server or admission has set; another client may have set it again since.
  const differing = differingItems(was, is, now).filter(({ a, other }) => !equal(a, other));
  const made = differing.filter(({ b, other }) => equal(b, other));
  const changed = [...unclaimed, ...firstPaths(differing.filter(({ b, other }) => !equal(b, other)))];
  const warnings = [
    ...(allocations.length === 0 ? [] : [`${formatRef(place)}: ${allocations.join("; ")}`]),
    ...(made.length === 0
      ? []
      : [`${formatRef(place)}: the API server or admission sets ${show(made)}: left unchanged`]),
    ...(changed.length === 0
      ? []
      : [`${formatRef(place)}: the API server, admission or another client has set ${shown(changed)}: left unchanged`]),
    ...[unseen(undoContext) ?? []].flat(),
  ];
  return warnings.length === 0 ? { type: "restored" } : { type: "restored", warning: warnings.join("; ") };
};
