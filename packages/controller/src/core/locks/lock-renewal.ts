// Renews held locks in time, and verifies them after a restart.
import * as E from "fp-ts/lib/Either.js";
import { formatRef, type ObjectRef } from "../kubernetes/kube-object.ts";
import type { ApiCall } from "../state/effect.ts";
import { changeIn } from "../state/observations.ts";
import type { LockObservation } from "../state/lock-observation.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { isSafe } from "./lock-acquisition.ts";
import { lockPlace, verifyLock, renewOrTakeOver } from "./lock-requests.ts";

const renewal = (
  context: ReconcileContext,
  index: number,
  target: ObjectRef,
  observed: Extract<LockObservation, { type: "held" }>,
): ApiCall => {
  const place = lockPlace(target, context.settings.controllerNamespace);
  return observed.stale ? verifyLock(index, place) : renewOrTakeOver(context, index, place, observed);
};

/**
 * Renewals that are due: once a quarter of the duration has passed, and not immediately after a failed one. They
 * run in the background, in every phase.
 *
 * Guarantees: for all Transactions of a namespace, a bounded number a second; see `lockDuration`.
 */
export const renewals = (context: ReconcileContext, targets: ReadonlyMap<number, ObjectRef>): readonly ApiCall[] =>
  [...targets].flatMap(([index, target]) => {
    const { known, now } = context;
    const observed = changeIn(known, index).lock;
    if (observed?.type !== "held" || now < (observed.retryAt ?? now)) return [];
    return now >= (observed.renewAt ?? now) ? [renewal(context, index, target, observed)] : [];
  });

/**
 * Verifies locks that were acquired before, perhaps by a former process.
 *
 * @returns Left: why one of them is lost. Right: the requests that are still needed; none if all are safe.
 */
export const verifyHeld = (
  context: ReconcileContext,
  targets: ReadonlyMap<number, ObjectRef>,
): E.Either<string, readonly ApiCall[]> => {
  const effects: ApiCall[] = [];
  for (const [index, target] of targets) {
    const observed = changeIn(context.known, index).lock;
    if (observed?.type === "lost" || observed?.type === "impossible")
      return E.left(`the lock on ${formatRef(target)} was lost: ${observed.why}`);
    if (isSafe(observed, context)) continue;
    const place = lockPlace(target, context.settings.controllerNamespace);
    effects.push(observed?.type === "held" ? renewal(context, index, target, observed) : verifyLock(index, place));
  }
  return E.right(effects);
};
