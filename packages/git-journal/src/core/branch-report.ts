// Reports what became of the destinations of a branch.
import { toTimestamp } from "@janus/types";
import type { BranchState, DestinationState } from "./branch-state.ts";
import { pendingOf } from "./branch-step.ts";
import type { Readiness } from "./conditions.ts";
import { type DestinationReport, placeOf } from "./journaled-branch.ts";
import { entriesOf } from "./large-map.ts";
import { isWithin } from "./path.ts";

/** The key as users write it: `deployments.apps`, `configmaps`. */
const shownKey = (key: string): string => key.replace(/\.$/u, "");

/** The most objects in a message: there may be thousands. */
const MOST = 5;

const shortened = (texts: readonly string[], key: string): readonly string[] => [
  ...texts.slice(0, MOST).map((text) => `${shownKey(key)}: ${text}`),
  ...(texts.length > MOST ? [`${shownKey(key)}: ${texts.length - MOST} more`] : []),
];

const incompleteOf = ({ resources }: DestinationState): readonly string[] =>
  [...resources].flatMap(([key, { list, spared }]) => [
    ...(list.is === "failed" ? [`${shownKey(key)}: ${list.because}`] : []),
    ...shortened([...new Set([...entriesOf(spared).values()].flatMap(({ because }) => because ?? []))], key),
  ]);

const failed = (reason: string, message: string, lasts: boolean): Readiness => ({
  type: "failed",
  reason,
  message,
  lasts,
});

const readinessOf = (state: BranchState, destination: DestinationState): Readiness => {
  const { wanted, ownership } = destination;
  const { folder } = wanted.destination;
  const place = `branch ${state.branch.branch} of ${state.branch.repository.key}`;
  if (wanted.isBlocked)
    return failed("OwnershipConflict", `another destination has the same folder of ${place}: nothing is written`, true);
  if (ownership?.type === "anothers" && ownership.isBlocked)
    return failed("OwnershipConflict", ownership.message, true);
  const { trouble, lease, comparison } = state;
  if (trouble !== undefined) return failed(trouble.reason, trouble.message, trouble.lasts);
  if (lease === "anothers" && pendingOf(state) > 0)
    return failed(
      "LeaseHeld",
      `another controller holds the Lease git-${state.branch.key} of ${place}, and may be writing it`,
      false,
    );
  const conflict = comparison?.conflicts.find(({ path }) => isWithin(folder, path));
  if (conflict !== undefined)
    return failed("PathConflict", `${conflict.path} is not written: ${conflict.because}: move it away`, true);
  const incomplete = incompleteOf(destination);
  if (incomplete.length > 0) return failed("ListIncomplete", incomplete.join("; "), false);
  return state.hasSettled
    ? { type: "ready", reason: "Ready", message: `${place} says what is live` }
    : { type: "progressing", reason: "Validating", message: `${place} is being compared with what is live` };
};

/** Whether the folder has our marker, which is in the first commit. */
const isOwner = ({ ownership, lastCommit }: DestinationState): boolean =>
  ownership?.type === "ours" || (ownership?.type === "free" && lastCommit !== undefined);

/** Reports what became of a destination. */
export const reportOf = (state: BranchState, destination: DestinationState): DestinationReport => {
  const { ownership, resources, lastCommit, lastPush, pushed } = destination;
  return {
    readiness: readinessOf(state, destination),
    ...(isOwner(destination) ? { owns: placeOf(state.branch.key, destination.wanted.destination.folder) } : {}),
    ...(ownership?.type === "anothers" ? { conflict: ownership.message } : {}),
    ...(lastCommit === undefined ? {} : { lastCommit }),
    ...(lastPush === undefined ? {} : { lastPushTime: toTimestamp(lastPush) }),
    pushed,
    objects: [...resources.values()].reduce((sum, { objects }) => sum + objects.size, 0),
    pending: pendingOf(state),
  };
};
