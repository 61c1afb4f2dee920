// Folds what happened to a Transaction into what is remembered of it: the other entry point of the core.
import type { Transaction } from "@janus/api";
import { type ApiError, classify, type Instant, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { changeFaults, changeFolds } from "./forward/observe-change.ts";
import { gateFaults, gateFolds, observeEvents, observePods } from "./forward/observe-gates.ts";
import { traceFolds } from "./forward/observe-traces.ts";
import { withFreedLock } from "./locks/lock-queue.ts";
import { lockFaults, lockFolds } from "./locks/observe-lock.ts";
import { preflightFolds } from "./preflight/observe-preflight.ts";
import { storeFaults, storeFolds } from "./snapshots/observe-store.ts";
import { withContents } from "./state/contents.ts";
import { decodeBestEffort, decodeStored, type Unread } from "./state/decode-stored.ts";
import type { ApiCall, Discover, FindEvents, FindOwned, FindPods, Purpose } from "./state/effect.ts";
import type { Fault, Fold } from "./state/fold.ts";
import type { Faults, Folds } from "./state/folding.ts";
import { type Folder, handleAnswer, type RunFolds } from "./state/handle-answer.ts";
import type { About, Answered, Finding, Happened } from "./state/happened.ts";
import { contentsFaults, contentsFolds } from "./state/observe-contents.ts";
import { journalFaults, journalFolds } from "./state/observe-journal.ts";
import { kindFaults, observeKind, observeList } from "./state/observe-lookup.ts";
import { otherVersionFolds } from "./state/observe-other-version.ts";
import { ownerFolds } from "./state/observe-owner.ts";
import { recordFaults, recordFolds } from "./state/observe-record.ts";
import { targetFaults, targetFolds } from "./state/observe-target.ts";
import { type Observations, withoutRead } from "./state/observations.ts";
import type { Settings } from "./state/reconcile-context.ts";
import { reportedRetry, withoutRetry } from "./state/retry-status.ts";
import { restoreFaults, restoreFolds } from "./undo/observe-restore.ts";

const FOLDS: Folds<Fold> = {
  ...lockFolds,
  ...journalFolds,
  ...recordFolds,
  ...contentsFolds,
  ...ownerFolds,
  ...targetFolds,
  ...otherVersionFolds,
  ...preflightFolds,
  ...storeFolds,
  ...gateFolds,
  ...traceFolds,
  ...changeFolds,
  ...restoreFolds,
};

const FAULTS: Faults<Fault> = {
  ...lockFaults,
  ...kindFaults,
  ...journalFaults,
  ...recordFaults,
  ...contentsFaults,
  ...targetFaults,
  ...storeFaults,
  ...gateFaults,
  ...changeFaults,
  ...restoreFaults,
};

const folderOf = (about: About): Folder => {
  const run: RunFolds = (known, folds, answered) =>
    folds.reduce(
      (seen: Observations, fold) => FOLDS[fold.type](seen, fold as never, answered, { ...about, run }),
      known,
    );
  const miss: Folder["miss"] = (known, missed) =>
    (missed.effect.unanswered ?? []).reduce(
      (seen: Observations, fold) => FAULTS[fold.type](seen, fold as never, missed, { ...about, run }),
      known,
    );
  return { run, miss };
};

const foundBy = (known: Observations, finding: Finding, at: Instant): Observations => {
  switch (finding.effect.purpose) {
    case "discover": {
      const { effect, found } = finding as Extract<Finding, { effect: Discover }>;
      return observeKind(known, effect, found);
    }
    case "find-owned": {
      const { effect, found } = finding as Extract<Finding, { effect: FindOwned }>;
      return observeList(known, effect, found, at);
    }
    case "find-pods": {
      const { effect, found } = finding as Extract<Finding, { effect: FindPods }>;
      return observePods(known, effect, found, at);
    }
    case "find-events": {
      const { effect, found } = finding as Extract<Finding, { effect: FindEvents }>;
      return observeEvents(known, effect, found, at);
    }
  }
};

/** The Transaction as this process has last read or written it, and what it has observed of it since. */
export interface Memory {
  readonly txn: Transaction;
  readonly known: Observations;
  /** Why it cannot be decoded; then `txn` is what could be decoded of it. */
  readonly unreadable?: Unread | undefined;
}

export interface Observed {
  readonly memory: Memory;
  /** Why a request has to be made again, after a pause. */
  readonly failed?: ApiError;
  /** Another client has written the Transaction: it has to be read again. */
  readonly isStale?: true;
}

/** A stored Transaction, as it is remembered. */
export const decoded = (object: KubeObject): Required<Pick<Memory, "txn" | "unreadable">> => {
  const read = decodeStored(object);
  return E.isRight(read)
    ? { txn: read.right, unreadable: undefined }
    : { txn: decodeBestEffort(object), unreadable: read.left };
};

const OWN: readonly Purpose[] = ["record", "finalizer", "annotate"];

/** Whether the effect writes the Transaction itself. */
export const isOwn = ({ purpose }: ApiCall): boolean => OWN.includes(purpose);

/** Whether a conflict means that another client has written the Transaction. */
const writesTransaction = (effect: ApiCall): boolean => isOwn(effect) || effect.purpose === "report-unreadable";

/** The response to a write of the Transaction itself is its newest version. In another phase, its requests have succeeded again. */
const adopted = (memory: Memory, object: KubeObject): Memory => {
  const next = decoded(object);
  return next.txn.status.phase === memory.txn.status.phase
    ? { ...memory, ...next }
    : { ...next, known: withoutRetry(memory.known) };
};

const withAnswer = (memory: Memory, answered: Answered, settings: Settings): Observed => {
  const { effect, answer } = answered;
  const fault = E.isLeft(answer) ? classify(answer.left) : undefined;
  if (fault === "conflict" && writesTransaction(effect)) return { memory, isStale: true };
  if (E.isLeft(answer) && fault === "permanent" && isOwn(effect)) return { memory, failed: answer.left };
  const now = E.isRight(answer) && isOwn(effect) ? adopted(memory, answer.right) : memory;
  const about = { txn: withContents(now.txn, now.known), settings };
  const { known, ...rest } = handleAnswer(now.known, answered, folderOf(about));
  return { memory: { ...now, known }, ...rest };
};

/**
 * Folds what happened into what is remembered of a Transaction.
 *
 * Guarantees: pure and total; see {@link handleAnswer}.
 */
export const observe = (memory: Memory, happened: Happened, settings: Settings): Observed => {
  const { known } = memory;
  const learned = (now: Observations): Observed => ({ memory: { ...memory, known: now } });
  switch (happened.type) {
    case "answered":
      return withAnswer(memory, happened, settings);
    case "found":
      return learned(foundBy(known, happened, happened.at));
    case "lookup-failed":
      return { ...learned(folderOf({ txn: memory.txn, settings }).miss(known, happened)), failed: happened.error };
    case "changed":
      return learned(withoutRead(known, happened.index, happened.at, happened.finished));
    case "render-outdated":
      return learned({ ...known, targetsChanged: true });
    case "freed":
      return learned(withFreedLock(known, happened.awaited));
    case "pausing":
      return learned({ ...known, retryingSince: known.retryingSince ?? { since: happened.at } });
    case "reported":
      return learned(reportedRetry(known, happened.at));
    case "waiting":
      return learned(withoutRetry(known));
  }
};
