// The phase RollingBack: restores the targets in reverse order, and defers those that have to wait.
import { changeIn, journalIn } from "../state/observations.ts";
import { cut, type Item, mayCreate, RETRY_ROLLBACK, type Transaction } from "@janus/api";
import { orphanAll, showStores } from "../snapshots/prior-state.ts";
import { dependsOn, hasFormerSchema, isBefore } from "../undo/rollback-dependencies.ts";
import { readContentsOnce } from "../state/contents.ts";
import { type ApiCall, run, type Step, type EventSpec } from "../state/effect.ts";
import type { Instant } from "@janus/types";
import { type Entry, type Journal, type Note, type Start, itemState } from "../state/journal.ts";
import { isSafe } from "../locks/lock-acquisition.ts";
import { itemsOf, readTarget } from "../state/resolved-changes.ts";
import { lastToRecede } from "../state/window.ts";
import { refusedFor } from "../undo/undo-context.ts";
import { checkpoint, findJournal, readJournal } from "../state/journal-requests.ts";
import { isRefused } from "../state/journal-observation.ts";
import { stopRequest } from "../transitions/stop-request.ts";
import { awaitHealthy } from "../undo/await-healthy.ts";
import { missing } from "../undo/missing-targets.ts";
import { resumption, waiting } from "../state/status-progress.ts";
import { isAskedFor, isUnsettled, MAX_RETRIES, needsRequest } from "../transitions/rollback-retry.ts";
import { projected, updateStatus, removeAnnotation } from "../state/status-update.ts";
import { INCOMPLETE } from "../state/conditions.ts";
import {
  type Back,
  defer,
  type ItemStep,
  recordRestored,
  rollbackItem,
  settleItem,
  withRestored,
} from "../undo/rollback-item.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { journalUnavailable } from "../transitions/journal-unavailable.ts";

/**
 * How long an item may wait before it is deferred, in ms: most finalizers are removed sooner. If one is deferred
 * already, the next one blocks the rest for a shorter time.
 */
const DEFERRED_AFTER = { first: 10_000, next: 1_000 };

/** The API servers use a former schema of a CustomResourceDefinition so long after it was restored, in ms, at the latest. */
const SPREADING = 2_000;

/**
 * Rolls back the changes in reverse order, with one checkpoint after each window of items. An item that has to wait is
 * deferred, and retried as soon as it may succeed: the others do not wait for it, unless they depend on each
 * other.
 *
 * Guarantees: only changes that were applied are rolled back; in a retry also one of which that is unknown, as far
 *             as its target shows that it was (`doubted` in the journal). An item that cannot be rolled back is
 *             recorded and does not stop the others; changes of other clients are kept. RolledBack means that every
 *             target is as it was before; anything else is Failed. Each item is decided on a live read of its target
 *             alone, so that several may be in progress at a crash.
 * Assumes: the status has the fate of the change that was last sent, which may be unknown (see `abort.ts`).
 */
export const rollingBack = (context: ReconcileContext): Step => {
  const { txn, known } = context;
  if (isAskedFor(txn)) return run(removeAnnotation(txn));
  if (isRefused(known.journal)) return journalUnavailable(context, known.journal, appliedChanges(context), "not-sent");
  const finding = findJournal(txn, known, startAgain(context));
  const journal = journalIn(known);
  if (finding !== undefined || journal === undefined) return run(finding ?? readJournal(txn));
  const { position } = journal;
  const contents = readContentsOnce(txn, known);
  if (contents.length > 0) return run(...contents);
  if (position.direction === "forward") return run(reverse(context, journal));
  const back: Back = { ...journal, position };
  const { cursor } = position;
  if (cursor < 0 && journal.deferred.size === 0) return finish(context, back);
  const isIn = (index: number): boolean => itemState(txn, index, journal).type === "committed";
  const done = [...(cursor < 0 ? [] : [cursor]), ...journal.deferred.keys()].find((index) => !isIn(index));
  const requested = stopRequest(context);
  if (requested.type === "reading") return run(requested.effect);
  if (requested.type === "release")
    return back.ahead === undefined
      ? abandon(context, interrupted(txn, back, isIn))
      : run(recordRestored(context, back));
  const left = recordLeft(context, back);
  if (left !== undefined) return run(left);
  if (done !== undefined) return run(settleItem(context, back, done));
  const step = resuming(context, firstOf(context, back));
  return back.ahead === undefined || step.type === "run" ? step : run(recordRestored(context, back));
};

const isRestoring = (step: Step): step is Extract<Step, { readonly type: "run" }> =>
  step.type === "run" && step.effects.some(({ purpose }) => purpose === "restore");

/** Tells beside a write that it goes on, if it had to wait. */
const resuming = (context: ReconcileContext, step: Step): Step =>
  isRestoring(step) ? { ...step, effects: [...step.effects, ...resumption(context)] } : step;

/** Goes on with the item before this one, which is restored: what is sent for that tells it to this process. */
const goOn = (context: ReconcileContext, journal: Back, index: number): Step => {
  const restored = withRestored(journal, index, context.now);
  const step = firstOf(context, restored);
  return step.type === "run"
    ? {
        ...step,
        effects: step.effects.map((effect) =>
          "call" in effect ? { ...effect, folds: [{ type: "restored-in-window", index }, ...effect.folds] } : effect,
        ),
      }
    : run(recordRestored(context, restored));
};

/** The first item that does not wait; deferred ones come after the next one. */
const firstOf = (context: ReconcileContext, journal: Back): Step => {
  const { txn, now } = context;
  const { cursor, since } = journal.position;
  const deferred = [...journal.deferred.keys()].toSorted((a, b) => b - a);
  const waits: Extract<ItemStep, { type: "wait" }>[] = [];
  for (const index of new Set(cursor < 0 ? deferred : [cursor, ...deferred])) {
    const after = deferred.filter((other) => isBefore(txn, journal, index, other));
    const before = deferred.filter((other) => other > index && !after.includes(other));
    const needed = neededFor(context, journal, index, before);
    if (needed !== undefined) {
      if (index === cursor)
        return run(defer(context, journal, index, `waits for changes[${needed}]`, { isBehind: true }));
      continue;
    }
    if (before.length > 0 && journal.deferred.get(index)?.isBehind) continue;
    if (hasFormerSchema(txn, index) && now < since + SPREADING) {
      const because = `waiting until the schema of the target of changes[${index}] is effective again`;
      waits.push({ type: "wait", until: since + SPREADING, because });
      continue;
    }
    const isLast = before.length === 0 || after.length > 0;
    const next = rollbackItem(context, journal, index, isLast ? "fail" : "defer");
    if (next.type === "run") return index === cursor ? readingNext(context, journal, next.step) : next.step;
    if (next.type === "restored") return goOn(context, journal, index);
    waits.push(next);
  }
  const [first, ...others] = waits.toSorted((a, b) => a.until - b.until);
  if (first === undefined) return run(readJournal(txn));
  const patience = journal.deferred.size === 0 ? DEFERRED_AFTER.first : DEFERRED_AFTER.next;
  const [current] = waits;
  if (cursor > 0 && current !== undefined && now >= since + patience)
    return run(defer(context, journal, cursor, current.because));
  return waitForFirst(context, journal, first, others, cursor > 0 ? since + patience : first.until);
};

/** Reads the target of the item before the one that is being restored, where its rollback may follow at once. */
const readingNext = (context: ReconcileContext, journal: Back, step: Step): Step => {
  const { txn, known } = context;
  const before = journal.position.cursor - 1;
  const item = itemsOf(txn, known).find(({ index }) => index === before);
  const { target, lock } = changeIn(known, before);
  return isRestoring(step) &&
    item !== undefined &&
    target === undefined &&
    isSafe(lock, context) &&
    before >= lastToRecede(txn, journal)
    ? { ...step, effects: [...step.effects, readTarget(item, refusedFor(item))] }
    : step;
};

/** The item that has to be rolled back before this one. `before`: the deferred ones that come before it in any case. */
const neededFor = (
  { txn }: ReconcileContext,
  journal: Back,
  index: number,
  before: readonly number[],
): number | undefined => {
  const earlier = txn.spec.changes.findIndex((_, other) => isBefore(txn, journal, other, index));
  return earlier < 0 ? before.find((other) => dependsOn(txn, index, other)) : earlier;
};

const waitForFirst = (
  context: ReconcileContext,
  journal: Journal,
  { until, because, event, awaited }: Extract<ItemStep, { type: "wait" }>,
  others: readonly unknown[],
  latest: Instant,
): Step => {
  const more = others.length === 0 ? "" : ` (and ${others.length} more wait)`;
  const step = waiting(
    context,
    journal,
    Math.min(until, latest),
    `${because}${more}`,
    ...(event === undefined ? [] : [event]),
  );
  return step.type === "wait" && awaited !== undefined ? { ...step, awaited } : step;
};

/** The number of applied changes according to the status. In a retry, some of them are rolled back already. */
const appliedChanges = ({ txn }: ReconcileContext): number =>
  Math.min(txn.status.items.findLastIndex((item) => item.state.type === "committed") + 1, txn.spec.changes.length);

/**
 * The beginning of a journal in place of a lost one. Only that had recorded whether a created object was left there on purpose: it
 * counts as left so, and is deleted only on request. Only that had recorded which changes are rolled back already, and in a retry of
 * which it is unknown whether they were made: that counts as unknown of each Update, whose rollback would take what others have
 * written since for what it has removed.
 */
const startAgain = (context: ReconcileContext): Start => {
  const {
    spec: { changes },
    status: { items },
  } = context.txn;
  const notes = changes.flatMap((change, index): readonly (readonly [number, Note])[] => {
    const state = items[index]?.state;
    return state?.type === "rollback-failed" && mayCreate(change)
      ? [[index, { type: state.type, error: state.error, retryOnRequest: true }]]
      : [];
  });
  return {
    position: { direction: "forward", cursor: appliedChanges(context) },
    notes: new Map(notes),
    doubted: changes.flatMap(({ type }, index) => (type === "Update" ? [index] : [])),
  };
};

const isLeft = ({ type, retryOnRequest }: Note): boolean => type === "rollback-failed" && retryOnRequest === true;

/**
 * Names in the status what was left there on purpose, before anything else is rolled back: a journal in place of a lost one goes by
 * that. Undefined: that is done.
 */
const recordLeft = ({ txn, now, settings }: ReconcileContext, journal: Back): ApiCall | undefined => {
  const isNamed = (index: number): boolean => txn.status.items[index]?.state.type === "rollback-failed";
  if ([...journal.notes].every(([index, note]) => !isLeft(note) || isNamed(index))) return undefined;
  const cause = txn.status.conditions.find(({ type }) => type === "Committed");
  const because = cause ?? { reason: INCOMPLETE, message: "what others have changed is left" };
  return updateStatus(txn, { items: projected(txn, journal, settings), because }, now);
};

/** Reverses the journal. The status has the fate of the change at its cursor since the phase is RollingBack. */
const reverse = ({ txn, now }: ReconcileContext, journal: Journal): ApiCall => {
  const { cursor } = journal.position;
  const fate = txn.status.items[cursor]?.state;
  const note: Partial<Entry> =
    fate?.type === "rejected" || fate?.type === "unknown"
      ? { notes: new Map([[cursor, { type: fate.type, error: fate.error }]]) }
      : {};
  // A deletion that was accepted and delayed by finalizers counts as applied, although it has no checkpoint.
  const end = fate?.type === "committed" ? cursor + 1 : cursor;
  const position: Back["position"] = { direction: "back", cursor: end - 1, reached: end, since: now };
  const recorded = checkpoint(txn, journal, { position, ...note });
  return {
    ...recorded,
    folds: [...recorded.folds, { type: "journal-reversed" }],
    unanswered: [...(recorded.unanswered ?? []), { type: "journal-maybe-reversed" }],
  };
};

/** Deleted during the rollback: what is not rolled back yet stays, and so do its snapshots. */
const abandon = (context: ReconcileContext, journal: Journal): Step => {
  const { txn, now } = context;
  const held = orphanAll(context, journal);
  if (held.length > 0) return run(...held);
  const message = `deleted during the rollback: the former state is kept in ${showStores(txn, journal)}`;
  return run(
    updateStatus(
      txn,
      { phase: "Failed", items: projected(txn, journal, context.settings), because: { reason: "Deleted", message } },
      now,
    ),
  );
};

/** Items whose rollback was in progress, with those of the window that another process may have restored: the outcome is not awaited. */
const interrupted = (txn: Transaction, journal: Back, isIn: (index: number) => boolean): Journal => {
  const error = "its rollback was active when the Transaction was deleted: it may be restored in full or in part";
  const { cursor } = journal.position;
  const last = lastToRecede(txn, journal);
  const window = [...txn.spec.changes.keys()].filter((index) => index >= last && index <= cursor);
  const underWay = [...window, ...journal.deferred.keys()].filter(isIn);
  const notes = underWay.map((index): readonly [number, Note] => [index, { type: "rollback-failed", error }]);
  return { ...journal, notes: new Map([...journal.notes, ...notes]) };
};

/** Announces what follows an incomplete rollback. @param attempts automatic retries so far */
const whatFollows = (txn: Transaction, journal: Back, message: string, attempts: number): EventSpec => {
  const warning = { type: "Warning", reason: "RollbackFailed" } as const;
  if (txn.metadata.deletionTimestamp !== undefined)
    return {
      ...warning,
      message: `${cut(message, 800)}; the Transaction was deleted, so this is not retried: the former state is kept in ${showStores(txn, journal)}`,
    };
  return attempts >= MAX_RETRIES
    ? {
        ...warning,
        reason: "RecoveryBlocked",
        message: `restore the targets by hand, or retry with the annotation ${RETRY_ROLLBACK}`,
      }
    : {
        ...warning,
        message: `${cut(message, 800)}; the rollback is retried automatically, or at once with the annotation ${RETRY_ROLLBACK}`,
      };
};

const finish = (context: ReconcileContext, journal: Back): Step => {
  const { txn, now } = context;
  const items = projected(txn, journal, context.settings);
  const unsettled = items.flatMap((item, index) =>
    isUnsettled(item) && "error" in item.state ? [`changes[${index}]: ${item.state.error}`] : [],
  );
  // The message of Ready may be about a pause by now.
  const cause = txn.status.conditions.find(({ type }) => type === "Committed");
  if (unsettled.length > 0) {
    const message = cut(
      `rollback incomplete: ${unsettled.join("; ")}; rolled back because: ${cause?.message ?? "a change failed"}`,
      4096,
    );
    const because = { reason: INCOMPLETE, message, eventMessage: "rollback incomplete, see status.items" };
    const isRetried = items.some((item, index) => isUnsettled(item) && !needsRequest(journal, index));
    const attempts = isRetried ? (txn.status.recovery?.attempts ?? 0) : MAX_RETRIES;
    const event = whatFollows(txn, journal, message, attempts);
    const recovery = isRetried ? {} : { recovery: { attempts } };
    return run(updateStatus(txn, { phase: "Failed", items, because, ...recovery }, now, event));
  }
  const { requests, messages: gone } = missing(context, items);
  if (requests.length > 0) return run(...requests);
  const health = awaitHealthy(context, journal, items);
  if (health.type === "step") return health.step;
  const { healthy } = health;
  const unhealthy = healthy === undefined || healthy.isHealthy ? undefined : cut(healthy.message, 1024);
  const verdict = `${verdictOf(items, gone)}${unhealthy === undefined ? "" : `, but not healthy: ${unhealthy}`}`;
  const isWanted = cause?.reason === "RollbackRequested";
  const eventMessage = isWanted ? verdict : `${verdict}; fix the cause, and create the Transaction again`;
  const message = cut(`${verdict}; rolled back because: ${cause?.message ?? "a change failed"}`, 4096);
  const because = { reason: cause?.reason ?? "RolledBack", message, eventMessage };
  const warnings: EventSpec[] = [...gone].map(([item, message]) => ({
    type: "Warning",
    reason: "ConflictDetected",
    item,
    message,
  }));
  if (unhealthy !== undefined) warnings.push({ type: "Warning", reason: "TargetsNotHealthy", message: unhealthy });
  return run(
    updateStatus(
      txn,
      {
        phase: "RolledBack",
        items: withoutWaiting(items),
        because,
        ...(healthy === undefined ? {} : { healthy }),
      },
      now,
      ...warnings,
    ),
  );
};

/** Nothing is waited for any more: the condition Healthy says what has become of it. */
const withoutWaiting = (items: readonly Item[]): readonly Item[] =>
  items.map((item) => {
    const { waiting: _, ...rest } = item;
    return rest;
  });

/** Names what is not as before: items with a warning, and missing targets. Cut off, it must not claim that all is as before. */
const verdictOf = (items: readonly Item[], gone: ReadonlyMap<number, string>): string => {
  const exceptions = items.flatMap(({ state }, index) => {
    const exception = gone.get(index) ?? (state.type === "restored" ? state.error : undefined);
    return exception === undefined ? [] : [`changes[${index}]: ${exception}`];
  });
  return exceptions.length === 0
    ? "every target is as it was before"
    : `rolled back, except for ${exceptions.join("; ")}`;
};
