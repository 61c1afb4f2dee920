// Reads the target of the change that is being applied.
import * as E from "fp-ts/lib/Either.js";
import type { ApiCall, Closure } from "../state/effect.ts";
import { deniedVerb, messageOf } from "@janus/types";
import { forwardIn, type Observations, withAborted, withChange } from "../state/observations.ts";
import { type AbortCause, sentWrite } from "../state/forward-observations.ts";
import { replaceHint } from "../kubernetes/immutable-fields.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { dependsOnEarlier } from "../state/target-resolution.ts";
import { readTarget, type ResolvedItem } from "../state/resolved-changes.ts";
import { isServed } from "../state/unserved-kind.ts";
import type { ChangeContext } from "./change-context.ts";
import { telling } from "./last-look.ts";

/**
 * A Create was rejected because the permissions or the kind that an earlier change has just brought were not
 * effective yet: it was not applied.
 */
const isPremature = ({ change, index, context: { txn } }: ChangeContext, known: Observations): boolean => {
  const write = sentWrite(forwardIn(known, index).write);
  const isUnmade = write?.type === "refused" && [403, 404].includes(write.code) && write.unanswered === undefined;
  return change.type === "Create" && isUnmade && dependsOnEarlier(txn, index);
};

/** Reads the target, to find out whether the change was applied. */
export const observeTarget = (changeContext: ChangeContext): ApiCall => {
  const { context, place } = changeContext;
  const mayBeUnserved = !isServed(context.known, place.resource) && isPremature(changeContext, context.known);
  return { ...telling(readTarget(changeContext, onRefusedRead(changeContext)), changeContext.index), mayBeUnserved };
};

/**
 * A target that cannot be read does not show whether the change was applied, unless the write was rejected for
 * the same reason.
 */
const onRefusedRead =
  (changeContext: ChangeContext): Closure =>
  (known, answer, now) => {
    const { index, place } = changeContext;
    if (isPremature(changeContext, known)) return withChange(known, index, { target: { type: "absent", at: now } });
    const write = sentWrite(forwardIn(known, index).write);
    const refused = (fate: AbortCause["fate"], message: string): Observations =>
      withAborted(known, index, { reason: "CommitFailed", message, fate });
    if (E.isRight(answer)) return known;
    // The ServiceAccount has lost its permissions: it may write no more than it may read.
    const isDenied = deniedVerb(answer.left) !== undefined && write?.type === "refused" && write.code === 403;
    return isDenied && write.unanswered === undefined
      ? refused("rejected", refusalOf(changeContext, write.message))
      : refused("unknown", `${formatRef(place)} cannot be read: ${messageOf(answer.left)}`);
  };

/** The message that the API server, or a proxy, rejects the change. */
export const refusalOf = ({ change, place }: ResolvedItem, message: string): string =>
  `the API server refused to ${change.type.toLowerCase()} ${formatRef(place)}: ${message}${replaceHint(change, message)}`;
