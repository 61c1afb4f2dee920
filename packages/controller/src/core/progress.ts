import { type Effect, run, type Step, type Telling, wait } from "./effect.ts";
import type { Journal } from "./journal.ts";
import type { Locking } from "./locks.ts";
import { projected, record, WAITING } from "./record.ts";
import type { Situation } from "./situation.ts";

/** The status shows progress at most this often, in ms. */
const PROJECTION_INTERVAL = 1000;

/** A pause, with the reason for it where people look. Without a journal, nothing has been done yet that it could tell of. */
export const waiting = (
  situation: Situation,
  journal: Journal | undefined,
  until: number,
  because: string,
  ...tell: readonly Telling[]
): Step => {
  const { txn, known, now } = situation;
  const told = txn.status.conditions.some(({ type, message }) => type === "Ready" && message === because);
  if (told || now < known.projectedAt + PROJECTION_INTERVAL) return wait(until, because, ...tell);
  const items = journal === undefined ? txn.status.items : projected(txn, journal);
  return { ...run(record(txn, { items, because: { reason: WAITING, message: because } }, now)), tell };
};

/** A pause until a lock may be had, or what is to be done first. */
export const waitingForLock = (
  situation: Situation,
  journal: Journal | undefined,
  { until, because, tell, effects, awaited }: Extract<Locking, { readonly at: "waiting" }>,
): Step => {
  if (effects.length > 0) return { ...run(...effects), tell: [tell] };
  const step = waiting(situation, journal, until, because, tell);
  return step.next === "wait" ? { ...step, awaited } : step;
};

/** Shows progress in the status, at most once a second, beside the next write. */
export const projection = ({ txn, known, now }: Situation, journal: Journal): readonly Effect[] =>
  now < known.projectedAt + PROJECTION_INTERVAL
    ? []
    : [
        record(
          txn,
          { items: projected(txn, journal), because: { reason: "Committing", message: "making the changes" } },
          now,
        ),
      ];
