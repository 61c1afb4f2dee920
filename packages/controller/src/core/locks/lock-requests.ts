// Builds the requests that create, renew, take over and release the Lease of a lock.
import {
  type Holder,
  holderIdentity,
  lockLease,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  transactionLabel,
  TRANSACTION_LABEL,
  transactions,
} from "@janus/api";
import type { ApiCall } from "../state/effect.ts";
import type { Fold } from "../state/fold.ts";
import { fromTimestamp, type Instant, leases, MAX_INT32, toMicroTime } from "@janus/types";
import { changeIn } from "../state/observations.ts";
import { type LockObservation, RENEWED_AFTER } from "../state/lock-observation.ts";
import type { ObjectRef } from "../kubernetes/kube-object.ts";
import type { ReconcileContext } from "../state/reconcile-context.ts";
import { POLL_INTERVAL } from "../state/waits.ts";

/** The Lease that locks a target: in the target's namespace, or in the controller's for cluster-scoped ones. */
export const lockPlace = (place: ObjectRef, controllerNamespace: string): ObjectRef => ({
  resource: leases,
  namespace: place.namespace ?? controllerNamespace,
  name: lockLease({
    group: place.resource.group,
    kind: place.resource.kind,
    name: place.name,
    ...(place.namespace === undefined ? {} : { namespace: place.namespace }),
  }),
});

/** The most renewals a second for the Transactions of a namespace, each due after a quarter of its duration. */
const RENEWALS_PER_SECOND = 100;

type Duration = Pick<ReconcileContext, "txn" | "settings" | "locksOfNamespace">;

/**
 * lockTimeout, raised if it is too short for a write and the renewal of all locks within a third of it (2 ms per lock is ten times the
 * measured duration of a renewal, with ten at a time).
 */
const ownDuration = ({ txn, settings }: Duration): number =>
  Math.max(txn.spec.lockTimeout, 3 * (settings.writeTimeout + txn.spec.changes.length * 2));

/** The shortest in which those of all Transactions of its namespace are renewed without too many requests. */
const shortestOfNamespace = ({ locksOfNamespace = 0 }: Duration): number =>
  (1000 * locksOfNamespace) / (RENEWALS_PER_SECOND * RENEWED_AFTER);

/** How long a lock is valid without renewal. */
export const lockDuration = (context: Duration): number => Math.max(ownDuration(context), shortestOfNamespace(context));

const seconds = (ms: number): string => `${Math.ceil(ms / 1000)}s`;

/** The message if locks are valid for longer than lockTimeout. */
export const lockTimeoutNotice = (context: Duration): readonly string[] => {
  const { txn, settings, locksOfNamespace = 0 } = context;
  const duration = lockDuration(context);
  if (duration === txn.spec.lockTimeout) return [];
  const why =
    duration === ownDuration(context)
      ? `for a write (${seconds(settings.writeTimeout)}) and the renewal of all locks`
      : `for the renewal of all ${locksOfNamespace} locks of its namespace`;
  return [
    `lock duration raised to ${seconds(duration)}: lockTimeout (${seconds(txn.spec.lockTimeout)}) leaves too little time ${why}`,
  ];
};

const ownHolderIdentity = ({ txn }: ReconcileContext): string => holderIdentity(txn.metadata);

const leaseSpec = (context: ReconcileContext, now: Instant, former: object): object => ({
  ...former,
  holderIdentity: ownHolderIdentity(context),
  leaseDurationSeconds: Math.min(Math.ceil(lockDuration(context) / 1000), MAX_INT32),
  renewTime: toMicroTime(now),
});

const labels = ({ txn }: ReconcileContext): object => ({
  [MANAGED_BY_LABEL]: MANAGED_BY,
  [TRANSACTION_LABEL]: transactionLabel(txn.metadata.name),
});

/** Creates the Lease of a lock that seems to have no holder. */
export const createLock = (context: ReconcileContext, index: number, place: ObjectRef): ApiCall => ({
  purpose: "lock",
  item: index,
  as: "controller",
  call: {
    verb: "create",
    place,
    manager: "janus",
    body: {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: place.name, namespace: place.namespace, labels: labels(context) },
      spec: leaseSpec(context, context.now, { acquireTime: toMicroTime(context.now), leaseTransitions: 0 }),
    },
  },
  folds: [{ type: "lock-created", duration: lockDuration(context) }],
  unanswered: [{ type: "lock-maybe-created" }],
});

/** Writes our holder identity into an existing Lease: to renew it, or to take it over. */
export const renewOrTakeOver = (
  context: ReconcileContext,
  index: number,
  place: ObjectRef,
  observed: Extract<LockObservation, { type: "held" | "theirs" }>,
): ApiCall => ({
  purpose: observed.type === "held" ? "renew-lock" : "lock",
  item: index,
  as: "controller",
  call: {
    verb: "mergePatch",
    place,
    body: {
      metadata: { ...observed.version, ...(observed.type === "held" ? {} : { labels: labels(context) }) },
      spec: leaseSpec(context, context.now, observed.type === "held" ? {} : { acquireTime: toMicroTime(context.now) }),
    },
  },
  // A rejected renewal is retried after a pause.
  ...(observed.type === "held" ? { untilDone: "unless-conflict" as const } : {}),
  folds: [{ type: "lock-written", duration: lockDuration(context), retryAfter: retryAfter(context) }],
  unanswered: [{ type: "lock-maybe-written", retryAfter: retryAfter(context), isTakeOver: observed.type === "theirs" }],
});

/**
 * A failed renewal is retried ten times per lock duration, whatever Retry-After says: otherwise the lock would
 * be lost.
 */
const PAUSES = 10;

const retryAfter = (context: Duration): number => ownDuration(context) / PAUSES;

/**
 * When a lock that another client holds is read again, having waited since `startedAt`: after a second, later
 * after a tenth of the time waited so far, at most ten seconds. This limits the requests of many waiting
 * Transactions.
 */
export const nextPollAt = ({ txn, now }: ReconcileContext, readAt: Instant): Instant =>
  readAt +
  Math.min(Math.max((now - (fromTimestamp(txn.status.startedAt) ?? now)) / 10, POLL_INTERVAL), 10 * POLL_INTERVAL);

const readLease = (index: number, place: ObjectRef, fold: Fold): ApiCall => ({
  purpose: "read-lock",
  item: index,
  as: "controller",
  call: { verb: "get", place },
  folds: [fold],
});

/** Reads whether a lock that we had is still ours: any other Lease means that it is lost. */
export const verifyLock = (index: number, place: ObjectRef): ApiCall =>
  readLease(index, place, { type: "lock-verified" });

/** Reads who holds a lock that is to be acquired, and since when this process sees that unchanged. */
export const observeLock = (context: ReconcileContext, index: number, place: ObjectRef): ApiCall =>
  readLease(index, place, { type: "lock-read", duration: lockDuration(context) });

/** Reads whether the Transaction that holds the lock exists, is active, and has this target: a live read, by uid. */
export const observeHolder = (index: number, { namespace, name, uid }: Holder, target: ObjectRef): ApiCall => ({
  purpose: "read-holder",
  item: index,
  as: "controller",
  call: { verb: "get", place: { resource: transactions, namespace, name } },
  folds: [{ type: "lock-holder", uid, target }],
});

/** Releases a lock, only if it is still ours. */
export const releaseLock = ({ known }: ReconcileContext, index: number, place: ObjectRef): readonly ApiCall[] => {
  const observed = changeIn(known, index).lock;
  if (observed?.type !== "held") return [];
  return [
    {
      purpose: "release-lock",
      item: index,
      as: "controller",
      call: { verb: "delete", place, preconditions: observed.version },
      untilDone: true,
      folds: [{ type: "lock-released" }],
      unanswered: [{ type: "lock-maybe-released" }],
    },
  ];
};

/**
 * Releases a lock if it is ours. If this is unknown, as after a crash or a failed attempt, the Lease is read
 * first: a lock that is not released could lead to a deadlock. Of a Transaction that this process has begun, a
 * lock that it has not tried to acquire is not held.
 */
export const releaseIfHeld = (context: ReconcileContext, index: number, place: ObjectRef): readonly ApiCall[] => {
  const observed = changeIn(context.known, index).lock;
  if (observed === undefined && context.known.begun) return [];
  return observed === undefined || observed.type === "taken"
    ? [observeLock(context, index, place)]
    : releaseLock(context, index, place);
};
