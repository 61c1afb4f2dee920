// Reads what has become of a write, after a refusal or a restart; and limits for how long, if the Transaction is to stop.
import { type ApiCall, type Effect, run, type Step } from "../state/effect.ts";
import type { Fault } from "../state/fold.ts";
import { type AbortCause, type SentWrite, sentWrite } from "../state/forward-observations.ts";
import { forwardIn } from "../state/observations.ts";
import { type Outage } from "../state/target-observations.ts";
import { reasonToStop, type Underway } from "./reason-to-stop.ts";

/** When a Transaction is to stop, it is tried for so long to read what it needs for that, in ms. */
const LAST_LOOK = 10_000;

/**
 * Whether it was tried for long enough: its API may be down for long, and the rollback of the other changes does not need it.
 *
 * @param from not counting what was tried before
 */
export const isTried = (unanswered: Outage | undefined, from = Number.NEGATIVE_INFINITY): boolean =>
  unanswered !== undefined && unanswered.at >= Math.max(from, unanswered.since) + LAST_LOOK;

/** The fate of a change whose target cannot be read: not every rejection comes from the API server. */
export const fateUnread = (write: SentWrite | undefined): AbortCause["fate"] =>
  write === undefined ? "not-sent" : "unknown";

/** A read that tells what has become of a change. */
export const telling = (read: ApiCall, index: number): ApiCall => ({
  ...read,
  folds: [{ type: "fate-read", index }, ...read.folds],
  unanswered: [...(read.unanswered ?? []), { type: "fate-unread", index }],
});

/** If the API server was down as a whole, that cannot be recorded, and what was not read before is tried again. */
export const unlessDown = (stopping: Step, again: Fault): Step => {
  if (stopping.type !== "run") return stopping;
  const effects = stopping.effects.map(
    (effect): Effect => ({ ...effect, unanswered: [...(effect.unanswered ?? []), again] }),
  );
  return { ...stopping, effects };
};

/**
 * Reads what tells what has become of a change. If it is to stop, and the API does not answer, the change counts as unknown, and it
 * stops.
 *
 * @param what is read, for messages
 */
export const readOrStop = (underway: Underway, what: string, reads: readonly ApiCall[]): Step => {
  const { context, index } = underway;
  const { write: known, unread } = forwardIn(context.known, index);
  const write = sentWrite(known);
  if (write === undefined) return reasonToStop(underway, "not-sent") ?? run(...reads);
  if (unread === undefined || !isTried(unread)) return run(...reads);
  const stopping = reasonToStop(
    { ...underway, unread: `${what} cannot be read: ${unread.message}` },
    fateUnread(write),
  );
  if (stopping === undefined) return run(...reads);
  return unlessDown(stopping, { type: "fate-asked-again", index });
};
