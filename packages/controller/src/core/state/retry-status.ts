import { cut } from "@janus/api";
import type { ApiCall, Effect, EventSpec } from "./effect.ts";
import { messageOf } from "../kubernetes/api-error.ts";
import type { Instant } from "../kubernetes/time.ts";
import type { Observations } from "./observations.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { isTerminal, updateStatus } from "./status-update.ts";
import { WAITING } from "./conditions.ts";
import { deadline, type ReconcileContext } from "./reconcile-context.ts";
import type { ApiError } from "@janus/types";

/** Trouble that is over within this time, in ms, is nobody's business. */
const BRIEF = 2000;
/** Of lasting trouble people are told this often at most, in ms: it may be told in other words each time. */
const TELL_AGAIN = 30_000;

const VERBS = {
  get: "read",
  create: "create",
  update: "update",
  apply: "change",
  mergePatch: "change",
  delete: "delete",
} as const;

/** Requests get through again. */
export const withoutRetry = (known: Observations): Observations => {
  const { retryingSince: _, ...rest } = known;
  return rest;
};

/** How long nothing has to be done before spec.timeout turns the Transaction round, in ms: no server is left alone for longer. */
export const timeLeft = (context: ReconcileContext): number => {
  const { phase } = context.txn.status;
  const left = deadline(context) - context.now;
  return isTerminal(phase) || phase === "RollingBack" || left <= 0 ? Number.POSITIVE_INFINITY : left;
};

/** What was tried, in words. */
export const attempt = (effect: Effect): string => {
  if ("call" in effect) return `${VERBS[effect.call.verb]} ${formatRef(effect.call.place)}`;
  if (effect.purpose === "discover") return `discover ${effect.kind} in ${effect.apiVersion}`;
  return effect.unowned ? "list the contents of the objects to delete" : "list the dependents of the objects to delete";
};

/** People have been told. */
export const reportedRetry = (known: Observations, now: Instant): Observations => ({
  ...known,
  retryingSince: { since: known.retryingSince?.since ?? now, reportedAt: now },
});

/**
 * Tells people where they look what a Transaction that is under way waits for, when a request has not got through for a while.
 *
 * Guarantees: costs nothing while nothing is wrong, and one write now and then while something is.
 * @returns an event for one that has ended: its status stays as it is
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
  const tried = (known: Observations): Observations => reportedRetry(known, now);
  const recorded = updateStatus(txn, { because: { reason: WAITING, message } }, now);
  return { ...recorded, onAnswer: (...answer) => tried(recorded.onAnswer(...answer)), onTransientFault: tried };
};
