// Folds the answers in the turn of a change into the observations, and decides why to abort where an answer alone tells.
import { classify, deniedVerb, isAbsent, isUnserved, mayBeApplied, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { formatRef, ownerUids, terminatingMessage } from "../kubernetes/kube-object.ts";
import { isMarked } from "../merge/marks.ts";
import type { ChangeFault, ChangeFold } from "../state/fold.ts";
import type { Faults, Folds } from "../state/folding.ts";
import { type AbortCause, type Attempt, sentWrite, unansweredSince } from "../state/forward-observations.ts";
import { changeIn, forwardIn, type Observations, withAborted, withChange, withForward } from "../state/observations.ts";
import { stillUnanswered } from "../state/target-observations.ts";
import { dependsOnEarlier } from "../state/target-resolution.ts";
import { isPremature, refusalOf } from "./read-target.ts";

/** The target is to be read, which shows whether it was applied. */
const attempted = (known: Observations, index: number, attempt: Attempt): Observations =>
  withForward(withChange(known, index, { target: undefined }), index, { write: attempt });

/** What is known of the deletion does not count for the create; but where a write may still be in flight, it may be either. */
const withoutDeletion = (known: Observations, index: number): Observations => {
  const sent = unansweredSince(sentWrite(forwardIn(known, index).write));
  return withForward(known, index, { write: sent === undefined ? undefined : { type: "unanswered", sent } });
};

export const changeFolds: Folds<ChangeFold> = {
  "permissions-awaited": (known, _, { effect: { item: index = -1 }, at }) => {
    const former = changeIn(known, index).enabling;
    const since = former?.permissionsReadAt === undefined ? at : former.since;
    return withChange(known, index, { enabling: { since, permissionsReadAt: at } });
  },
  "late-check-made": (known, _, { effect: { item: index = -1 }, at }) => {
    const { since = at } = forwardIn(known, index).lateCheck ?? {};
    return withForward(known, index, { lateCheck: { since, at } });
  },
  "managers-folded": (known, _, { effect: { item: index = -1 } }) => withForward(known, index, { isFolded: true }),
  "change-written": (known, _, { effect: { item: index = -1, call }, answer, at, sent }, { txn }) => {
    if (E.isRight(answer)) {
      const { metadata } = answer.right;
      const isTerminating = metadata?.deletionTimestamp !== undefined;
      if (call.verb === "delete" && isTerminating) return attempted(known, index, { type: "accepted", sent });
      // It was being deleted when it was read; no new version shows this.
      if (call.verb !== "create" && isTerminating)
        return withAborted(known, index, {
          reason: "ConflictDetected",
          message: terminatingMessage(call.place, answer.right),
          fate: "applied",
        });
      const created = call.verb === "create" ? { created: metadata.uid ?? "" } : {};
      const isUnmarked = call.verb !== "delete" && !isMarked(answer.right, txn.metadata.uid);
      const unmarked = isUnmarked ? { isUnmarked: true as const } : {};
      return withForward(known, index, { write: { type: "made", ...created, ...unmarked } });
    }
    const fault = answer.left;
    const code = fault.type === "refused" ? fault.code : 0;
    const unanswered = unansweredSince(sentWrite(forwardIn(known, index).write));
    const earlier = unanswered === undefined ? {} : { unanswered };
    const isConflict = fault.type === "refused" && fault.reason === "Conflict";
    const moved = isAbsent(fault) || isConflict ? { moved: true as const } : {};
    const refused: Attempt = { type: "refused", sent, code, message: messageOf(fault), ...moved, ...earlier };
    const mayComeYet = code === 404 || classify(fault) === "conflict" || (code === 403 && dependsOnEarlier(txn, index));
    // Not every rejection comes from the API server.
    return withChange(attempted(known, index, refused), index, {
      enabling: changeIn(known, index).enabling ?? (mayComeYet ? { since: at } : undefined),
    });
  },
  "fate-read": (known, { index }) => withForward(known, index, { unread: undefined }),
  "fate-unreadable": (known, { change }, { effect: { item: index = -1, call }, answer, at }, { txn }) => {
    if (isPremature(txn, known, { index, change })) return withChange(known, index, { target: { type: "absent", at } });
    if (E.isRight(answer)) return known;
    const write = sentWrite(forwardIn(known, index).write);
    const refused = (fate: AbortCause["fate"], message: string): Observations =>
      withAborted(known, index, { reason: "CommitFailed", message, fate });
    // The ServiceAccount has lost its permissions: it may write no more than it may read.
    const isDenied = deniedVerb(answer.left) !== undefined && write?.type === "refused" && write.code === 403;
    return isDenied && write.unanswered === undefined
      ? refused("rejected", refusalOf({ change, place: call.place }, write.message))
      : refused("unknown", `${formatRef(call.place)} cannot be read: ${messageOf(answer.left)}`);
  },
  "snapshot-renewed": (known, { index, before, replaces }, { answer }) => {
    const after = withForward(known, index, { write: undefined });
    return {
      ...withChange(after, index, { before, ownersBefore: ownerUids(before), target: undefined }),
      ...(E.isRight(answer) ? { obsolete: replaces } : {}),
    };
  },
  "deletion-recorded": (known, { index }) => withoutDeletion(known, index),
};

export const changeFaults: Faults<ChangeFault> = {
  "change-maybe-written": (known, { index }, { error, at }) => {
    if (mayBeApplied(error)) return attempted(known, index, { type: "unanswered", sent: at });
    return isUnserved(error) ? withForward(known, index, { metUnserved: true }) : known;
  },
  "fate-unread": (known, { index }, { error, at }) =>
    withForward(known, index, { unread: stillUnanswered(forwardIn(known, index).unread, error, at) }),
  "fate-asked-again": (known, { index }) => withForward(known, index, { unread: undefined }),
  "kinds-asked-again": (known) => ({ ...known, undiscovered: undefined }),
  "deletion-maybe-recorded": (known, { index }) => withoutDeletion(known, index),
};
