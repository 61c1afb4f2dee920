import type { Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { Ask, Telling } from "./effect.ts";
import {
  decodeJournal,
  type Entry,
  type Journal,
  journalPatch,
  journalPlace,
  newJournal,
  type Position,
} from "./journal.ts";
import { type Known, set } from "./known.ts";

const forget = (known: Known): Known => {
  const { journal: _, ...rest } = known;
  return rest;
};

const learn =
  (txn: Transaction): Ask["learn"] =>
  (known, answer) => {
    if (E.isRight(answer))
      return { ...known, journal: decodeJournal(answer.right, txn.spec.changes.length) ?? "missing" };
    const gone = answer.left.kind === "refused" && answer.left.code === 404;
    return gone ? { ...known, journal: "missing" } : forget(known);
  };

/** Reads the journal of before: the change at its cursor is in doubt from now on, whoever sent it. */
export const readJournal = (txn: Transaction): Ask => ({
  purpose: "read-journal",
  as: "controller",
  call: { verb: "get", place: journalPlace(txn) },
  learn: (before, answer, now, sent) => {
    const known = learn(txn)(before, answer, now, sent);
    if (known.journal === undefined || known.journal === "missing") return known;
    const { cursor } = known.journal.position;
    const attempt = known.attempts.get(cursor) ?? { at: "unanswered", sent: now };
    return { ...known, attempts: set(known.attempts, cursor, attempt) };
  },
});

export const createJournal = (txn: Transaction, position: Position): Ask => ({
  purpose: "journal",
  as: "controller",
  call: { verb: "create", place: journalPlace(txn), body: newJournal(txn, position), manager: "janus" },
  learn: learn(txn),
  lost: forget,
});

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
