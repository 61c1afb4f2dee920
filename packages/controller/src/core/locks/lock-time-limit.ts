// Releases locks that others wait for if nothing was applied for too long.
import { type ApiCall, run, type Step } from "../state/effect.ts";
import { changeIn } from "../state/observations.ts";
import { releaseIfHeld, lockPlace } from "./lock-requests.ts";
import { type ObjectRef, formatRef } from "../kubernetes/kube-object.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";

/**
 * How long a Transaction that has applied nothing may hold locks that others wait for, in ms; and longer for
 * each change.
 */
const MOST_HELD = 60_000;
const MORE_BY_CHANGE = 500;

/**
 * Releases all locks that were held for long without applying a change, whatever the reason, if another
 * Transaction waits for one of them. The Transaction then goes to the end of the queue.
 *
 * Guarantees: a Transaction waits for a bounded time for each Transaction before it in the queue that has
 *             applied nothing. There is no deadlock: all locks are released, and acquired again in the global
 *             order.
 * Assumes: no target was modified, and waiting Transactions are known to this process.
 */
export const enforceLockTimeLimit = (
  context: ReconcileContext,
  targets: ReadonlyMap<number, ObjectRef>,
): Step | undefined => {
  const { txn, known, now, settings, nextWaiter } = context;
  const longest = MOST_HELD + MORE_BY_CHANGE * txn.spec.changes.length;
  if (known.holdsSince === undefined || now < known.holdsSince + longest) return undefined;
  const leases = [...targets].map(
    ([index, target]) => ({ index, target, lease: lockPlace(target, settings.controllerNamespace) }) as const,
  );
  const first = leases
    .filter(({ index }) => changeIn(known, index).lock?.type === "held")
    .map((held) => ({ ...held, by: nextWaiter(held.lease)?.metadata }))
    .find(({ by }) => by !== undefined);
  if (first?.by === undefined) return undefined;
  const message = `releasing all locks, having applied no change for ${Math.round(longest / 1000)} s: Transaction ${first.by.namespace}/${first.by.name} waits for ${formatRef(first.target)}`;
  const releases = leases.flatMap(({ index, lease }) => releaseIfHeld(context, index, lease));
  return {
    ...run(
      ...releases.map(
        (request): ApiCall => ({
          ...request,
          folds: [...request.folds, { type: "locks-left-to-others" }],
        }),
      ),
    ),
    events: [{ type: "Normal", reason: "LockWaiting", message }],
  };
};
