// Requests the locks of a Transaction that has applied nothing, and yields locks on such a request.
import { REQUEST_YIELD, type Holder, holderIdentity, parseHolder, transactions } from "@janus/api";
import { type ApiCall, run, type Step } from "../state/effect.ts";
import { releaseIfHeld, lockPlace } from "./lock-requests.ts";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import { waiting } from "../state/status-progress.ts";
import { annotate } from "../state/status-update.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { POLL_INTERVAL } from "../state/waits.ts";

const placeOf = ({ namespace, name }: Holder): ObjectRef => ({ resource: transactions, namespace, name });

/**
 * Requests the holder of a lock, which has applied nothing, to yield to this Transaction, which has applied
 * changes.
 */
export const requestYield = ({ txn }: ReconcileContext, index: number, holder: Holder): ApiCall => ({
  purpose: "request-yield",
  as: "controller",
  call: {
    verb: "mergePatch",
    place: placeOf(holder),
    body: { metadata: { uid: holder.uid, annotations: { [REQUEST_YIELD]: holderIdentity(txn.metadata) } } },
  },
  folds: [{ type: "yield-requested", index }],
});

const readYieldRequester = (requester: Holder, targets: readonly ObjectRef[]): ApiCall => ({
  purpose: "read-holder",
  as: "controller",
  call: { verb: "get", place: placeOf(requester) },
  folds: [{ type: "yield-requester", uid: requester.uid, targets }],
});

/** Transactions in these phases get the locks. */
const UNDER_WAY: ReadonlyMap<unknown, string> = new Map([
  ["Committing", "is applying its changes"],
  ["RollingBack", "is rolling back"],
]);

/**
 * Releases all locks if a Transaction that has applied changes, and has a target in common with this one, has
 * requested them; then waits until that one has finished. The other one cannot acquire its locks in the global
 * order, so without this there could be a deadlock.
 *
 * Assumes: no target was modified.
 * @returns undefined if no Transaction has requested it.
 */
export const yieldLocks = (context: ReconcileContext, targets: ReadonlyMap<number, ObjectRef>): Step | undefined => {
  const { txn, known, now, settings } = context;
  const requester = parseHolder(txn.metadata.annotations?.[REQUEST_YIELD] ?? "");
  if (requester === undefined || requester.uid === txn.metadata.uid) return undefined;
  const seen = known.yieldRequester;
  const until = seen?.uid === requester.uid ? seen.readAt + POLL_INTERVAL : now;
  if (seen === undefined || now >= until) return run(readYieldRequester(requester, [...targets.values()]));
  const is = UNDER_WAY.get(seen.phase);
  if (is === undefined) return run(annotate(txn, { [REQUEST_YIELD]: null }));
  const releases = [...targets].flatMap(([index, place]) =>
    releaseIfHeld(context, index, lockPlace(place, settings.controllerNamespace)),
  );
  const because = `yielding to Transaction ${requester.namespace}/${requester.name}, which ${is}`;
  if (releases.length === 0) return waiting(context, undefined, until, because);
  return {
    ...run(...releases.map((request): ApiCall => ({ ...request, folds: [...request.folds, { type: "locks-left" }] }))),
    // Tells what it does at once, however soon after the reason of a wait.
    events: [{ type: "Normal", reason: "LockWaiting", message: because }],
  };
};
