// Builds status.conditions from the phase and its cause.
import type { Condition, Phase, Transaction } from "@janus/api";
import { type Instant, toTimestamp } from "@janus/types";
import { REVERSIBLE, type Reversibility } from "./rollback-window.ts";

/** Why a Transaction is where it is. */
export interface ConditionCause {
  readonly reason: string;
  readonly message: string;
  /** The message of the PhaseTransition event, if another event has the full message. Default: the message. */
  readonly eventMessage?: string;
  /** The message of Ready, if it says more than the others. Default: the message. */
  readonly readyMessage?: string;
}

/** Whether restored targets meet `spec.rollbackWaitFor`, and if not, which and why. */
export interface Healthy {
  readonly isHealthy: boolean;
  readonly message: string;
}

/** The reason while it waits. */
export const WAITING = "Waiting";
/** The reason while a rollback is retried. */
export const RETRYING = "RecoveryInitiated";
/** The reason of an incomplete rollback. */
export const INCOMPLETE = "RollbackFailed";
/** The reason if it cannot be read. */
export const UNREADABLE = "Unreadable";
/** The reason if only a later version of the controller can process it. */
export const UNSUPPORTED = "Unsupported";
/** The reason, and the condition, if it would do something else than what was approved. */
export const APPROVAL_STALE = "ApprovalStale";
const NOT_READ: readonly string[] = [UNREADABLE, UNSUPPORTED];

/** A status update: from one phase to another, or within one. */
interface Move {
  readonly from: Phase;
  readonly to: Phase;
  readonly because: ConditionCause;
}

type Value = readonly [status: "True" | "False", reason: string, message: string];
/** The value of a condition; `same`: unchanged. */
type Outcome = Value | "same";

const BEFORE_CHANGES: readonly Phase[] = ["Pending", "Preparing", "Prepared"];
/** The message of Prepared: also of a Transaction that gets its conditions in a later phase. */
export const CHECKED = "all locks are held, every change was checked, and snapshots were taken";

/** The cause of the conditions while the changes are applied. */
export const APPLYING: ConditionCause = { reason: "Committing", message: "applying the changes" };

const yes = (reason: string, { message }: ConditionCause): Value => ["True", reason, message];
const no = ({ reason, message }: ConditionCause): Value => ["False", reason, message];

/** Each condition has its own reason: permanently True, or False with the reason why not. */
const CONDITIONS: Readonly<Record<string, (move: Move, isTrue: boolean) => Outcome>> = {
  Ready: ({ to, because }) => {
    const { reason, message, readyMessage = message } = because;
    return [to === "Committed" ? "True" : "False", reason, readyMessage];
  },
  Stalled: ({ to, because }) => {
    if (to === "Committed") return ["False", "Succeeded", "all changes are applied"];
    return to === "RolledBack" || to === "Failed"
      ? yes(because.reason, because)
      : ["False", "Progressing", "nothing has failed"];
  },
  Prepared: ({ from, to, because }, isTrue) => {
    if (isTrue && to !== "Preparing" && to !== "Pending") return "same";
    if (from === "Preparing" && to === "Committing") return yes("AllItemsPrepared", because);
    if (to === "Failed") return no(because);
    return to === "Pending" || to === "Preparing"
      ? ["False", "NotPrepared", "the changes are not checked yet"]
      : ["True", "AllItemsPrepared", CHECKED];
  },
  Committed: ({ from, to, because }) => {
    if (to === "Committed") return yes("AllItemsCommitted", because);
    // The cause of the rollback is kept through all attempts.
    if (from === "RollingBack" || (from === "Failed" && to === "RollingBack")) return "same";
    return to === "RollingBack" || to === "RolledBack" || to === "Failed"
      ? no(because)
      : ["False", "NotCommitted", "not all changes are applied yet"];
  },
  RolledBack: ({ from, to, because }) => {
    if (to === "RolledBack") return yes("RollbackComplete", because);
    if (to === "RollingBack") return ["False", "RollbackInProgress", "the changes are being rolled back"];
    if (to === "Committed") return ["False", "NotNeeded", "all changes are applied"];
    if (to !== "Failed") return ["False", "NotRolledBack", "nothing has failed"];
    if (BEFORE_CHANGES.includes(from)) return ["False", "NoChangesApplied", because.message];
    return because.reason === INCOMPLETE ? ["False", "RollbackIncomplete", because.message] : no(because);
  },
  Failed: ({ to, because }) =>
    to === "Failed" ? yes("TransactionFailed", because) : ["False", "NotFailed", "the Transaction has not failed"],
};

/**
 * Conditions that change within a phase: Ready shows progress and pauses; of a Failed Transaction, the message
 * may change.
 */
const changesWithin = (phase: Phase): readonly string[] =>
  phase === "Failed" ? ["Ready", "Stalled", "Failed"] : ["Ready"];

/**
 * Conditions for `kubectl wait`, and Ready and Stalled as kstatus reads them: Ready is True once it is Committed; Stalled
 * is True when it ended otherwise, so that clients that wait see a failure and not progress.
 * https://github.com/kubernetes-sigs/cli-utils/blob/master/pkg/kstatus/README.md
 *
 * Guarantees: of a Failed Transaction the reason of RolledBack says what is left: NoChangesApplied, RollbackIncomplete, or
 *             Deleted where it was deleted before its end.
 */
export const conditions = (
  { metadata, status }: Transaction,
  phase: Phase,
  because: ConditionCause,
  now: Instant,
  { healthy, reversible }: { readonly healthy?: Healthy; readonly reversible?: Reversibility } = {},
): readonly Condition[] => {
  const formerOf = (type: string): Condition | undefined =>
    status.conditions.find((condition) => condition.type === type);
  /** As the API conventions have it, the time is that of the last change of status. */
  const valued = (type: string, [is, reason, message]: Value): Condition => {
    const former = formerOf(type);
    const lastTransitionTime = former?.status === is ? former.lastTransitionTime : toTimestamp(now);
    return { type, status: is, reason, message, lastTransitionTime, observedGeneration: metadata.generation };
  };
  /** One that not every Transaction has: once it is there, it stays as it is until there is another value. */
  const own = (type: string, value: Value | undefined): readonly Condition[] => {
    const former = formerOf(type);
    if (value === undefined) return former === undefined ? [] : [former];
    return [valued(type, value)];
  };
  const health: Value | undefined =
    healthy === undefined
      ? undefined
      : healthy.isHealthy
        ? ["True", "TargetsHealthy", healthy.message]
        : ["False", "TargetsNotHealthy", healthy.message];
  const reversal: Value | undefined =
    reversible === undefined
      ? undefined
      : [reversible.isReversible ? "True" : "False", reversible.reason, reversible.message];
  const move: Move = { from: status.phase, to: phase, because };
  const always = Object.entries(CONDITIONS).map(([type, outcomeOf]): Condition => {
    const stored = formerOf(type);
    const former = stored === undefined || NOT_READ.includes(stored.reason) ? undefined : stored;
    const outcome =
      former !== undefined && status.phase === phase && !changesWithin(phase).includes(type)
        ? "same"
        : outcomeOf(move, former?.status === "True");
    if (outcome === "same" && former !== undefined) return former;
    return valued(type, outcome === "same" ? no(because) : outcome);
  });
  const isStale = phase === "Failed" && because.reason === APPROVAL_STALE && status.phase !== "Failed";
  return [
    ...always,
    ...own(REVERSIBLE, reversal),
    ...own("Healthy", health),
    ...own(APPROVAL_STALE, isStale ? ["True", "TargetsChanged", because.message] : undefined),
  ];
};

/** Whether the controller does nothing for it, since it cannot read it: the message of Ready says why, and what to do. */
export const isUnread = (txn: Transaction): boolean => NOT_READ.includes(readyIn(txn).reason);

/** The cause that Ready gives already. */
export const readyIn = ({ status: { conditions, phase } }: Transaction): ConditionCause => {
  const { reason = phase, message = "" } = conditions.find(({ type }) => type === "Ready") ?? {};
  return { reason, message };
};
