// Builds the requests that read, create and update the journal.
import type { Transaction } from "@janus/api";
import type { ApiCall, EventSpec } from "./effect.ts";
import {
  type Entry,
  isOpen,
  type Journal,
  journalPatch,
  journalPlace,
  newJournal,
  type Start,
  startData,
} from "./journal.ts";
import type { Version } from "../kubernetes/kube-object.ts";
import { type Observations, journalIn } from "./observations.ts";

/** Whether changes were applied according to the journal. */
export const hasBegun = (known: Observations): boolean => {
  const position = journalIn(known)?.position;
  return position !== undefined && (position.direction === "back" || position.cursor > 0);
};

/** The changes in the window of a journal that was not written in this turn are in doubt, whoever sent them. */
export const inDoubt = (request: ApiCall): ApiCall => ({
  ...request,
  folds: [...request.folds, { type: "window-in-doubt" }],
});

/** Reads an existing journal. */
export const readJournal = (txn: Transaction): ApiCall =>
  inDoubt({
    purpose: "read-journal",
    as: "controller",
    call: { verb: "get", place: journalPlace(txn) },
    folds: [{ type: "journal-read" }],
  });

const createJournal = (txn: Transaction, start: Start, storeNames: number): ApiCall => ({
  purpose: "journal",
  as: "controller",
  call: { verb: "create", place: journalPlace(txn), body: newJournal(txn, start, storeNames), manager: "janus" },
  folds: [{ type: "journal-written" }],
  unanswered: [{ type: "journal-maybe-created" }],
});

/** Repairs an object that is no longer a valid journal. */
const rewriteJournal = (txn: Transaction, version: Version, start: Start, storeNames: number): ApiCall => ({
  purpose: "journal",
  as: "controller",
  call: { verb: "mergePatch", place: journalPlace(txn), body: { metadata: version, ...startData(start, storeNames) } },
  folds: [{ type: "journal-written" }],
  unanswered: [{ type: "journal-maybe-written" }],
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
 * The step, with what was answered of the window that is not recorded yet. A step that names no position closes the window at the
 * change that is next: what it records may be what tells a change that was made from one that was not.
 */
const withProgress = (journal: Journal, entry: Entry): Entry => {
  const { position, ahead } = journal;
  if (position.direction === "back" || !isOpen(journal)) return entry;
  const { until: _, ...closed } = position;
  return { position: closed, ...entry, created: new Map([...(ahead?.created ?? []), ...(entry.created ?? [])]) };
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
  call: { verb: "mergePatch", place: journalPlace(txn), body: journalPatch(journal, withProgress(journal, entry)) },
  // After a conflict there is a pause: another client may write the journal all the time.
  untilDone: "unless-refused",
  folds: [{ type: "journal-read" }],
  unanswered: [{ type: "journal-maybe-written" }],
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
  folds: [{ type: "journal-released" }],
});
