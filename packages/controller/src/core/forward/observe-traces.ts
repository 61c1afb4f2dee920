// Folds reads of targets into the observations that tell how far the changes have come, where nothing else does.
import { type Before, deletes } from "@janus/api";
import { type Instant, messageOf, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { isMarked } from "../merge/marks.ts";
import type { TransactionRef } from "../merge/write-body.ts";
import type { TraceFold } from "../state/fold.ts";
import type { Folds } from "../state/folding.ts";
import { recordedBefore } from "../snapshots/prior-state.ts";
import type { Trace, Traced } from "../state/forward-observations.ts";
import { noJournal } from "../state/journal.ts";
import { changeIn, journalIn, type Observations, withChange, withForward } from "../state/observations.ts";
import type { ResolvedItem } from "../state/resolved-changes.ts";
import { resolvedChange } from "../state/resolve-apply.ts";
import type { TargetObservation } from "../state/target-observations.ts";
import { resolveInDoubt } from "./in-doubt.ts";

/** The trace of a change in its target; undefined: only a comparison with the snapshot tells. */
const traceOf = (
  { change, place }: ResolvedItem,
  before: Before,
  snapshot: KubeObject | undefined,
  seen: TargetObservation,
  author: TransactionRef,
): Trace | undefined => {
  const { object } = seen;
  if (object === undefined && change.type === "Replace") return { type: "open", why: "it is gone" };
  if (object === undefined) return { type: change.type === "Delete" ? "gone" : "nothing" };
  const { uid = "", resourceVersion, deletionTimestamp } = object.metadata;
  const isFormer = before.existed && before.uid === uid;
  if (change.type === "Replace" && !isFormer && isMarked(object, author.uid)) return { type: "in", created: uid };
  if (deletes(change))
    return isFormer && deletionTimestamp === undefined
      ? { type: "never" }
      : { type: "open", why: isFormer ? "it is being deleted" : "it was deleted and created again" };
  if (isMarked(object, author.uid)) return { type: "in", ...(change.type === "Create" ? { created: uid } : {}) };
  if (change.type === "Create")
    return { type: "open", why: "an object of this name exists whose managedFields do not name this Transaction" };
  if (!isFormer) return { type: "nothing" };
  if (before.existed && before.resourceVersion === resourceVersion) return { type: "never" };
  if (snapshot === undefined) return undefined;
  const verdict = resolveInDoubt(change, place, snapshot, undefined, seen, author);
  return verdict.type === "not-applied" || (verdict.type === "conflict" && verdict.mayBeApplied !== true)
    ? { type: "nothing" }
    : { type: "open", why: "it has changed, and its managedFields do not name this Transaction" };
};

/** Keeps only what the target tells of the change. */
const withTrace = (known: Observations, index: number, at: Instant, of: Traced["of"]): Observations =>
  withForward(withChange(known, index, { target: undefined, before: undefined }), index, { trace: { at, of } });

export const traceFolds: Folds<TraceFold> = {
  "trace-read": (known, { before: snapshot }, { effect: { item: index = -1, call } }, { txn }) => {
    const { target } = changeIn(known, index);
    const change = resolvedChange(txn, known, index);
    if (target === undefined || change === undefined) return known;
    const before = recordedBefore(txn, journalIn(known) ?? noJournal({ direction: "forward", cursor: 0 }), index);
    const item: ResolvedItem = { index, change, place: call.place };
    const trace = traceOf(item, before, snapshot, target, txn.metadata) ?? { type: "unclear" };
    return withTrace(known, index, target.at, trace);
  },
  "trace-unreadable": (known, _, { effect: { item: index = -1 }, answer, at }) =>
    E.isRight(answer)
      ? known
      : withTrace(known, index, at, { type: "open", why: `it cannot be read: ${messageOf(answer.left)}` }),
};
