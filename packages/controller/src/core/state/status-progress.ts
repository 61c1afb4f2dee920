import { type Effect, run, type Step, type EventSpec, wait } from "./effect.ts";
import type { Journal } from "./journal.ts";
import { projected, updateStatus } from "./status-update.ts";
import { WAITING } from "./conditions.ts";
import type { ReconcileContext } from "./reconcile-context.ts";

/** The status shows progress at most this often, in ms. */
const PROJECTION_INTERVAL = 1000;

/** A pause, with the reason in the status. Without a journal, there is no progress to show. */
export const waiting = (
  context: ReconcileContext,
  journal: Journal | undefined,
  until: number,
  because: string,
  ...events: readonly EventSpec[]
): Step => {
  const { txn, known, now } = context;
  const isReported = txn.status.conditions.some(({ type, message }) => type === "Ready" && message === because);
  if (isReported || now < known.projectedAt + PROJECTION_INTERVAL) return wait(until, because, ...events);
  const items = journal === undefined ? txn.status.items : projected(txn, journal);
  return { ...run(updateStatus(txn, { items, because: { reason: WAITING, message: because } }, now)), events };
};

/** Shows progress in the status, at most once a second, concurrently with the next write. */
export const projection = ({ txn, known, now }: ReconcileContext, journal: Journal): readonly Effect[] =>
  now < known.projectedAt + PROJECTION_INTERVAL
    ? []
    : [
        updateStatus(
          txn,
          { items: projected(txn, journal), because: { reason: "Committing", message: "applying the changes" } },
          now,
        ),
      ];
