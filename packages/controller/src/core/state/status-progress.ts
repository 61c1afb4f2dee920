// Writes progress into the status at most once a second, and the reason of a pause.
import { cut, type Item } from "@janus/api";
import { type Effect, run, type Step, type EventSpec, wait, type Watched } from "./effect.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { Instant } from "@janus/types";
import type { Journal } from "./journal.ts";
import { projected, updateStatus } from "./status-update.ts";
import { APPLYING, WAITING } from "./conditions.ts";
import type { ReconcileContext } from "./reconcile-context.ts";

/** The most bytes for which a condition has room. */
const MAX_MESSAGE = 2048;

/** A pause, with the reason in the status. Without a journal, there is no progress to show. */
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
  if (isReported || !isProjectionDue(context)) return wait(until, because, ...events);
  const items = journal === undefined ? txn.status.items : projected(txn, journal, settings);
  return { ...run(updateStatus(txn, { items, because: { reason: WAITING, message: because } }, now)), events };
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
  const { txn, known, now, settings } = context;
  const [first] = targets;
  const more = targets.length === 1 ? "" : ` (and ${targets.length - 1} more)`;
  const message = cut(`waiting for ${formatRef(first.place)}: ${first.waiting.gate}${more}`, MAX_MESSAGE);
  const isReported = txn.status.conditions.some((one) => one.type === "Ready" && one.message === message);
  if (isReported || now < known.projectionDue)
    return {
      ...wait(isReported ? until : Math.min(until, known.projectionDue), message),
      watched: [...targets, ...others],
    };
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
export const isProjectionDue = ({ known, now }: ReconcileContext): boolean => now >= known.projectionDue;

/** Shows progress in the status, at most once a second, concurrently with the next write. */
export const projection = (context: ReconcileContext, journal: Journal): readonly Effect[] => {
  const { txn, now, settings } = context;
  return isProjectionDue(context)
    ? [updateStatus(txn, { items: projected(txn, journal, settings), because: APPLYING }, now)]
    : [];
};
