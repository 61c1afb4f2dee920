// The phase Pending: rejects an invalid Transaction, or adds the finalizer and starts.
import { journalIn } from "../state/observations.ts";
import { FINALIZER } from "@janus/api";
import { contentDigest } from "../preflight/digest.ts";
import { audit, executed } from "../state/audit.ts";
import { contentsObjects, hasContents } from "../state/contents.ts";
import { type ApiCall, done, type EventSpec, run, type Step } from "../state/effect.ts";
import { readJournal } from "../state/journal-requests.ts";
import { quarantine } from "../transitions/quarantine.ts";
import { toTimestamp } from "@janus/types";
import { lockTimeoutNotice } from "../locks/lock-requests.ts";
import { discoveries, namedTarget } from "../state/target-resolution.ts";
import { addFinalizer, removeFinalizer, updateStatus } from "../state/status-update.ts";
import { firstReads } from "../preflight/first-look.ts";
import { readServiceAccount } from "../preflight/preflight.ts";
import { specProblems } from "../preflight/spec-problems.ts";
import { awaitContents, findServiceAccount } from "../transitions/await-contents.ts";
import { failUntouched } from "../transitions/fail-untouched.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";

/** These events before those of the step, which happened later. */
const withEvents = (recorded: ApiCall, events: readonly EventSpec[]): ApiCall => ({
  ...recorded,
  events: [...events, ...(recorded.events ?? [])],
});

/**
 * Rejects an invalid Transaction before anything is modified; then adds the finalizer and starts. What Preparing asks for first goes
 * out beside these writes; no lock is taken before the phase is Preparing.
 */
export const pending = (context: ReconcileContext): Step => {
  const { txn, known, now } = context;
  const isHeld = (txn.metadata.finalizers ?? []).includes(FINALIZER);
  // A former process added the finalizer and crashed; or the Transaction has started, and another client has removed
  // its status.
  if (isHeld && known.journal === undefined) return run(readJournal(txn));
  if (journalIn(known) !== undefined)
    return quarantine(context, "status.phase: is Pending, but there is a journal: changes may have been made");
  if (txn.metadata.deletionTimestamp !== undefined) return isHeld ? run(removeFinalizer(txn)) : done;
  const awaiting = hasContents(txn)
    ? (findServiceAccount(context) ?? awaitContents(context, "InvalidTransaction"))
    : undefined;
  if (awaiting !== undefined) return awaiting;
  const unknown = discoveries(txn, known);
  if (unknown.length > 0) return run(...unknown);
  const { general, problems } = specProblems(txn, known);
  const audited = audit(txn, contentDigest);
  if (general.length > 0 || problems.size > 0)
    return run(withEvents(failUntouched(context, { reason: "InvalidTransaction", problems, general }), audited));
  // A Transaction without the finalizer has no journal: none is looked for.
  if (!isHeld)
    return run(
      { ...addFinalizer(txn), folds: [{ type: "no-journal-yet" }] },
      ...(known.serviceAccount === undefined ? [readServiceAccount(txn)] : []),
      ...firstReads(txn, known),
    );
  const begun = updateStatus(
    txn,
    {
      phase: "Preparing",
      startedAt: toTimestamp(now),
      ...(hasContents(txn) ? { contents: contentsObjects(txn, known) } : {}),
      items: txn.spec.changes.map((_, index) => ({ ...namedTarget(txn, known, index), state: { type: "untouched" } })),
      because: { reason: "Preparing", message: "acquiring locks and checking every change" },
    },
    now,
    ...audited,
    ...executed(txn),
    {
      type: "Normal",
      reason: "Initializing",
      message: [
        `${txn.spec.changes.length} change${txn.spec.changes.length === 1 ? "" : "s"}, applied as ServiceAccount ${txn.spec.serviceAccountName}`,
        ...lockTimeoutNotice(context),
      ].join("; "),
    },
  );
  const asThere = known.serviceAccount === "there" ? firstReads(txn, known) : [];
  return run({ ...begun, folds: [...begun.folds, { type: "begun" }] }, ...asThere);
};
