// Reads the target of the change that is being applied.
import type { Transaction } from "@janus/api";
import type { ApiCall } from "../state/effect.ts";
import { forwardIn, type Observations } from "../state/observations.ts";
import { sentWrite } from "../state/forward-observations.ts";
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
export const isPremature = (
  txn: Transaction,
  known: Observations,
  { index, change }: Pick<ResolvedItem, "index" | "change">,
): boolean => {
  const write = sentWrite(forwardIn(known, index).write);
  const isUnmade = write?.type === "refused" && [403, 404].includes(write.code) && write.unanswered === undefined;
  return change.type === "Create" && isUnmade && dependsOnEarlier(txn, index);
};

/**
 * Reads the target, to find out whether the change was applied. One that cannot be read does not show that, unless the write was
 * rejected for the same reason.
 */
export const readChangedTarget = (changeContext: ChangeContext): ApiCall => {
  const { context, index, change, place } = changeContext;
  const { txn, known } = context;
  const mayBeUnserved = !isServed(known, place.resource) && isPremature(txn, known, changeContext);
  return { ...telling(readTarget(changeContext, { type: "fate-unreadable", change }), index), mayBeUnserved };
};

/** The message that the API server, or a proxy, rejects the change. */
export const refusalOf = ({ change, place }: Pick<ResolvedItem, "change" | "place">, message: string): string =>
  `the API server refused to ${change.type.toLowerCase()} ${formatRef(place)}: ${message}${replaceHint(change, message)}`;
