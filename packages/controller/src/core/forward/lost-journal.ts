// Finds out by marks in the targets how many changes were applied when the journal is lost.
import * as E from "fp-ts/lib/Either.js";
import { isGated } from "../gates/gates-of.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { type Snapshot, snapshotOf } from "../snapshots/prior-state.ts";
import { type ApiCall, type EventSpec, run, type Step } from "../state/effect.ts";
import type { Trace } from "../state/forward-observations.ts";
import { type Journal, type Note, noJournal, type Start } from "../state/journal.ts";
import { forwardIn } from "../state/observations.ts";
import { deadline, inFlightWindow, type ReconcileContext } from "../state/reconcile-context.ts";
import { readTarget, type ResolvedItem } from "../state/resolved-changes.ts";
import { resolvedChange } from "../state/resolve-apply.ts";
import { waiting } from "../state/status-progress.ts";
import { discoveries, namedTarget, resolveTarget } from "../state/target-resolution.ts";
import { stopRequest } from "../transitions/stop-request.ts";
import { isTried, telling } from "./last-look.ts";
import { itemCommitted } from "./next-change.ts";

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
 * Assumes:    the targets were read when no write of a former process could take effect any more.
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

/** A journal in which nothing is recorded that the status does not have. */
const asRecorded = (cursor: number): Journal => noJournal({ direction: "forward", cursor });

/** The trace of a change, if it is known; otherwise the requests that show it. */
const search = (context: ReconcileContext, index: number, from: number): Trace | readonly ApiCall[] => {
  const { txn, known } = context;
  const { write, trace, unread } = forwardIn(known, index);
  // Of a Replace, it may be the deletion that was made.
  if (write?.type === "made" && (write.created !== undefined || txn.spec.changes[index]?.type !== "Replace"))
    return { type: "in", ...(write.created === undefined ? {} : { created: write.created }) };
  if (trace !== undefined && trace.type !== "unclear") return trace;
  const change = resolvedChange(txn, known, index);
  const place = resolveTarget(txn, known, index);
  if (change === undefined || E.isLeft(place))
    return { type: "open", why: E.isLeft(place) ? place.left : "it is not in spec" };
  const item: ResolvedItem = { index, change, place: place.right };
  if (unread !== undefined && isTried(unread) && isStopping(context))
    return { type: "open", why: `it cannot be read: ${unread.message}` };
  const snapshot = trace === undefined ? undefined : snapshotOf(txn, known, asRecorded(from), index);
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

const instead = (step: Step): Found => ({ type: "step", step });

export type Found = { readonly type: "step"; readonly step: Step } | { readonly type: "found"; readonly start: Start };

/**
 * Finds out how far the changes have come since the status was written. The journal is written only then, with what was found: until
 * it is there, the next process begins anew.
 *
 * @param from the first change that is not applied by the status
 * @param lost when the journal was found missing
 */
export const findProgress = (context: ReconcileContext, from: number, lost: number): Found => {
  const { txn, known, now, settings } = context;
  const settledAt = lost + inFlightWindow(settings);
  if (now < settledAt)
    return instead(
      waiting(context, undefined, settledAt, "the journal was lost, and a write that was sent may still take effect"),
    );
  const unknown = discoveries(txn, known);
  if (unknown.length > 0 && !(known.undiscovered !== undefined && isTried(known.undiscovered) && isStopping(context)))
    return instead(run(...unknown));
  const searches = txn.spec.changes.flatMap((_, index) => (index < from ? [] : [search(context, index, from)]));
  const requests = searches.filter((found): found is readonly ApiCall[] => Array.isArray(found)).slice(0, MOST);
  if (requests.length > 0) return instead(run(...requests.flat()));
  const traces = searches as readonly Trace[];
  const { cursor, open } = progressOf(traces);
  const hasGates = txn.spec.changes.some((_, index) => isGated(txn, index));
  const made = traces.flatMap((trace, at) =>
    trace.type === "in" && trace.created !== undefined ? [[from + at, trace.created] as const] : [],
  );
  const isReplace = (index: number): boolean => resolvedChange(txn, known, index)?.type === "Replace";
  return {
    type: "found",
    start: {
      position: { direction: "forward", cursor: from + cursor, ...(hasGates ? { gatesInDoubt: true } : {}) },
      created: new Map(made.filter(([index]) => !isReplace(index))),
      replaced: new Map(made.filter(([index]) => isReplace(index))),
      notes: new Map(open.map((at) => [from + at, doubt(context, from + at, traces[at])] as const)),
    },
  };
};

const doubt = ({ txn, known }: ReconcileContext, index: number, trace: Trace | undefined): Note => {
  const place = resolveTarget(txn, known, index);
  const name = E.isRight(place) ? formatRef(place.right) : (txn.spec.changes[index]?.target.name ?? "");
  const why = trace?.type === "open" ? trace.why : "it is gone";
  return { type: "unknown", error: `the journal was lost, and it is unknown whether ${name} was changed: ${why}` };
};

/** Tells of the changes that were found to be in. */
export const foundEvents = ({ txn, known }: ReconcileContext, from: number, cursor: number): readonly EventSpec[] =>
  txn.spec.changes
    .slice(from, cursor)
    .map(({ type }, at) => itemCommitted(txn, from + at, type, namedTarget(txn, known, from + at).target ?? ""));
