// Waits, or ends a Transaction that is released, if its journal is lost and cannot be created.
import { run, type Step, wait } from "../state/effect.ts";
import { type Journal, noJournal, type Note } from "../state/journal.ts";
import { readJournal } from "../state/journal-requests.ts";
import { type AbortCause, sentWrite } from "../state/forward-observations.ts";
import type { JournalRefused } from "../state/journal-observation.ts";
import { forwardIn } from "../state/observations.ts";
import { stopRequest } from "./stop-request.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { abort } from "./abort.ts";

/** How often the write of a rejected journal is retried, in ms. */
const TRY_AGAIN = 1000;

/**
 * The changes after the one at the cursor that may have been made since the status was written: those that this process knows a
 * write of; where it knows of none, a former process may have made any.
 */
const inDoubtAfter = ({ txn, known }: ReconcileContext, cursor: number, error: string): ReadonlyMap<number, Note> => {
  const after = txn.spec.changes.flatMap((_, index) => (index > cursor ? [index] : []));
  const written = [cursor, ...after].filter((index) => sentWrite(forwardIn(known, index).write) !== undefined);
  const doubted = written.length === 0 ? after : after.filter((index) => index <= Math.max(...written));
  return new Map(doubted.map((index) => [index, { type: "unknown", error }] as const));
};

/** The changes that are in by the status, where a rollback is active: which of them it has rolled back only the journal knows. */
const inDoubtAtRollback = ({ txn }: ReconcileContext, why: string): ReadonlyMap<number, Note> => {
  const error = `its rollback was active when the Transaction was deleted, and the journal cannot be read (${why}): it may be restored`;
  return new Map(
    txn.status.items.flatMap(({ state }, index) =>
      state.type === "committed" ? [[index, { type: "rollback-failed", error }] as const] : [],
    ),
  );
};

const notesOf = (
  context: ReconcileContext,
  cursor: number,
  fate: AbortCause["fate"],
  why: string,
): ReadonlyMap<number, Note> => {
  if (context.txn.status.phase === "RollingBack") return inDoubtAtRollback(context, why);
  return fate === "unknown" ? inDoubtAfter(context, cursor, `the journal cannot be read: ${why}`) : new Map();
};

/**
 * The journal is lost, and cannot be created. What cannot be recorded is not done either: a Transaction that is
 * released, as in a namespace that is being deleted, ends with what its status says; any other one waits.
 */
export const journalUnavailable = (
  context: ReconcileContext,
  { why, since }: JournalRefused,
  cursor: number,
  fate: AbortCause["fate"],
): Step => {
  const { txn, now } = context;
  const requested = stopRequest(context);
  if (requested.type === "reading") return run(requested.effect);
  if (requested.type === "release") {
    const recorded: Journal = {
      ...noJournal({ direction: "forward", cursor }),
      notes: notesOf(context, cursor, fate, why),
    };
    return abort(context, recorded, { reason: "Deleted", message: requested.why, fate });
  }
  const message = `the journal cannot be written: ${why}`;
  return now < since + TRY_AGAIN
    ? wait(since + TRY_AGAIN, message, { type: "Warning", reason: "RecoveryBlocked", message })
    : run(readJournal(txn));
};
