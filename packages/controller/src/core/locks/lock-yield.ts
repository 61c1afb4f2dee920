// Requests the locks of a Transaction that has applied nothing, and yields locks on such a request.
import { REQUEST_YIELD, type Holder, holderIdentity, parseHolder } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { type ApiCall, run, type Step } from "../state/effect.ts";
import { hasTarget } from "../state/has-target.ts";
import { asObject } from "@janus/types";
import { changeIn, mapChanges, type Observations, withChange } from "../state/observations.ts";
import { releaseIfHeld, lockPlace } from "./lock-requests.ts";
import { type ObjectRef, transactions } from "../kubernetes/kube-object.ts";
import { waiting } from "../state/status-progress.ts";
import { annotate } from "../state/status-update.ts";
import { POLL_INTERVAL, type ReconcileContext } from "../state/reconcile-context.ts";

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
  // The Lease shows whether it has yielded when it is read again.
  onAnswer: (known) => {
    const { lock } = changeIn(known, index);
    return lock?.type === "theirs" ? withChange(known, index, { lock: { ...lock, yieldRequested: true } }) : known;
  },
});

/** A Transaction without any of these targets cannot request them. */
const readYieldRequester = (requester: Holder, targets: ReadonlyMap<number, ObjectRef>): ApiCall => ({
  purpose: "read-holder",
  as: "controller",
  call: { verb: "get", place: placeOf(requester) },
  onAnswer: (known, answer, now) => ({
    ...known,
    yieldRequester: {
      uid: requester.uid,
      readAt: now,
      phase:
        E.isRight(answer) &&
        answer.right.metadata.uid === requester.uid &&
        [...targets.values()].some((target) => hasTarget(answer.right, target))
          ? asObject(answer.right["status"])["phase"]
          : undefined,
    },
  }),
});

/** Transactions in these phases get the locks. */
const UNDER_WAY: ReadonlyMap<unknown, string> = new Map([
  ["Committing", "is applying its changes"],
  ["RollingBack", "is rolling back"],
]);

/** Drops what was read under locks that are released: it may be outdated. */
export const withoutReads = (known: Observations): Observations => ({
  ...mapChanges(known, (observed) => ({
    ...observed,
    target: undefined,
    snapshot: undefined,
  })),
  owned: new Map(),
  listings: new Map(),
});

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
  if (seen === undefined || now >= until) return run(readYieldRequester(requester, targets));
  const is = UNDER_WAY.get(seen.phase);
  if (is === undefined) return run(annotate(txn, { [REQUEST_YIELD]: null }));
  const releases = [...targets].flatMap(([index, place]) =>
    releaseIfHeld(context, index, lockPlace(place, settings.controllerNamespace)),
  );
  if (releases.length > 0)
    return run(
      ...releases.map(
        (request): ApiCall => ({ ...request, onAnswer: (...answer) => withoutReads(request.onAnswer(...answer)) }),
      ),
    );
  const because = `yielding to Transaction ${requester.namespace}/${requester.name}, which ${is}`;
  return waiting(context, undefined, until, because, { type: "Normal", reason: "LockWaiting", message: because });
};
