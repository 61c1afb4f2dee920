// Computes the state to restore where admission mutates it.
import * as E from "fp-ts/lib/Either.js";
import type { KubeObject } from "@janus/types";
import { formatRef } from "../kubernetes/kube-object.ts";
import { differingItems, firstPaths } from "../merge/server-mutations.ts";
import { showPaths } from "../merge/show-path.ts";
import { stateOf } from "../state/journal.ts";
import { rollbackIn } from "../state/observations.ts";
import { mustConceal } from "../state/sensitive-kinds.ts";
import { unallocated, withoutAllocations } from "./service-allocations.ts";
import type { UndoContext, UndoStep } from "./undo-context.ts";
import { POLL_INTERVAL, SETTLING } from "../state/waits.ts";

/** A field of a DaemonSet. The API server counts it itself, whatever else is in the cluster. */
const GENERATION = "f:deprecated.daemonset.template.generation";

/** Whether an earlier change is still to be rolled back, and does not wait for this one itself. */
const isAnyEarlierLeft = ({ context: { txn }, journal, index }: UndoContext): boolean =>
  txn.status.items.some(
    ({ state }, other) =>
      other < index &&
      journal.deferred.get(other)?.isBehind !== true &&
      stateOf(state, other, journal).type === "committed",
  );

/**
 * The state that an edited target is to be restored to: the former object, but for values that the API server or admission sets, as
 * the answers to our PUTs show. Those are asked for once more when whatever may be the reason for them is rolled back: a policy, a
 * webhook or what it depends on, which an earlier change has created, or which another item has just taken away. Left: what is waited
 * for until then.
 */
export const editGoal = (undoContext: UndoContext, before: KubeObject): E.Either<UndoStep, KubeObject> => {
  const { place, change, index, context } = undoContext;
  const { known, now, settings } = context;
  const { goal, goalAt = now, taken = [] } = rollbackIn(known, index);
  if (goal === undefined) return E.right(before);
  const [was, is] = [before, goal].map((object) => unallocated(place.resource, object));
  const fields = differingItems(was, is).filter(({ path }) => path().at(-1) !== GENERATION);
  if (fields.length === 0) return E.right(goal);
  const because = `${formatRef(place)}: the API server or admission sets ${showPaths(firstPaths(fields), mustConceal(place.resource, change, settings))}`;
  if (isAnyEarlierLeft(undoContext))
    return E.left({ type: "defer", because: `${because}: restored once more after the changes before it` });
  if (known.admissionAt === undefined || goalAt >= known.admissionAt + SETTLING) return E.right(goal);
  const until = goalAt + POLL_INTERVAL;
  return now < until
    ? E.left({ type: "wait", until, because: `trying again: ${because}` })
    : E.right(withoutAllocations(before, taken));
};
