import type { Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { Ask, Telling } from "./effect.ts";
import {
  decodeJournal,
  type Entry,
  type Journal,
  journalData,
  journalPatch,
  journalPlace,
  newJournal,
  type Position,
} from "./journal.ts";
import { type Fault, meaning, sentence } from "./fault.ts";
import type { Instant } from "./instant.ts";
import type { KubeObject, Version } from "./object.ts";
import { journalIn, type Known, type NoJournal, set } from "./known.ts";

const forget = (known: Known): Known => {
  const { journal: _, ...rest } = known;
  return rest;
};

const sighted = (txn: Transaction, object: KubeObject): Journal | NoJournal => {
  const { uid = "", resourceVersion = "" } = object.metadata;
  return decodeJournal(object, txn.spec.changes.length) ?? { at: "altered", version: { uid, resourceVersion } };
};

const learn =
  (txn: Transaction): Ask["learn"] =>
  (known, answer, now) => {
    if (E.isRight(answer)) return { ...known, journal: sighted(txn, answer.right) };
    const gone = answer.left.kind === "refused" && answer.left.code === 404;
    if (gone) return { ...known, journal: { at: "missing" } };
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

export const createJournal = (txn: Transaction, position: Position): Ask => ({
  purpose: "journal",
  as: "controller",
  call: { verb: "create", place: journalPlace(txn), body: newJournal(txn, position), manager: "janus" },
  learn: learnWritten(txn),
  lost: (known, _, now) => ({ ...known, journal: { at: "taken" }, unansweredCreate: now }),
});

/** Makes a journal again of what is none any more. */
const rewriteJournal = (txn: Transaction, version: Version, position: Position): Ask => ({
  purpose: "journal",
  as: "controller",
  call: { verb: "mergePatch", place: journalPlace(txn), body: { metadata: version, ...journalData({ position }) } },
  learn: learnWritten(txn),
  lost: forget,
});

/** What is to be done to have a journal; one that is lost begins anew at `position`. */
export const findJournal = (txn: Transaction, { journal }: Known, position: Position): Ask | undefined => {
  if (journal === undefined) return readJournal(txn);
  if ("position" in journal) return undefined;
  if (journal.at === "missing") return createJournal(txn, position);
  return journal.at === "altered" ? rewriteJournal(txn, journal.version, position) : readJournal(txn);
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

export const deleteJournal = (txn: Transaction): Ask => ({
  purpose: "journal",
  as: "controller",
  call: { verb: "delete", place: journalPlace(txn), preconditions: {} },
  learn: (known) => ({ ...known, released: new Set([...known.released, "journal"]) }),
});
