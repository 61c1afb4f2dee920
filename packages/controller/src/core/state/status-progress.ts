// Writes progress into the status at most once a second, and the reason of a pause.
import { cut, type Item, type Transaction } from "@janus/api";
import { type Effect, run, type Step, type EventSpec, wait, type Watched } from "./effect.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { Instant } from "@janus/types";
import type { Journal } from "./journal.ts";
import type { Observations } from "./observations.ts";
import { projected, updateStatus } from "./status-update.ts";
import { APPLYING, WAITING } from "./conditions.ts";
import type { ReconcileContext } from "./reconcile-context.ts";

/** The most bytes for which a condition has room. */
const MAX_MESSAGE = 2048;

/** The status shows progress, and that it waits, at most this often, in ms. */
const PROJECTION_INTERVAL = 1_000;

/** Progress pauses so many times as long as its last write took: whatever that costs, it takes a tenth of the time, up to writes of three seconds. */
const PROJECTION_PAUSE = 9;

/** The longest of these pauses, in ms: a write that met an outage says nothing of those that follow. */
const MOST_PAUSE = 30_000;

/** Another reason of the same wait is told at most this often, in ms: to those that wait for a lock, each other holder is one. */
const REASON_INTERVAL = 10_000;

/** The time from which on the status may show progress again. */
const progressDue = ({ statusWritten: { sent, answered } }: Observations): Instant =>
  Math.max(sent + PROJECTION_INTERVAL, answered + Math.min(PROJECTION_PAUSE * (answered - sent), MOST_PAUSE));

const saysThatItWaits = ({ status }: Transaction): boolean =>
  status.conditions.some(({ type, reason }) => type === "Ready" && reason === WAITING);

/** The time from which on the status may tell why it waits: soon, or, of another reason of the same wait, this long after it was written. */
const reasonDue = ({ txn, known }: ReconcileContext, interval: number): Instant =>
  saysThatItWaits(txn)
    ? Math.max(known.statusWritten.sent + interval, progressDue(known))
    : known.statusWritten.sent + PROJECTION_INTERVAL;

/** A pause, with the reason in the status and in these events. Without a journal, there is no progress to show. */
export const waiting = (
  context: ReconcileContext,
  journal: Journal | undefined,
  until: number,
  reason: string,
  ...events: readonly EventSpec[]
): Step => {
  const because = cut(reason, MAX_MESSAGE);
  const { txn, now, settings } = context;
  const isReported = txn.status.conditions.some(({ type, message }) => type === "Ready" && message === because);
  const mayReportAt = reasonDue(context, REASON_INTERVAL);
  if (isReported || now < mayReportAt)
    return wait(isReported ? until : Math.min(until, mayReportAt), because, ...(saysThatItWaits(txn) ? [] : events));
  const items = journal === undefined ? txn.status.items : projected(txn, journal, settings);
  return { ...run(updateStatus(txn, { items, because: { reason: WAITING, message: because } }, now)), events };
};

/**
 * Says again why it is rolled back, concurrently with the next write, where the status still tells what the rollback has waited for
 * although something was restored since.
 */
export const resumption = (context: ReconcileContext): readonly Effect[] => {
  const { txn, known, now } = context;
  const { restoredAt = Number.NEGATIVE_INFINITY, statusWritten } = known;
  const cause = txn.status.conditions.find(({ type }) => type === "Committed");
  return saysThatItWaits(txn) && restoredAt > statusWritten.sent && isProjectionDue(context) && cause !== undefined
    ? [updateStatus(txn, { because: cause }, now)]
    : [];
};

/** How many items name what is waited for: a status has no room for all of them. The message says how many more there are. */
export const MOST_AWAITED_ITEMS = 50;

/** A target that is waited for, and in words for what. */
export interface AwaitedTarget extends Watched {
  readonly waiting: NonNullable<Item["waiting"]>;
}

/**
 * A pause until one of these targets changes, shown on their items, too, as far as there is room.
 *
 * @param others targets that are watched, too. Default: none
 */
export const waitingForTargets = (
  context: ReconcileContext,
  journal: Journal,
  until: Instant,
  targets: readonly [AwaitedTarget, ...AwaitedTarget[]],
  others: readonly Watched[] = [],
): Step => {
  const { txn, now, settings } = context;
  const [first] = targets;
  const more = targets.length === 1 ? "" : ` (and ${targets.length - 1} more)`;
  const message = cut(`waiting for ${formatRef(first.place)}: ${first.waiting.gate}${more}`, MAX_MESSAGE);
  const isReported = txn.status.conditions.some((one) => one.type === "Ready" && one.message === message);
  const mayReportAt = reasonDue(context, PROJECTION_INTERVAL);
  if (isReported || now < mayReportAt)
    return { ...wait(isReported ? until : Math.min(until, mayReportAt), message), watched: [...targets, ...others] };
  const waiting = new Map(
    targets.slice(0, MOST_AWAITED_ITEMS).map((target) => [target.index, target.waiting] as const),
  );
  const items = projected(txn, journal, settings).map((item, index): Item => {
    const { waiting: _, ...rest } = item;
    const one = waiting.get(index);
    return one === undefined ? rest : { ...rest, waiting: { ...one, gate: cut(one.gate, 256) } };
  });
  return run(updateStatus(txn, { items, because: { reason: WAITING, message } }, now));
};

/** Whether the status may show progress again. */
export const isProjectionDue = ({ known, now }: ReconcileContext): boolean => now >= progressDue(known);

/** Shows progress in the status, at most once a second, concurrently with the next write. */
export const projection = (context: ReconcileContext, journal: Journal): readonly Effect[] => {
  const { txn, now, settings } = context;
  return isProjectionDue(context)
    ? [updateStatus(txn, { items: projected(txn, journal, settings), because: APPLYING }, now)]
    : [];
};
