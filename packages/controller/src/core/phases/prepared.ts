// The phase Prepared: the last moment at which nothing was modified.
import { run, type Step } from "../state/effect.ts";
import { hasBegun, readJournal } from "../state/journal-requests.ts";
import { quarantine } from "../transitions/quarantine.ts";
import { stopRequest } from "../transitions/stop-request.ts";
import { APPLYING } from "../state/conditions.ts";
import { updateStatus } from "../state/status-update.ts";
import { failUntouched } from "../transitions/fail-untouched.ts";
import { deadline, type ReconcileContext } from "../state/reconcile-context.ts";

/** The last moment at which nothing was modified. After this write, the first change may be in flight. */
export const prepared = (context: ReconcileContext): Step => {
  const { txn, known, now } = context;
  const refuse = (reason: string, why: string): Step =>
    run(failUntouched(context, { reason, problems: new Map(), general: [why] }));
  if (known.journal === undefined) return run(readJournal(txn));
  if (hasBegun(known))
    return quarantine(context, "status.phase: is Prepared, but the journal says that changes were made");
  const requested = stopRequest(context);
  if (requested.type === "reading") return run(requested.effect);
  if (requested.type !== "none")
    return refuse(requested.type === "release" ? "Deleted" : "RollbackRequested", requested.why);
  if (now >= deadline(context)) return refuse("Timeout", "spec.timeout passed before the first change was applied");
  return run(updateStatus(txn, { phase: "Committing", because: APPLYING }, now));
};
