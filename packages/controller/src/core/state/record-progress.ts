// Records how far the changes have come: the checkpoint of one window of changes, and the intent of the next.
import { cut } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { showGates } from "../gates/gate.ts";
import { gatesOf } from "../gates/gates-of.ts";
import type { ApiCall, EventSpec } from "./effect.ts";
import { gatedChanges } from "./gated-changes.ts";
import { type Entry, type Forward, gatesInDoubt, type Journal } from "./journal.ts";
import { checkpoint } from "./journal-requests.ts";
import { unauthorizedChanges } from "./late-locks.ts";
import { trimming } from "./memory-budget.ts";
import type { ReconcileContext } from "./reconcile-context.ts";
import { resolvedChange } from "./resolve-apply.ts";
import { mustConceal } from "./sensitive-kinds.ts";
import { namedTarget, resolveTarget } from "./target-resolution.ts";
import { intentAt } from "./window.ts";

/** The most bytes of the message of an event. */
const MAX_MESSAGE = 1024;

/** The event of the changes that are recorded as in, from the first of these up to before the second: one for all, with how many are in. */
export const committedEvents = (
  { txn, known }: ReconcileContext,
  from: number,
  until: number,
): readonly EventSpec[] => {
  const { changes } = txn.spec;
  const made = changes.slice(from, until).map(({ type }, at) => {
    const { type: resolved = type } = resolvedChange(txn, known, from + at) ?? {};
    return `${resolved} ${namedTarget(txn, known, from + at).target ?? ""}`;
  });
  if (made.length === 0) return [];
  const message = cut(`${until}/${changes.length} ${made.join(", ")}`, MAX_MESSAGE);
  return [{ type: "Normal", reason: "ItemCommitted", ...(made.length === 1 ? { item: from } : {}), message }];
};

/**
 * The position when all changes before this one are in: its window opens, but the gates before it come first. Where the journal was
 * lost, it may have been made: then its target is read first, which shows whether they were met.
 */
const positionAt = ({ txn, now }: ReconcileContext, journal: Journal, cursor: number): Forward => {
  if (gatesInDoubt(journal)) return { direction: "forward", cursor, gatesInDoubt: true };
  return gatedChanges(txn, cursor).length > 0
    ? { direction: "forward", cursor, gatedSince: now }
    : intentAt(txn, cursor, unauthorizedChanges(txn));
};

/** Tells what is waited for from now on. */
const gateWaiting = (context: ReconcileContext, { cursor, gatedSince }: Forward): readonly EventSpec[] => {
  const { txn, known, settings } = context;
  if (gatedSince === undefined) return [];
  const awaited = gatedChanges(txn, cursor);
  const index = cursor - 1;
  const change = txn.spec.changes[index];
  const place = resolveTarget(txn, known, index);
  const conceals = E.isLeft(place) || mustConceal(place.right.resource, change, settings);
  const message =
    txn.spec.waitAt === "End"
      ? `waiting for the gates of ${awaited.length === 1 ? "one change" : `${awaited.length} changes`}`
      : `waiting for ${namedTarget(txn, known, index).target ?? ""}: ${showGates(gatesOf(txn, index), conceals)}`;
  return [{ type: "Normal", reason: "GateWaiting", item: index, message }];
};

/**
 * Records that all changes before the cursor are in, as a checkpoint of their window and as the intent of the next.
 *
 * @param from the first of them that was not recorded yet
 */
export const recordIn = (
  context: ReconcileContext,
  journal: Journal,
  from: number,
  cursor: number,
  made: Pick<Entry, "created" | "replaced"> = {},
): ApiCall => {
  const position = positionAt(context, journal, cursor);
  const events = [...committedEvents(context, from, cursor), ...gateWaiting(context, position)];
  return trimming(checkpoint(context.txn, journal, { position, ...made }, ...events));
};

/** Records what is only known to this process of the window, and closes it: before anything else is recorded, and what others rely on. */
export const closeWindow = (context: ReconcileContext, journal: Journal): ApiCall =>
  checkpoint(
    context.txn,
    journal,
    {},
    ...committedEvents(context, journal.ahead?.from ?? journal.position.cursor, journal.position.cursor),
  );
