// Builds the requests that read, create and update the journal.
import type { Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { ApiCall, EventSpec, Closure } from "./effect.ts";
import {
  decodeJournal,
  decodeStoreNames,
  type Entry,
  gatedSince,
  type Journal,
  journalPatch,
  journalPlace,
  laterJournal,
  newJournal,
  notAhead,
  type Start,
  startData,
} from "./journal.ts";
import { isAbsent, classify, messageOf, type Instant, type ApiError, type KubeObject } from "@janus/types";
import type { Version } from "../kubernetes/kube-object.ts";
import { forwardIn, type Observations, withForward } from "./observations.ts";
import { journalIn, type JournalObservation } from "./journal-observation.ts";
import { inDoubtSince } from "./forward-observations.ts";

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

const learnRead =
  (txn: Transaction): Closure =>
  (known, answer, now) => {
    if (E.isRight(answer)) return withRead(known, txn, answer.right, now);
    if (isAbsent(answer.left)) return { ...known, journal: { type: "missing", since: now } };
    return classify(answer.left) === "conflict" ? forget(known) : refused(known, answer.left, now);
  };

const refused = (known: Observations, fault: ApiError, now: Instant): Observations => ({
  ...known,
  journal: { type: "refused", why: messageOf(fault), since: now },
});

/** Whether changes were applied according to the journal. */
export const hasBegun = (known: Observations): boolean => {
  const position = journalIn(known)?.position;
  return position !== undefined && (position.direction === "back" || position.cursor > 0);
};

/** The change at the cursor of a journal that was not written in this turn is in doubt, whoever sent it. */
export const inDoubtAtCursor = (request: ApiCall): ApiCall => ({
  ...request,
  folds: [
    ...request.folds,
    (known, _, now) => {
      const journal = journalIn(known);
      if (journal === undefined || gatedSince(journal) !== undefined) return known;
      const { cursor } = journal.position;
      return withForward(known, cursor, { write: inDoubtSince(forwardIn(known, cursor).write, now) });
    },
  ],
});

/** Reads an existing journal. */
export const readJournal = (txn: Transaction): ApiCall =>
  inDoubtAtCursor({
    purpose: "read-journal",
    as: "controller",
    call: { verb: "get", place: journalPlace(txn) },
    folds: [learnRead(txn)],
  });

/** A rejection of the write itself, other than AlreadyExists, lasts for a while. */
const learnWritten =
  (txn: Transaction): Closure =>
  (known, answer, now, sent, inner) => {
    if (E.isRight(answer)) return learnRead(txn)(known, answer, now, sent, inner);
    const exists = answer.left.type === "refused" && answer.left.code === 409;
    return exists ? { ...known, journal: { type: "taken" } } : refused(known, answer.left, now);
  };

const createJournal = (txn: Transaction, start: Start, storeNames: number): ApiCall => ({
  purpose: "journal",
  as: "controller",
  call: { verb: "create", place: journalPlace(txn), body: newJournal(txn, start, storeNames), manager: "janus" },
  folds: [learnWritten(txn)],
  unanswered: [(known, _, now) => ({ ...known, journal: { type: "taken" }, unansweredCreate: now })],
});

/** Repairs an object that is no longer a valid journal. */
const rewriteJournal = (txn: Transaction, version: Version, start: Start, storeNames: number): ApiCall => ({
  purpose: "journal",
  as: "controller",
  call: { verb: "mergePatch", place: journalPlace(txn), body: { metadata: version, ...startData(start, storeNames) } },
  folds: [learnWritten(txn)],
  unanswered: [forget],
});

/**
 * The request that is needed to have a journal; a lost one is created again with this.
 *
 * @param more how many stores are about to be written
 */
export const findJournal = (txn: Transaction, known: Observations, start: Start, more = 0): ApiCall | undefined => {
  const { journal, stores } = known;
  if (journal === undefined) return readJournal(txn);
  if (journal.type === "read") return undefined;
  const storeNames = Math.max(more, ...[...stores.keys()].map((n) => n + 1));
  if (journal.type === "missing") return createJournal(txn, start, storeNames);
  return journal.type === "altered"
    ? rewriteJournal(txn, journal.version, start, Math.max(storeNames, journal.storeNames))
    : readJournal(txn);
};

/**
 * Records one step. The journal is only written with the version that was read as precondition, so a stale
 * leader's checkpoint changes nothing. Whatever the response, the observed journal is what the API server has.
 */
export const checkpoint = (
  txn: Transaction,
  journal: Journal,
  entry: Entry,
  ...events: readonly EventSpec[]
): ApiCall => ({
  purpose: "checkpoint",
  as: "controller",
  call: { verb: "mergePatch", place: journalPlace(txn), body: journalPatch(journal, entry) },
  // After a conflict there is a pause: another client may write the journal all the time.
  untilDone: "unless-refused",
  folds: [learnRead(txn)],
  unanswered: [forget],
  events: events,
});

/** Records how many names of stores may be written from now on. This is not a step: nothing is changed by it. */
export const recordStoreNames = (txn: Transaction, journal: Journal, storeNames: number): ApiCall => ({
  ...checkpoint(txn, journal, { storeNames }),
  purpose: "journal",
});

export const deleteJournal = (txn: Transaction): ApiCall => ({
  purpose: "journal",
  as: "controller",
  call: { verb: "delete", place: journalPlace(txn), preconditions: {} },
  untilDone: true,
  folds: [(known) => ({ ...known, cleanup: { ...known.cleanup, isJournalReleased: true } })],
});
