// Rolls back what phases of atomic actions have changed, when the ActionSet has failed: one Transaction after the other, the last first.
import { REQUEST_ROLLBACK } from "@janus/api";
import { fromTimestamp, type Instant, isAbsent, type KubeObject, messageOf } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { ActionSet } from "../../api/action-set.ts";
import { DEFER_OF_DELETED } from "../bounds.ts";
import type { Effect } from "../effect.ts";
import type { Journal, PhaseRecord } from "../journal.ts";
import { nameOf } from "../made-object.ts";
import type { Memory } from "../memory.ts";
import { attemptOf, phaseKey } from "../names.ts";
import { type PhaseId, WATCHED, type WatchedObject } from "../phase-context.ts";
import { get, inquiry, type ObjectRef, patch, remove } from "../requests.ts";
import { failed, isAllDone, isToBeRolledBack, type PlacedRecord, recordsOf, withRecord } from "../schedule.ts";
import { progressOf, transactionRef, transactionUid } from "./transaction.ts";
import { written } from "./write-transaction.ts";

/** The Transaction of a phase in its last attempt, if it may have changed something. */
export interface PlacedTransaction {
  /** The name under which answers about it are remembered. */
  readonly key: string;
  readonly ref: ObjectRef;
  readonly uid: string;
}

const placed = (
  { metadata }: ActionSet,
  journal: Journal,
  { action, phase, record }: PlacedRecord,
): PlacedTransaction | undefined => {
  const uid = transactionUid(record.remembered);
  if (uid === undefined || phase === "defer") return undefined;
  const name = journal.actions[action]?.blueprint.phases?.[phase]?.name ?? "";
  const ref = transactionRef(metadata.namespace, attemptOf(metadata.uid, action, name, record.attempt));
  return { key: `${phaseKey(action, phase, record.attempt)}/transaction`, ref, uid };
};

type Rollback = NonNullable<PhaseRecord["rollback"]>;

type Decision =
  | { readonly type: "run"; readonly effects: readonly Effect[] }
  | { readonly type: "wait"; readonly because: string; readonly watched: WatchedObject }
  | { readonly type: "record"; readonly rollback: Rollback };

const record = (state: "withdrawing" | "done" | "nothing"): Decision => ({ type: "record", rollback: { state } });
const incomplete = (message: string): Decision => ({ type: "record", rollback: { state: "incomplete", message } });

/** Decides what is next for one Transaction, by the journal and by what it says of itself. */
const decide = (memory: Memory, journal: Journal, { record: own }: PlacedRecord, one: PlacedTransaction): Decision => {
  const { key, ref, uid } = one;
  const as = journal.serviceAccount;
  const { ask, missing } = inquiry(memory);
  const run: Decision = { type: "run", effects: missing };
  const isWithdrawn = own.rollback?.state === "withdrawing";
  const read = (fact: string): Effect => get("read-transaction", fact, ref, as);
  const there = ask(read(`${key}/${WATCHED}`));
  if (there === undefined) return run;
  if (E.isLeft(there) && !isAbsent(there.left)) return incomplete(`it cannot be read: ${messageOf(there.left)}`);
  if (E.isLeft(there) || there.right.metadata.uid !== uid)
    return isWithdrawn
      ? record("nothing")
      : incomplete("it is gone: somebody has deleted it, what it has changed stays");
  const { resourceVersion = "", annotations = {}, deletionTimestamp } = there.right.metadata;
  const wait = (because: string, { metadata }: KubeObject = there.right): Decision => ({
    type: "wait",
    because: `${nameOf(ref)}: ${because}`,
    watched: { ref, resourceVersion: metadata.resourceVersion },
  });
  const isStill = ({ metadata }: KubeObject): boolean => metadata.resourceVersion === resourceVersion;
  const progress = progressOf(there.right);
  switch (progress.type) {
    case "draft": {
      if (!isWithdrawn) return record("withdrawing");
      const write = (fact: string): Effect => remove("withdraw", fact, ref, uid, as, resourceVersion);
      const deleted = written(ask, `${key}/withdraw/${resourceVersion}`, { write, read }, isStill);
      if (deleted === undefined) return run;
      if (deleted === "moved") return wait("it is withdrawn");
      return E.isRight(deleted)
        ? record("nothing")
        : incomplete(`it cannot be deleted, and may yet be published: ${messageOf(deleted.left)}`);
    }
    case "unchanged":
      return record("nothing");
    case "rolled-back":
      return progress.exceptions === undefined ? record("done") : incomplete(progress.exceptions);
    case "incomplete":
    case "final":
      return incomplete(progress.message);
    case "rolling-back":
      return wait(progress.message);
    case "committed":
    case "active": {
      if (deletionTimestamp !== undefined && progress.type === "committed")
        return incomplete("somebody has deleted it: what it has changed stays");
      if (annotations[REQUEST_ROLLBACK] !== undefined) return wait("its rollback is requested");
      const request = { metadata: { uid, annotations: { [REQUEST_ROLLBACK]: "the ActionSet has failed" } } };
      const write = (fact: string): Effect => patch("request-rollback", fact, "mergePatch", ref, request, as);
      const asked = written(ask, `${key}/request/${resourceVersion}`, { write, read }, isStill);
      if (asked === undefined) return run;
      if (asked === "moved") return wait("its rollback is requested");
      return E.isRight(asked)
        ? wait("its rollback is requested", asked.right)
        : incomplete(`its rollback cannot be requested: ${messageOf(asked.left)}`);
    }
  }
};

/** Lists the phases that are to be rolled back, the last first; the first of each list is next. */
const queues = (journal: Journal): readonly (readonly PlacedRecord[])[] => {
  const all = recordsOf(journal)
    .filter(({ record: one }) => isToBeRolledBack(journal, one))
    .toReversed();
  const isRunning = journal.actions.map(({ phases }) => phases.some(({ state }) => state === "running"));
  if (journal.spec.executionMode === "Sequential") return isRunning.includes(true) ? [] : [all];
  return isRunning.map((is, at) => (is ? [] : all.filter(({ action }) => action === at)));
};

/** Records the rollback of one phase, which is not executed again if its last attempt has left something. */
const recorded = (
  journal: Journal,
  { record: own, ...id }: PlacedRecord,
  rollback: Rollback,
  now: Instant,
): Journal => {
  const isLeft = own.state === "retrying" && rollback.state === "incomplete";
  const after = withRecord(journal, id, { ...(isLeft ? failed(own, own, now) : own), rollback });
  return isLeft ? { ...after, error: journal.error ?? own.message ?? "" } : after;
};

export interface RollingBack {
  readonly journal: Journal;
  readonly effects: readonly Effect[];
  readonly waits: readonly {
    readonly id: PhaseId;
    readonly until: Instant;
    readonly because: string;
    readonly watched: readonly WatchedObject[];
  }[];
}

/** The deadline of rollbacks: once the ActionSet is deleted, they take no longer than a deferPhase. */
const deadlineOf = ({ deletedAt }: Journal): Instant =>
  (fromTimestamp(deletedAt) ?? Number.POSITIVE_INFINITY) + DEFER_OF_DELETED;

/**
 * Decides what is next of all that is to be rolled back.
 *
 * Guarantees: of each action one at a time, the last first, and none before the phases of its action have ended. What cannot be
 *             rolled back is recorded with its reason.
 */
export const rollBack = (memory: Memory, actionSet: ActionSet, journal: Journal, now: Instant): RollingBack =>
  queues(journal).reduce<RollingBack>(
    (sum, [next]) => {
      const one = next && placed(actionSet, journal, next);
      if (next === undefined || one === undefined) return sum;
      const { action, phase } = next;
      const until = deadlineOf(journal);
      const decided = decide(memory, journal, next, one);
      const decision =
        decided.type === "record" || now < until
          ? decided
          : incomplete(`it was not rolled back within 10m of the deletion of the ActionSet`);
      switch (decision.type) {
        case "run":
          return { ...sum, effects: [...sum.effects, ...decision.effects] };
        case "record": {
          const { state, message } = decision.rollback;
          const rollback = { state, ...(message === undefined ? {} : { message: `${nameOf(one.ref)}: ${message}` }) };
          return { ...sum, journal: recorded(sum.journal, next, rollback, now) };
        }
        case "wait": {
          const { because, watched } = decision;
          return { ...sum, waits: [...sum.waits, { id: { action, phase }, until, because, watched: [watched] }] };
        }
      }
    },
    { journal, effects: [], waits: [] },
  );

/**
 * The Transactions that nobody needs any more: those of an attempt that is followed by another one, and in the end all. To delete
 * one that is Committed ends its rollbackWindow. One that is not wholly rolled back is kept, for its author to go on with.
 */
export const spentTransactions = (actionSet: ActionSet, journal: Journal): readonly PlacedTransaction[] => {
  const isOver = isAllDone(journal);
  return recordsOf(journal).flatMap((one) => {
    const { state, rollback } = one.record;
    const isSettled = rollback !== undefined && rollback.state !== "withdrawing";
    const isSpent = rollback?.state !== "incomplete" && (isOver || (state === "retrying" && isSettled));
    const found = isSpent ? placed(actionSet, journal, one) : undefined;
    return found === undefined ? [] : [found];
  });
};

/** Says in the message of the ActionSet what has become of it. */
export const rollbackText = (journal: Journal): string | undefined => {
  const told = recordsOf(journal).flatMap(({ action, phase, record: { rollback } }) => {
    if (rollback === undefined || phase === "defer") return [];
    return [{ name: journal.actions[action]?.blueprint.phases?.[phase]?.name ?? "", ...rollback }];
  });
  const done = told.filter(({ state }) => state === "done").map(({ name }) => name);
  const parts = [
    ...told.flatMap(({ name, state, message = "" }) =>
      state === "incomplete" ? [`phase ${name} is not rolled back: ${message}`] : [],
    ),
    ...(done.length === 0 ? [] : [`rolled back: ${done.toReversed().join(", ")}`]),
  ];
  return parts.length === 0 ? undefined : parts.join("; ");
};
