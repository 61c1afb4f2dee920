// Pauses until a lock may be free.
import { run, type Step } from "../state/effect.ts";
import type { Journal } from "../state/journal.ts";
import { waiting } from "../state/status-progress.ts";
import type { Locking } from "./lock-acquisition.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";

/** A pause until the lock may be free, or the requests to send first. */
export const waitingForLock = (
  context: ReconcileContext,
  journal: Journal | undefined,
  { until, because, event, effects, awaited }: Extract<Locking, { readonly type: "waiting" }>,
): Step => {
  if (effects.length > 0) return { ...run(...effects), events: [event] };
  const step = waiting(context, journal, until, because, event);
  return step.type === "wait" ? { ...step, awaited } : step;
};
