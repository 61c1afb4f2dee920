// Finds out by marks in the targets how many changes were applied, where nothing is recorded of it.
import * as E from "fp-ts/lib/Either.js";
import type { Instant } from "@janus/types";
import { formatRef } from "../kubernetes/kube-object.ts";
import { type Snapshot, snapshotOf } from "../snapshots/prior-state.ts";
import { type ApiCall, run, type Step } from "../state/effect.ts";
import type { Trace } from "../state/forward-observations.ts";
import type { Journal, Note } from "../state/journal.ts";
import { forwardIn } from "../state/observations.ts";
import { deadline, inFlightWindow, type ReconcileContext } from "../state/reconcile-context.ts";
import { readTarget, type ResolvedItem } from "../state/resolved-changes.ts";
import { resolvedChange } from "../state/resolve-apply.ts";
import { waiting } from "../state/status-progress.ts";
import { discoveries, resolveTarget } from "../state/target-resolution.ts";
import { stopRequest } from "../transitions/stop-request.ts";
import { isTried, telling } from "./last-look.ts";

/** Targets that are read at the same time. */
const MOST = 16;

/** How far the changes have come, by their traces. */
export interface Progress {
  /** Changes before it are in; the one at it is in doubt, as after any crash. */
  readonly cursor: number;
  /** Changes from the cursor on that may be in; empty unless there is one after the cursor. */
  readonly open: readonly number[];
}

/**
 * Guarantees: a change whose target has our mark proves that all changes before it were answered, since each is sent after the answer
 *             to the one before; a change that was certainly never made proves that none after it was sent. In between, a target
 *             without our mark that is not as it was before may be ours.
 * Assumes:    the targets were read when no write of a former process could take effect any more; or see `isSettled`.
 */
export const progressOf = (traces: readonly Trace[]): Progress => {
  let cursor = traces.findLastIndex(({ type }) => type === "in") + 1;
  // As for any Delete in doubt: a target that is gone counts as deleted by us.
  while (traces[cursor]?.type === "gone") cursor += 1;
  const never = traces.findIndex(({ type }, index) => index >= cursor && type === "never");
  const between = traces.flatMap(({ type }, index) =>
    index >= cursor && (never === -1 || index < never) && (type === "open" || type === "gone") ? [index] : [],
  );
  return { cursor, open: between.some((index) => index > cursor) ? between : [] };
};

const isStopping = (context: ReconcileContext): boolean =>
  stopRequest(context).type !== "none" || context.now >= deadline(context);

/** Changes of which some may have been made, by a former process or before the journal was lost. */
export interface Doubtful {
  /** All before it are in. */
  readonly from: number;
  /** The end: none from it on was sent. */
  readonly until: number;
  /** When this was found; a write of a former process was sent before it. */
  readonly since: Instant;
  /** Why it is not known, for messages. */
  readonly why: string;
}

/** The trace of a change, if it is known; otherwise the requests that show it. @param from earlier reads are outdated */
const search = (
  context: ReconcileContext,
  journal: Journal,
  index: number,
  from: Instant,
): Trace | readonly ApiCall[] => {
  const { txn, known } = context;
  const { write, trace, unread } = forwardIn(known, index);
  // Of a Replace, it may be the deletion that was made.
  if (write?.type === "made" && (write.created !== undefined || txn.spec.changes[index]?.type !== "Replace"))
    return { type: "in", ...(write.created === undefined ? {} : { created: write.created }) };
  const seen = trace === undefined || (trace.at < from && trace.of.type !== "in") ? undefined : trace.of;
  if (seen !== undefined && seen.type !== "unclear") return seen;
  const change = resolvedChange(txn, known, index);
  const place = resolveTarget(txn, known, index);
  if (change === undefined || E.isLeft(place))
    return { type: "open", why: E.isLeft(place) ? place.left : "it is not in spec" };
  const item: ResolvedItem = { index, change, place: place.right };
  if (unread !== undefined && isTried(unread) && isStopping(context))
    return { type: "open", why: `it cannot be read: ${unread.message}` };
  const snapshot = seen === undefined ? undefined : snapshotOf(txn, known, journal, index);
  if (snapshot?.type === "unread") return snapshot.effects.map((effect) => telling(effect, index));
  if (snapshot?.type === "lost") return { type: "open", why: snapshot.why };
  return [reading(item, snapshot)];
};

/** Reads a target, and keeps only what it tells of the change. */
const reading = (item: ResolvedItem, snapshot: Snapshot | undefined): ApiCall => {
  const read = readTarget(item, { type: "trace-unreadable" });
  const before = snapshot?.type === "object" ? { before: snapshot.object } : {};
  return telling({ ...read, folds: [...read.folds, { type: "trace-read", ...before }] }, item.index);
};

/** The traces of all that are in doubt, or the next requests that show them. */
const look = (
  context: ReconcileContext,
  journal: Journal,
  { from, until }: Doubtful,
  at: Instant,
): E.Either<Step, readonly Trace[]> => {
  const searches = context.txn.spec.changes.flatMap((_, index) =>
    index < from || index >= until ? [] : [search(context, journal, index, at)],
  );
  const requests = searches.filter((found): found is readonly ApiCall[] => Array.isArray(found)).slice(0, MOST);
  return requests.length > 0 ? E.left(run(...requests.flat())) : E.right(searches as readonly Trace[]);
};

/**
 * Whether the changes after these are known not to be made whatever is still on its way: at most the first that is not in is, and its
 * precondition stops that once it is sent again.
 */
const isSettled = (traces: readonly Trace[], { cursor }: Progress): boolean =>
  cursor === traces.length || traces[cursor]?.type === "never";

/** How far the changes have come, with what has to be recorded of them. */
export interface FoundProgress extends Pick<Journal, "created" | "replaced" | "notes"> {
  readonly cursor: number;
}

/**
 * Finds out by the traces in their targets how far the changes in doubt have come. This is to be recorded before anything else is
 * done: until it is, the next process begins anew.
 *
 * @returns Left: what is to be done first.
 */
export const findProgress = (
  context: ReconcileContext,
  journal: Journal,
  doubtful: Doubtful,
): E.Either<Step, FoundProgress> => {
  const { txn, known, now, settings } = context;
  const unknown = discoveries(txn, known);
  if (unknown.length > 0 && !(known.undiscovered !== undefined && isTried(known.undiscovered) && isStopping(context)))
    return E.left(run(...unknown));
  const early = look(context, journal, doubtful, doubtful.since);
  if (E.isLeft(early)) return early;
  const progress = progressOf(early.right);
  if (isSettled(early.right, progress)) return E.right(found(context, doubtful, early.right, progress));
  const settledAt = doubtful.since + inFlightWindow(settings);
  const because = `${doubtful.why}, and a write that was sent may still take effect`;
  if (now < settledAt) return E.left(waiting(context, undefined, settledAt, because));
  const traces = look(context, journal, doubtful, settledAt);
  return E.isLeft(traces) ? traces : E.right(found(context, doubtful, traces.right, progressOf(traces.right)));
};

const found = (
  context: ReconcileContext,
  { from, why }: Doubtful,
  traces: readonly Trace[],
  { cursor, open }: Progress,
): FoundProgress => {
  const made = traces.flatMap((trace, at) =>
    trace.type === "in" && trace.created !== undefined ? [[from + at, trace.created] as const] : [],
  );
  const isReplace = (index: number): boolean => resolvedChange(context.txn, context.known, index)?.type === "Replace";
  return {
    cursor: from + cursor,
    created: new Map(made.filter(([index]) => !isReplace(index))),
    replaced: new Map(made.filter(([index]) => isReplace(index))),
    notes: new Map(open.map((at) => [from + at, doubt(context, from + at, traces[at], why)] as const)),
  };
};

const doubt = ({ txn, known }: ReconcileContext, index: number, trace: Trace | undefined, because: string): Note => {
  const place = resolveTarget(txn, known, index);
  const name = E.isRight(place) ? formatRef(place.right) : (txn.spec.changes[index]?.target.name ?? "");
  const why = trace?.type === "open" ? trace.why : "it is gone";
  return { type: "unknown", error: `${because}, and it is unknown whether ${name} was changed: ${why}` };
};
