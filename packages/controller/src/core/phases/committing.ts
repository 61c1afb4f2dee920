// The phase Committing: applies the changes one by one, with one checkpoint after each window of them.
import * as E from "fp-ts/lib/Either.js";
import { REQUEST_ROLLBACK } from "@janus/api";
import { allStores, snapshotOf } from "../snapshots/prior-state.ts";
import { run, type Step, wait, type Watched } from "../state/effect.ts";
import { isSelfCleaning } from "../kubernetes/finished-job.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { Instant } from "@janus/types";
import { isGated } from "../gates/gates-of.ts";
import { gatedChanges } from "../state/gated-changes.ts";
import {
  asRecorded,
  type Forward,
  gatedSince,
  gatesInDoubt,
  type Journal,
  noJournal,
  windowEnd,
} from "../state/journal.ts";
import { checkpoint, findJournal, inDoubt, readJournal } from "../state/journal-requests.ts";
import { cannotBeUndone, firstIrreversible } from "../state/irreversible-deletions.ts";
import { changeIn, forwardIn, journalIn } from "../state/observations.ts";
import { type AbortCause, sentWrite, type SentWrite } from "../state/forward-observations.ts";
import { isRefused } from "../state/journal-observation.ts";
import { stopRequest } from "../transitions/stop-request.ts";
import { withoutLostOwners } from "../snapshots/owner-references.ts";
import { resolvedChange } from "../state/resolve-apply.ts";
import { discoveries, resolveTarget } from "../state/target-resolution.ts";
import { type Reversibility, untilWhen } from "../state/rollback-window.ts";
import { isProjectionDue } from "../state/status-progress.ts";
import { projected, updateStatus } from "../state/status-update.ts";
import { fateUnread, isTried, readOrStop, telling, unlessDown } from "../forward/last-look.ts";
import { readContents } from "../forward/read-contents.ts";
import { reasonToStop } from "../forward/reason-to-stop.ts";
import { gateAgain } from "../forward/gate-again.ts";
import { awaitGates } from "../forward/await-gates.ts";
import { resolveInDoubt } from "../forward/in-doubt.ts";
import { type Doubtful, findProgress } from "../forward/find-progress.ts";
import { deadline, type ReconcileContext } from "../state/reconcile-context.ts";
import { itemsOf, type ResolvedItem } from "../state/resolved-changes.ts";
import { abort } from "../transitions/abort.ts";
import { journalUnavailable } from "../transitions/journal-unavailable.ts";
import type { ChangeContext } from "../forward/change-context.ts";
import { readChangedTarget } from "../forward/read-target.ts";
import { nextWrite } from "../forward/replace-steps.ts";
import { committedEvents, recordIn } from "../state/record-progress.ts";
import { nextChange } from "../forward/next-change.ts";
import { APPLYING } from "../state/conditions.ts";
import { unauthorizedChanges } from "../state/late-locks.ts";
import { mayFollow } from "../state/window.ts";
import { resolveAttempt } from "../forward/resolve-attempt.ts";
import { send } from "../forward/send-change.ts";
import { POLL_INTERVAL } from "../state/waits.ts";

/**
 * Applies the changes one after the other, with one checkpoint after each window of them that is also the intent of the next.
 *
 * Guarantees: one write is on its way at most; after a crash only changes of the journal's window are in doubt; a write
 *             carries the version that it was decided on, and is sent only while its lock is valid for longer than
 *             the write can take; a write without a checkpoint is recognized by its mark; the rollback begins only
 *             when nothing is in doubt.
 * Assumes: everything is prepared (see `preparing.ts`).
 */
export const committing = (context: ReconcileContext): Step => watchingJobs(context, nextStep(context));

const nextStep = (context: ReconcileContext): Step => {
  const { txn, known } = context;
  if (known.journal === undefined) return run(readJournal(txn));
  // A former process may have decided to abort: that may still be written, and would say nothing of what is done from now on.
  if (known.hasRecorded !== true) return run(updateStatus(txn, { because: APPLYING }, context.now));
  if (isRefused(known.journal)) return journalUnavailable(context, known.journal, recordedCursor(context), "unknown");
  const journal = journalIn(known);
  if (journal === undefined) return haveJournal(context);
  // Another leader has started the rollback, and this version of the Transaction does not show it yet.
  if (journal.position.direction === "back")
    return wait(context.now + POLL_INTERVAL, "its rollback has started already: reading it again");
  const { position } = journal;
  if (known.journal?.type === "read" && known.journal.inDoubt !== undefined)
    return resolveWindow(context, journal, position, known.journal.inDoubt);
  if (journal.ahead !== undefined && isToBeRecorded(context, position.cursor))
    return run(recordIn(context, journal, journal.ahead.from, position.cursor));
  // The journal was lost, and what has become of a change could not be found out (`find-progress.ts`).
  const [doubted] = journal.notes.values();
  if (doubted !== undefined) {
    const fate = journal.notes.has(journal.position.cursor) ? "unknown" : "not-sent";
    return abort(context, journal, { reason: "CommitFailed", message: doubted.error, fate });
  }
  const since = gatedSince(journal);
  const gated = since === undefined ? [] : gatedChanges(txn, journal.position.cursor);
  const reading = isToStop(context) ? undefined : readContents(context, journal);
  if (reading !== undefined) return reading;
  const undiscovered = discover(context, journal, gated[0] ?? journal.position.cursor);
  if (undiscovered !== undefined) return undiscovered;
  if (since !== undefined) return gate(context, journal, gated, since);
  const index = journal.position.cursor;
  const change = resolvedChange(txn, known, index);
  if (change === undefined) return commit(context, journal);
  const { write } = forwardIn(known, index);
  if (write?.type === "aborted") return abort(context, journal, write.cause);
  const place = resolveTarget(txn, known, index);
  if (E.isLeft(place))
    return abort(context, journal, {
      reason: "CommitFailed",
      message: place.left,
      fate: fateUnseen(write),
    });
  return advance(context, journal, { index, change, place: place.right }, write);
};

/**
 * Whether the changes before this one are to be recorded before it is sent: progress shows, if there is something to show; or the
 * window was opened before all was known of the changes that it covers.
 */
const isToBeRecorded = (context: ReconcileContext, cursor: number): boolean =>
  isProjectionDue(context) || !mayFollow(context.txn, cursor, unauthorizedChanges(context.txn));

/** Whether no further change is going to be applied: then it must not wait for what these need. */
const isToStop = (context: ReconcileContext): boolean =>
  context.now >= deadline(context) || stopRequest(context).type !== "none";

/**
 * Discovers the kinds that are not known yet: all of them before a change is sent, but only that of the change at `index` if it is to
 * stop.
 */
const discover = (context: ReconcileContext, journal: Journal, index: number): Step | undefined => {
  const { txn, known } = context;
  const { undiscovered } = known;
  const unknown = discoveries(txn, known);
  const target = txn.spec.changes[index]?.target;
  if (unknown.length === 0 || target === undefined) return undefined;
  if (undiscovered === undefined || !isTried(undiscovered)) return run(...unknown);
  const { apiVersion, kind } = target;
  const isOwn = unknown.some((one) => one.apiVersion === apiVersion && one.kind === kind);
  const unread = `${kind} ${target.name} cannot be read: ${kind} in ${apiVersion} cannot be discovered: ${undiscovered.message}`;
  const { cursor } = journal.position;
  const stopping = reasonToStop(
    { context, journal, index: cursor, ...(isOwn ? { unread } : {}) },
    index < cursor ? "not-sent" : fateUnread(sentWrite(forwardIn(known, cursor).write)),
  );
  if (stopping === undefined) return run(...unknown);
  return isOwn ? unlessDown(stopping, { type: "kinds-asked-again" }) : undefined;
};

/**
 * Watches Jobs from when they are made: one that deletes itself when it has finished may be gone when its gates are waited for at
 * the end.
 */
const watchingJobs = ({ txn, known }: ReconcileContext, step: Step): Step => {
  const journal = journalIn(known);
  // While gates are waited for, all their targets are watched.
  if (txn.spec.waitAt !== "End" || journal === undefined || gatedSince(journal) !== undefined) return step;
  if (step.type === "done" || step.watched !== undefined) return step;
  const { cursor } = journal.position;
  const watched = itemsOf(txn, known).flatMap(({ index, change, place }): readonly Watched[] =>
    index < cursor && change.type !== "Delete" && isSelfCleaning(place, change.content) && isGated(txn, index)
      ? [{ index, place, resourceVersion: undefined }]
      : [],
  );
  return watched.length === 0 ? step : { ...step, watched };
};

/** The change at the cursor is not sent before the targets of those before it are where they should be. */
const gate = (context: ReconcileContext, journal: Journal, gated: readonly number[], since: Instant): Step => {
  const { txn, known } = context;
  const items = gated.map((index): E.Either<string, ResolvedItem> => {
    const change = resolvedChange(txn, known, index);
    return change === undefined
      ? E.left(`the journal names changes[${index}], which spec does not have`)
      : E.map((place: ResolvedItem["place"]) => ({ index, change, place }))(resolveTarget(txn, known, index));
  });
  const lost = items.find(E.isLeft);
  return lost === undefined
    ? awaitGates(
        context,
        journal,
        items.filter(E.isRight).map(({ right }) => right),
        since,
      )
    : abort(context, journal, { reason: "GateFailed", message: lost.left, fate: "not-sent" });
};

/** The fate of a change whose target cannot be read. */
const fateUnseen = (write: SentWrite | undefined): AbortCause["fate"] => {
  if (write === undefined) return "not-sent";
  if (write.type === "made") return "applied";
  return write.type === "refused" && write.unanswered === undefined ? "rejected" : "unknown";
};

/** The index of the first change that is not applied according to the status. */
const recordedCursor = ({ txn }: ReconcileContext): number => {
  const first = txn.status.items.findIndex((item) => item.state.type !== "committed");
  return Math.min(first === -1 ? txn.status.items.length : first, txn.spec.changes.length);
};

/** Has a journal: one that was lost is written again once it is found out how far the changes have come. */
const haveJournal = (context: ReconcileContext): Step => {
  const { txn, known } = context;
  const { journal } = known;
  if (journal?.type !== "missing" && journal?.type !== "altered") return run(readJournal(txn));
  const from = recordedCursor(context);
  const { length: until } = txn.spec.changes;
  const since = journal.since ?? known.since;
  const lost = { from, until, since, why: "the journal was lost" };
  const progress = findProgress(context, noJournal({ direction: "forward", cursor: from }), lost);
  if (E.isLeft(progress)) return progress.left;
  const { cursor, ...made } = progress.right;
  const hasGates = txn.spec.changes.some((_, index) => isGated(txn, index));
  const position: Forward = { direction: "forward", cursor, ...(hasGates ? { gatesInDoubt: true } : {}) };
  const writing = inDoubt(findJournal(txn, known, { position, ...made }) ?? readJournal(txn));
  return run({ ...writing, events: committedEvents(context, from, cursor) });
};

/** Another process has opened the window: what it has sent of it, the targets tell. */
const resolveWindow = (context: ReconcileContext, journal: Journal, position: Forward, since: Instant): Step => {
  const { cursor: from } = position;
  const until = windowEnd(position);
  const window: Doubtful = { from, until, since, why: "the controller was interrupted" };
  const progress = findProgress(context, journal, window);
  if (E.isLeft(progress)) return progress.left;
  const { cursor, created, notes } = progress.right;
  if (cursor === until) return run(recordIn(context, journal, from, cursor, { created }));
  const entry = { position: { direction: "forward", cursor }, created, notes } as const;
  return run(inDoubt(checkpoint(context.txn, journal, entry, ...committedEvents(context, from, cursor))));
};

const advance = (
  context: ReconcileContext,
  journal: Journal,
  item: ResolvedItem,
  write: SentWrite | undefined,
): Step => {
  const { txn, known } = context;
  const { target: seen } = changeIn(known, item.index);
  if (write?.type === "made")
    return isEnd(context, journal, item)
      ? commit(context, asRecorded(journal, item.index, write.created), journal.ahead?.from ?? item.index)
      : run(nextChange(context, journal, item, write.created));
  const snapshot = snapshotOf(txn, known, journal, item.index);
  if (snapshot.type === "unread")
    return readOrStop(
      { ...item, context, journal },
      `the snapshot of ${formatRef(item.place)}`,
      snapshot.effects.map((effect) => telling(effect, item.index)),
    );
  if (snapshot.type === "lost")
    return abort(context, journal, { reason: "CommitFailed", message: snapshot.why, fate: "unknown" });
  const before = snapshot.type === "object" ? snapshot.object : undefined;
  const change = nextWrite(item.change, journal, item.index, before?.metadata.uid, seen?.object, txn.metadata.uid);
  const changeContext: ChangeContext = {
    ...item,
    change,
    context,
    journal,
    before: change.type === "Create" ? undefined : before,
  };

  if (write === undefined) return send(changeContext);
  if (seen === undefined) return readOrStop(changeContext, formatRef(item.place), [readChangedTarget(changeContext)]);
  const former = withoutLostOwners(txn, journal, changeContext.before, seen.object);
  const verdict = resolveInDoubt(change, item.place, former, journal.created.get(item.index), seen, txn.metadata);
  return resolveAttempt(changeContext, write, verdict, seen);
};

const allApplied = (changes: number): string =>
  changes === 1 ? "the change is applied" : `all ${changes} changes are applied`;

/**
 * Tells whether this change is the last one, and the status may record it without the journal: nothing is waited for, no rollback is
 * requested, and none will go by the journal once it is Committed.
 */
const isEnd = (context: ReconcileContext, journal: Journal, { index, change }: ResolvedItem): boolean =>
  index + 1 === context.txn.spec.changes.length &&
  change.type !== "Replace" &&
  !gatesInDoubt(journal) &&
  gatedChanges(context.txn, index + 1).length === 0 &&
  stopRequest(context).type === "none" &&
  reversibility(context)?.isReversible !== true;

/**
 * Everything is applied, and recorded but for what the status records now. The snapshots exist until the phase is Committed, or until
 * the rollbackWindow has passed: until then, it can be rolled back.
 *
 * @param from the first change of which the journal does not record that it is in. Default: none
 */
const commit = (context: ReconcileContext, journal: Journal, from = context.txn.spec.changes.length): Step => {
  const { txn, now } = context;
  const gating = gateAgain(context, journal);
  if (gating !== undefined) return gating;
  const requested = stopRequest(context);
  if (requested.type === "reading") return run(requested.effect);
  const irreversible = firstIrreversible(txn, txn.spec.changes.length)?.target;
  if (requested.type === "rollback" && irreversible === undefined)
    return abort(context, journal, { reason: "RollbackRequested", message: requested.why, fate: "applied" });
  const reversible = reversibility(context);
  const items = projected(txn, journal, context.settings);
  const applied = allApplied(txn.spec.changes.length);
  if (reversible?.isReversible === true) {
    const because = { reason: "Committed", message: applied, readyMessage: `${applied}; ${reversible.message}` };
    // All in the status: the snapshots are found also without the journal, which another client may delete.
    const snapshots = allStores(txn, journal);
    return run(updateStatus(txn, { phase: "Committed", items, snapshots, because, reversible }, now));
  }
  const message =
    requested.type === "rollback" && irreversible !== undefined
      ? `${applied}; ${requested.why}, but ${cannotBeUndone(irreversible)}`
      : applied;
  return run(
    updateStatus(
      txn,
      {
        phase: "Committed",
        items,
        isFinal: true,
        because: { reason: "Committed", message },
        ...(reversible === undefined ? {} : { reversible }),
      },
      now,
      ...committedEvents(context, from, txn.spec.changes.length),
    ),
  );
};

/** Whether it can be rolled back on request once it is Committed; undefined if it has no rollbackWindow. */
const reversibility = ({ txn, now }: ReconcileContext): Reversibility | undefined => {
  if ((txn.spec.rollbackWindow ?? 0) === 0) return undefined;
  const irreversible = firstIrreversible(txn, txn.spec.changes.length)?.target;
  if (irreversible !== undefined)
    return { isReversible: false, reason: "Irreversible", message: cannotBeUndone(irreversible) };
  if (txn.metadata.deletionTimestamp !== undefined)
    return { isReversible: false, reason: "Deleted", message: "the Transaction was deleted before it was Committed" };
  const message = `can be rolled back until ${untilWhen(txn, now)}, with the annotation ${REQUEST_ROLLBACK}`;
  return { isReversible: true, reason: "WithinWindow", message };
};
