// Decides the next step of a Transaction: the entry point of the core.
import { FINALIZER } from "@janus/api";
import { awaitUpgrade, lookingAgain, UPGRADE_PAUSE } from "./transitions/await-upgrade.ts";
import { draft, isDraft } from "./phases/draft.ts";
import { committing } from "./phases/committing.ts";
import { run, type Step } from "./state/effect.ts";
import { terminalCleanup } from "./phases/terminal-cleanup.ts";
import { quarantine } from "./transitions/quarantine.ts";
import { pending } from "./phases/pending.ts";
import { prepared } from "./phases/prepared.ts";
import { handlePreparingRequests, preparing } from "./phases/preparing.ts";
import type { Unread } from "./state/decode-stored.ts";
import { withContents } from "./state/contents.ts";
import { awaitMemory } from "./state/idle-memory.ts";
import { changeIn } from "./state/observations.ts";
import { resolvedTargets } from "./state/target-resolution.ts";
import { lockPlace } from "./locks/lock-requests.ts";
import { isCommittedWithSnapshots } from "./state/rollback-window.ts";
import { addFinalizer, isTerminal } from "./state/status-update.ts";
import { rollingBack } from "./phases/rolling-back.ts";
import type { ReconcileContext } from "./state/reconcile-context.ts";

/** The finalizer was removed while there are objects that depend on it for their cleanup. */
const lacksFinalizer = ({ txn, known }: ReconcileContext): boolean => {
  const { metadata, status } = txn;
  const { finalizers: names = [], deletionTimestamp } = metadata;
  if (names.includes(FINALIZER) || deletionTimestamp !== undefined || status.phase === "Pending") return false;
  return (
    !isTerminal(status.phase) ||
    isCommittedWithSnapshots(txn) ||
    [...known.changes.values()].some(({ lock }) => lock?.type === "held")
  );
};

/**
 * The whole life of a Transaction: what to do next, from what is recorded, what this process has observed, and
 * the time.
 *
 * Draft and Proposed → nothing is locked or applied, until lifecycle is Published.
 * Pending → Preparing → Committing → Committed; from Committing on any failure → RollingBack →
 * RolledBack, or Failed if something could not be rolled back. A failure before the first change → Failed. On request,
 * within its rollbackWindow: Committed → RollingBack.
 *
 * Guarantees: pure and total. Every effect is one request, so that a crash can only fall between two steps that
 *             have a name; what was not recorded is observed again. The finalizer is set for as long as there
 *             are objects to clean up.
 */
export const decide = (seen: ReconcileContext): Step => {
  const { later } = seen.known;
  if (later !== undefined && seen.now < later.readAt + UPGRADE_PAUSE)
    return awaitUpgrade(seen, { why: later.why, takesConditions: true });
  const context = { ...seen, txn: withContents(seen.txn, seen.known), known: lookingAgain(seen.known) };
  const { txn } = context;
  if (lacksFinalizer(context)) return run(addFinalizer(txn));
  switch (txn.status.phase) {
    case "Pending":
      return isDraft(txn) ? draft(context) : pending(context);
    case "Preparing":
      return preparing(context);
    case "Prepared":
      return prepared(context);
    case "Committing":
      return committing(context);
    case "RollingBack":
      return rollingBack(context);
    case "Committed":
    case "RolledBack":
    case "Failed":
      return terminalCleanup(context);
  }
};

/** Handles deletion, rollback and yield requests, and the timeout: none of them needs a target in memory. */
const handleRequests = (context: ReconcileContext): Step | undefined => {
  const { txn, known } = context;
  if (known.later !== undefined || isDraft(txn)) return undefined;
  switch (txn.status.phase) {
    case "Pending":
      return txn.metadata.deletionTimestamp === undefined ? undefined : pending(context);
    case "Preparing":
      return handlePreparingRequests(context);
    case "Prepared":
      return prepared(context);
    case "Committing":
    case "RollingBack":
    case "Committed":
    case "RolledBack":
    case "Failed":
      return undefined;
  }
};

/** Decides while there is no memory for more. */
export const decideWithoutMemory = (context: ReconcileContext): Step => handleRequests(context) ?? awaitMemory(context);

/** Whether others wait for it: it may have applied changes, or it holds a lock that they want. */
export const isUrgent = ({ txn, known, settings, nextWaiter }: ReconcileContext): boolean =>
  ["Prepared", "Committing", "RollingBack"].includes(txn.status.phase) ||
  [...resolvedTargets(withContents(txn, known), known)].some(
    ([index, target]) =>
      changeIn(known, index).lock?.type === "held" &&
      nextWaiter(lockPlace(target, settings.controllerNamespace)) !== undefined,
  );

/** Decides for a Transaction that cannot be read; the context has what could be decoded. */
export const decideUnread = (context: ReconcileContext, unread: Unread): Step =>
  unread.type === "unreadable" ? quarantine(context, unread.why) : awaitUpgrade(context, unread);
