import { type Effect, run, type Step, wait } from "./effect.ts";
import type { Journal } from "./journal.ts";
import { projected, record, WAITING } from "./record.ts";
import type { Situation } from "./situation.ts";

/** The status shows progress at most this often, in ms. */
const PROJECTION_INTERVAL = 1000;

/** A pause, with the reason for it where people look. */
export const waiting = (situation: Situation, journal: Journal, until: number, because: string): Step => {
  const { txn, known, now } = situation;
  const told = txn.status.conditions.some(({ type, message }) => type === "Ready" && message === because);
  if (told || now < known.projectedAt + PROJECTION_INTERVAL) return wait(until, because);
  const items = projected(txn, journal);
  return run(record(txn, { items, because: { reason: WAITING, message: because } }, now));
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
