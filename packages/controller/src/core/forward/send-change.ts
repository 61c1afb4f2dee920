// Sends the write of a change, unless there is a reason to stop.
import * as E from "fp-ts/lib/Either.js";
import { entriesOf } from "../merge/marks.ts";
import { foldedManagers } from "../merge/fold-managers.ts";
import { gateAgain } from "./gate-again.ts";
import { hasContent } from "../state/contents.ts";
import { readContents } from "./read-contents.ts";
import { awaitPermissions } from "./await-permissions.ts";
import { awaitLateChecks } from "./late-checks.ts";
import { type ApiCall, run, type Step } from "../state/effect.ts";
import { changeIn, forwardIn } from "../state/observations.ts";
import { type AbortCause, sentWrite, unansweredSince } from "../state/forward-observations.ts";
import { acquire } from "../locks/lock-acquisition.ts";
import { verifyHeld } from "../locks/lock-renewal.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { discoveries, lockable } from "../state/target-resolution.ts";
import { unauthorizedChanges } from "../state/late-locks.ts";
import { inFlightWindow } from "../state/reconcile-context.ts";
import { writeOf } from "../state/resolved-changes.ts";
import { reasonToStop } from "./reason-to-stop.ts";
import { abort } from "../transitions/abort.ts";
import { isOpen } from "../state/journal.ts";
import { closeWindow } from "../state/record-progress.ts";
import { isServed } from "../state/unserved-kind.ts";
import type { ChangeContext } from "./change-context.ts";
import { readChangedTarget } from "./read-target.ts";
import { recordRenewed } from "./retake-snapshot.ts";
import { projection, waiting } from "../state/status-progress.ts";
import { waitingForLock } from "../locks/await-lock.ts";

/** Aborts at a target that is unmodified, but not while a write that was not answered may still take effect. */
export const onceSettled = (changeContext: ChangeContext, back: Step): Step => {
  const { context, journal, index, place } = changeContext;
  const { known, now, settings } = context;
  const unanswered = unansweredSince(sentWrite(forwardIn(known, index).write));
  if (unanswered === undefined) return back;
  const settledAt = unanswered + inFlightWindow(settings);
  if ((changeIn(known, index).target?.at ?? now) >= settledAt) return back;
  return now < settledAt
    ? waiting(context, journal, settledAt, `a write to ${formatRef(place)} that was not answered may still take effect`)
    : run(readChangedTarget(changeContext));
};

/** Sends the write, unless there is a reason to stop first. */
export const send = (changeContext: ChangeContext): Step => {
  const { context, journal, index } = changeContext;
  const { txn, known } = context;
  const stop = (reason: AbortCause["reason"], message: string): Step =>
    onceSettled(changeContext, abort(context, journal, { reason, message, fate: "not-sent" }));
  const stopping = reasonToStop(changeContext, "not-sent");
  if (stopping !== undefined) return onceSettled(changeContext, stopping);
  // It was to stop, so not all kinds were discovered, and not all contents read.
  const undiscovered = discoveries(txn, known);
  if (undiscovered.length > 0) return run(...undiscovered);
  const awaiting = readContents(context, journal);
  if (awaiting !== undefined) return awaiting;
  if (!hasContent(txn, known, index)) return stop("CommitFailed", "its content is not known");
  const gating = gateAgain(context, journal);
  if (gating !== undefined) return onceSettled(changeContext, gating);
  const unauthorized = unauthorizedChanges(txn);
  const { early, late } = lockable(txn, known, index, unauthorized);
  const holding = verifyHeld(context, early);
  if (E.isLeft(holding)) return stop("LockRenewalFailed", holding.left);
  if (holding.right.length > 0) return run(...holding.right);
  if (unauthorized.has(index) && changeIn(known, index).lock?.type !== "held") {
    const permissions = awaitPermissions(changeContext);
    if (permissions.type === "failed") return stop("CommitFailed", permissions.why);
    if (permissions.type === "pending") return permissions.step;
  }
  // Locks in a Namespace that the Transaction has created are acquired right after it exists.
  const locking = acquire(context, late);
  if (locking.type === "refused") return stop("LockRenewalFailed", [...locking.problems.values()].join("; "));
  if (locking.type === "waiting") return waitingForLock(context, journal, locking);
  if (locking.type === "acquiring") return run(...locking.effects);
  const checks = awaitLateChecks(changeContext);
  if (checks.type === "failed") return stop("CommitFailed", checks.why);
  if (checks.type === "pending") return checks.step;
  const recording = recordRenewed(context, journal);
  if (recording !== undefined) return run(recording);
  const folding = foldManagers(changeContext);
  // Folding moves the version of the target, by which the next process tells that a change was not made.
  if (folding !== undefined && isOpen(journal)) return run(closeWindow(context, journal));
  return run(folding ?? write(changeContext), ...projection(context, journal));
};

/**
 * Folds the managers of former Transactions before a Patch adds one more. The target has another version then, as if another
 * client had written it: the Patch is refused once, and its snapshot is taken again. A rejection is no obstacle.
 */
const foldManagers = ({ index, change, place, before, context }: ChangeContext): ApiCall | undefined => {
  const { txn, known } = context;
  if (change.type !== "Patch" || change.resourceVersion !== undefined || before === undefined) return undefined;
  if (forwardIn(known, index).isFolded) return undefined;
  const managedFields = foldedManagers(entriesOf(before), txn.metadata.uid);
  if (managedFields === undefined) return undefined;
  const { uid = "", resourceVersion = "" } = before.metadata;
  return {
    purpose: "fold-managers",
    item: index,
    as: "serviceAccount",
    call: { verb: "mergePatch", place, body: { metadata: { uid, resourceVersion, managedFields } } },
    folds: [{ type: "managers-folded" }],
  };
};

const write = (changeContext: ChangeContext): ApiCall => {
  const { index, place, before, context } = changeContext;
  const { txn, known } = context;
  return {
    purpose: "change",
    item: index,
    as: "serviceAccount",
    call: writeOf(txn, changeContext, before),
    mayBeUnserved: !isServed(known, place.resource),
    folds: [{ type: "change-written" }],
    unanswered: [{ type: "change-maybe-written", index }],
  };
};
