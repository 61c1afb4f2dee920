import type { Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { Ask, Telling } from "./effect.ts";
import {
  decodeJournal,
  decodeStoreNames,
  type Entry,
  type Journal,
  journalData,
  journalPatch,
  journalPlace,
  laterJournal,
  newJournal,
  type Position,
} from "./journal.ts";
import { type Fault, isAbsent, meaning, sentence } from "./fault.ts";
import type { Instant } from "./instant.ts";
import type { KubeObject, Version } from "./object.ts";
import { journalIn, type Known, type NoJournal, set } from "./known.ts";

const forget = (known: Known): Known => {
  const { journal: _, ...rest } = known;
  return rest;
};

const sighted = (known: Known, txn: Transaction, object: KubeObject, now: Instant): Known => {
  const { uid = "", resourceVersion = "" } = object.metadata;
  const { length } = txn.spec.changes;
  const storeNames = decodeStoreNames(object, length);
  const why = laterJournal(txn, object);
  if (why !== undefined) return { ...known, journal: { at: "later", storeNames }, later: { why, looked: now } };
  const altered: NoJournal = { at: "altered", version: { uid, resourceVersion }, storeNames };
  return { ...known, journal: decodeJournal(object, length) ?? altered };
};

const learn =
  (txn: Transaction): Ask["learn"] =>
  (known, answer, now) => {
    if (E.isRight(answer)) return sighted(known, txn, answer.right, now);
    if (isAbsent(answer.left)) return { ...known, journal: { at: "missing" } };
    return meaning(answer.left) === "conflict" ? forget(known) : refused(known, answer.left, now);
  };

const refused = (known: Known, fault: Fault, now: Instant): Known => ({
  ...known,
  journal: { at: "refused", why: sentence(fault), since: now },
});

/** Whether the journal says that changes were made. */
export const hasBegun = (known: Known): boolean => {
  const position = journalIn(known)?.position;
  return position !== undefined && (position.direction === "back" || position.cursor > 0);
};

/** Reads the journal of before: the change at its cursor is in doubt from now on, whoever sent it. */
export const readJournal = (txn: Transaction): Ask => ({
  purpose: "read-journal",
  as: "controller",
  call: { verb: "get", place: journalPlace(txn) },
  learn: (before, answer, now, sent) => {
    const known = learn(txn)(before, answer, now, sent);
    const journal = journalIn(known);
    if (journal === undefined) return known;
    const { cursor } = journal.position;
    const attempt = known.attempts.get(cursor) ?? { at: "unanswered", sent: now };
    return { ...known, attempts: set(known.attempts, cursor, attempt) };
  },
});

/** A refusal of the write itself, and not for what is there already, stays one for a while. */
const learnWritten =
  (txn: Transaction): Ask["learn"] =>
  (known, answer, now, sent) => {
    if (E.isRight(answer)) return learn(txn)(known, answer, now, sent);
    const exists = answer.left.kind === "refused" && answer.left.code === 409;
    return exists ? { ...known, journal: { at: "taken" } } : refused(known, answer.left, now);
  };

const createJournal = (txn: Transaction, position: Position, storeNames: number): Ask => ({
  purpose: "journal",
  as: "controller",
  call: { verb: "create", place: journalPlace(txn), body: newJournal(txn, position, storeNames), manager: "janus" },
  learn: learnWritten(txn),
  lost: (known, _, now) => ({ ...known, journal: { at: "taken" }, unansweredCreate: now }),
});

/** Makes a journal again of what is none any more. */
const rewriteJournal = (txn: Transaction, version: Version, entry: Entry): Ask => ({
  purpose: "journal",
  as: "controller",
  call: { verb: "mergePatch", place: journalPlace(txn), body: { metadata: version, ...journalData(entry) } },
  learn: learnWritten(txn),
  lost: forget,
});

/**
 * What is to be done to have a journal; one that is lost begins anew at `position`.
 *
 * @param more how many stores are about to be written
 */
export const findJournal = (txn: Transaction, known: Known, position: Position, more = 0): Ask | undefined => {
  const { journal, stores } = known;
  if (journal === undefined) return readJournal(txn);
  if ("position" in journal) return undefined;
  const storeNames = Math.max(more, ...[...stores.keys()].map((n) => n + 1));
  if (journal.at === "missing") return createJournal(txn, position, storeNames);
  return journal.at === "altered"
    ? rewriteJournal(txn, journal.version, { position, storeNames: Math.max(storeNames, journal.storeNames) })
    : readJournal(txn);
};

/**
 * Records one step. The journal is only ever written from the version that was read, so a deposed leader's checkpoint
 * changes nothing; whatever the answer, what is known of the journal afterwards is what the API server has.
 */
export const checkpoint = (txn: Transaction, journal: Journal, entry: Entry, ...tell: readonly Telling[]): Ask => ({
  purpose: "checkpoint",
  as: "controller",
  call: { verb: "mergePatch", place: journalPlace(txn), body: journalPatch(journal, entry) },
  learn: learn(txn),
  lost: forget,
  tell,
});

/** Records how many names of stores may be written from now on. It is no step: nothing is changed by it. */
export const recordStoreNames = (txn: Transaction, journal: Journal, storeNames: number): Ask => ({
  ...checkpoint(txn, journal, { storeNames }),
  purpose: "journal",
});

export const deleteJournal = (txn: Transaction): Ask => ({
  purpose: "journal",
  as: "controller",
  call: { verb: "delete", place: journalPlace(txn), preconditions: {} },
  untilDone: true,
  learn: (known) => ({ ...known, released: new Set([...known.released, "journal"]) }),
});
