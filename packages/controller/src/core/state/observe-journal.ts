// Folds the answers to requests for the journal, and what it tells of the changes, into the observations.
import type { Transaction } from "@janus/api";
import { classify, isAbsent, messageOf, type ApiError, type Instant, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { NOTHING_CLEANED_UP } from "./cleanup.ts";
import type { JournalFault, JournalFold } from "./fold.ts";
import type { Faults, Folds } from "./folding.ts";
import { inDoubtSince } from "./forward-observations.ts";
import { decodeJournal, decodeStoreNames, gatedSince, laterJournal, notAhead, windowEnd } from "./journal.ts";
import { type JournalObservation } from "./journal-observation.ts";
import { trimmed } from "./memory-budget.ts";
import { forwardIn, mapChanges, type Observations, reset, withForward, journalIn } from "./observations.ts";

const forget = (known: Observations): Observations => {
  const { journal: _, ...rest } = known;
  return rest;
};

const withRead = (known: Observations, txn: Transaction, object: KubeObject, now: Instant): Observations => {
  const { uid = "", resourceVersion = "" } = object.metadata;
  const { length } = txn.spec.changes;
  const storeNames = decodeStoreNames(object, length);
  const why = laterJournal(txn, object);
  if (why !== undefined) return { ...known, journal: { type: "later", storeNames }, later: { why, readAt: now } };
  const decoded = decodeJournal(object, length);
  const journal: JournalObservation =
    decoded === undefined
      ? { type: "altered", version: { uid, resourceVersion }, storeNames, since: now }
      : { type: "read", journal: { ...decoded, position: notAhead(decoded.position, now) } };
  return { ...known, journal };
};

const refused = (known: Observations, fault: ApiError, now: Instant): Observations => ({
  ...known,
  journal: { type: "refused", why: messageOf(fault), since: now },
});

/** Reads of the targets from the forward run are outdated; and released stores are needed again. */
const withoutForwardReads = (known: Observations): Observations => ({
  ...mapChanges(known, (observed) => ({
    ...observed,
    target: undefined,
    gate: undefined,
    enabling: undefined,
    owners: undefined,
  })),
  cleanup: NOTHING_CLEANED_UP,
});

export const journalFolds: Folds<JournalFold> = {
  "journal-read": (known, _, { answer, at }, { txn }) => {
    if (E.isRight(answer)) return withRead(known, txn, answer.right, at);
    if (isAbsent(answer.left)) return { ...known, journal: { type: "missing", since: at } };
    return classify(answer.left) === "conflict" ? forget(known) : refused(known, answer.left, at);
  },
  // A rejection of the write itself, other than AlreadyExists, lasts for a while.
  "journal-written": (known, _, { answer, at }, { txn }) => {
    if (E.isRight(answer)) return withRead(known, txn, answer.right, at);
    const exists = answer.left.type === "refused" && answer.left.code === 409;
    return exists ? { ...known, journal: { type: "taken" } } : refused(known, answer.left, at);
  },
  "no-journal-yet": (known) => ({ ...known, journal: { type: "missing" } }),
  "journal-released": (known) => ({ ...known, cleanup: { ...known.cleanup, isJournalReleased: true } }),
  // A process that knows what it has sent of a window has sent nothing after that.
  "window-in-doubt": (known, _, { at }) => {
    const journal = journalIn(known);
    if (journal === undefined || gatedSince(journal) !== undefined) return known;
    const { position, ahead } = journal;
    const { cursor } = position;
    const { write } = forwardIn(known, cursor);
    const isWide = position.direction === "forward" && windowEnd(position) > cursor + 1;
    return isWide && ahead === undefined && write === undefined
      ? { ...known, journal: { type: "read", journal, inDoubt: at } }
      : withForward(known, cursor, { write: inDoubtSince(write, at) });
  },
  "no-change-sent": ({ journal, ...known }) => ({
    ...mapChanges(known, (observed) => ({ ...observed, forward: undefined })),
    ...(journal === undefined
      ? {}
      : { journal: journal.type === "read" ? { type: "read", journal: journal.journal } : journal }),
  }),
  "journal-reversed": withoutForwardReads,
  "memory-trimmed": trimmed,
  // Nothing counts as released that may have been created since.
  "cleanup-restarted": (known) => {
    const nothing = reset(known, known.since);
    return { ...nothing, cleanup: { ...nothing.cleanup, isSwept: true } };
  },
};

export const journalFaults: Faults<JournalFault> = {
  "journal-maybe-created": (known, _, { at }) => ({ ...known, journal: { type: "taken" }, unansweredCreate: at }),
  "journal-maybe-written": forget,
  "journal-maybe-reversed": withoutForwardReads,
};
