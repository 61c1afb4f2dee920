// Reports in the status that a request fails and is retried.
import { cut } from "@janus/api";
import type { ApiCall, Effect, EventSpec } from "./effect.ts";
import { messageOf, type Instant, type ApiError } from "@janus/types";
import type { Observations } from "./observations.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { isTerminal, updateStatus } from "./status-update.ts";
import { WAITING } from "./conditions.ts";
import { deadline, type ReconcileContext } from "./reconcile-context.ts";

/** Failures that end within this time, in ms, are not reported. */
const BRIEF = 2000;
/** Lasting failures are reported at most this often, in ms, since the message may change each time. */
const TELL_AGAIN = 30_000;

const VERBS = {
  get: "read",
  create: "create",
  update: "update",
  apply: "change",
  mergePatch: "change",
  delete: "delete",
} as const;

/** Requests succeed again. */
export const withoutRetry = (known: Observations): Observations => {
  const { retryingSince: _, ...rest } = known;
  return rest;
};

/** The time until spec.timeout aborts the Transaction, in ms: no backoff is longer than this. */
export const timeLeft = (context: ReconcileContext): number => {
  const { phase } = context.txn.status;
  const left = deadline(context) - context.now;
  return isTerminal(phase) || phase === "RollingBack" || left <= 0 ? Number.POSITIVE_INFINITY : left;
};

/** Names what was tried, for messages. */
export const attempt = (effect: Effect): string => {
  if ("call" in effect) return `${VERBS[effect.call.verb]} ${formatRef(effect.call.place)}`;
  if (effect.purpose === "discover") return `discover ${effect.kind} in ${effect.apiVersion}`;
  if (effect.purpose === "find-pods") return "list Pods";
  if (effect.purpose === "find-events") return "list Events";
  return effect.unowned ? "list the contents of the objects to delete" : "list the dependents of the objects to delete";
};

/** Records that the failure was reported. */
export const reportedRetry = (known: Observations, now: Instant): Observations => ({
  ...known,
  retryingSince: { since: known.retryingSince?.since ?? now, reportedAt: now },
});

/**
 * Reports what an active Transaction waits for if requests have failed for a while.
 *
 * Guarantees: no cost without failures, and one write now and then with failures.
 * @returns an event for a finished one: its status stays as it is
 */
export const reportRetry = (
  { txn, known, now }: ReconcileContext,
  effect: Effect,
  fault: ApiError,
): ApiCall | EventSpec | undefined => {
  const { since = now, reportedAt } = known.retryingSince ?? {};
  const isRecent = reportedAt !== undefined && now < reportedAt + TELL_AGAIN;
  if (now < since + BRIEF || isRecent) return undefined;
  const message = cut(`trying again to ${attempt(effect)}: ${messageOf(fault)}`, 1024);
  if (isTerminal(txn.status.phase)) return { type: "Warning", reason: "RecoveryBlocked", message };
  const recorded = updateStatus(txn, { because: { reason: WAITING, message } }, now);
  return {
    ...recorded,
    folds: [...recorded.folds, { type: "retry-reported", at: now }],
    unanswered: [{ type: "retry-maybe-reported", at: now }],
  };
};
