// Builds the requests that create, renew, take over and release the Lease of a lock.
import {
  type Holder,
  holderIdentity,
  lockLease,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  transactionLabel,
  TRANSACTION_LABEL,
} from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { ApiCall } from "../state/effect.ts";
import {
  isAbsent,
  classify,
  messageOf,
  fromTimestamp,
  type Instant,
  type ApiError,
  asObject,
  type KubeObject,
  leases,
  MAX_INT32,
  toMicroTime,
} from "@janus/types";
import { withLockReleased } from "../state/cleanup.ts";
import { isLaterFormat } from "../state/format.ts";
import { hasTarget } from "../state/has-target.ts";
import { changeIn, type Observations, withChange } from "../state/observations.ts";
import type { LockObservation } from "../state/lock-observation.ts";
import { type ObjectRef, transactions, type Version } from "../kubernetes/kube-object.ts";
import { isTerminal } from "../state/status-update.ts";
import { POLL_INTERVAL, type ReconcileContext } from "../state/reconcile-context.ts";

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
const RENEWED_AFTER = 1 / 4;

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

const withLock = (known: Observations, index: number, lock: LockObservation): Observations =>
  withChange(known, index, { lock });

const withHeld = (known: Observations, index: number, observed: LockObservation, since: Instant): Observations => ({
  ...withLock(known, index, observed),
  holdsSince: known.holdsSince ?? since,
});

/** After the last lock is released, `holdsSince` starts again with the next one. */
const withoutLock = (known: Observations, index: number, observed: LockObservation): Observations => {
  const after = withLock(known, index, observed);
  const { holdsSince: _, ...holdsNone } = after;
  return [...after.changes.values()].some(({ lock }) => lock?.type === "held") ? after : holdsNone;
};

const held = (lease: KubeObject, sent: Instant, context: ReconcileContext): LockObservation => ({
  type: "held",
  version: versionOf(lease),
  until: sent + lockDuration(context),
  renewAt: sent + lockDuration(context) * RENEWED_AFTER,
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
  onAnswer: (known, answer, _, sent) => {
    if (E.isRight(answer)) return withHeld(known, index, held(answer.right, sent, context), sent);
    const fault = answer.left;
    const taken = fault.type === "refused" && fault.code === 409;
    return withLock(
      known,
      index,
      taken ? { type: "taken" } : { type: "impossible", why: `it cannot be locked: ${messageOf(fault)}` },
    );
  },
  onTransientFault: (known, _, now) => ({ ...withLock(known, index, { type: "taken" }), unansweredCreate: now }),
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
  // Reading the Lease shows what the conflict was.
  onAnswer: (known, answer, now, sent) =>
    E.isRight(answer)
      ? withHeld(known, index, held(answer.right, sent, context), sent)
      : withLock(known, index, unrenewed(context, known, index, answer.left, now)),
  onTransientFault: (known, fault, now) => ({
    ...withLock(known, index, unrenewed(context, known, index, fault, now)),
    // A Lease of another client may still become ours; one that is ours already cannot be acquired again.
    ...(observed.type === "theirs" ? { unansweredCreate: now } : {}),
  }),
});

/**
 * A failed renewal is retried ten times per lock duration, whatever Retry-After says: otherwise the lock would
 * be lost.
 */
const PAUSES = 10;

/**
 * How long, in ms, the renewals of a lock may be rejected before it counts as lost: as for missing permissions of the controller,
 * an API server that has just started does not know its roles and policies yet.
 */
const REFUSED_FOR = 30_000;

/**
 * After a failed renewal: the Lease is read again. Until then, the lock is valid as before; but after a
 * conflict, it is not valid until it was read. One that was rejected for long counts as lost once it is not valid any more: whatever
 * rejects it, as a policy for Leases of its namespace, must not hold up what needs other locks.
 */
const unrenewed = (
  context: ReconcileContext,
  known: Observations,
  index: number,
  fault: ApiError,
  now: Instant,
): LockObservation => {
  const observed = changeIn(known, index).lock;
  const isRefused = classify(fault) === "permanent";
  if (observed?.type !== "held")
    return isRefused ? { type: "impossible", why: `it cannot be locked: ${messageOf(fault)}` } : { type: "taken" };
  if (classify(fault) === "conflict") return { ...observed, stale: true, until: now };
  const retryAt = now + ownDuration(context) / PAUSES;
  if (!isRefused) return { ...observed, stale: true, retryAt };
  const { refusedSince = now } = observed;
  return now >= observed.until && now >= refusedSince + REFUSED_FOR
    ? { type: "impossible", why: `its lock cannot be renewed: ${messageOf(fault)}` }
    : { ...observed, stale: true, retryAt, refusedSince };
};

/**
 * When a lock that another client holds is read again, having waited since `startedAt`: after a second, later
 * after a tenth of the time waited so far, at most ten seconds. This limits the requests of many waiting
 * Transactions.
 */
export const nextPollAt = ({ txn, now }: ReconcileContext, readAt: Instant): Instant =>
  readAt +
  Math.min(Math.max((now - (fromTimestamp(txn.status.startedAt) ?? now)) / 10, POLL_INTERVAL), 10 * POLL_INTERVAL);

/** Observations for a Lease that is not ours, and for none. */
interface NotOurs {
  readonly absent: LockObservation;
  readonly held: (lease: KubeObject, holder: string, known: Observations, now: Instant) => LockObservation;
}

const readLease = (context: ReconcileContext, index: number, place: ObjectRef, notOurs: NotOurs): ApiCall => ({
  purpose: "read-lock",
  item: index,
  as: "controller",
  call: { verb: "get", place },
  onAnswer: (known, answer, now) => {
    if (E.isLeft(answer))
      return withLock(
        known,
        index,
        isAbsent(answer.left)
          ? notOurs.absent
          : { type: "impossible", why: `its lock cannot be read: ${messageOf(answer.left)}` },
      );
    const lease = answer.right;
    const { holderIdentity } = asObject(lease["spec"]);
    const holder = typeof holderIdentity === "string" ? holderIdentity : "";
    if (holder !== ownHolderIdentity(context)) return withLock(known, index, notOurs.held(lease, holder, known, now));
    // Ours, from before a crash or a lost response: renewed at once, so that `until` is certain.
    const former = changeIn(known, index).lock;
    const { stale: _, ...kept } = former?.type === "held" ? former : { type: "held" as const, until: now };
    return withHeld(known, index, { ...kept, version: versionOf(lease) }, now);
  },
});

const versionOf = ({ metadata: { uid = "", resourceVersion = "" } }: KubeObject): Version => ({ uid, resourceVersion });

/** Reads whether a lock that we had is still ours: any other Lease means that it is lost. */
export const verifyLock = (context: ReconcileContext, index: number, place: ObjectRef): ApiCall => {
  const lease = `Lease ${place.namespace}/${place.name}`;
  return readLease(context, index, place, {
    absent: { type: "lost", why: `${lease} was deleted` },
    held: (_, holder) => ({ type: "lost", why: `${lease} is held by ${holder}` }),
  });
};

/** Reads who holds a lock that is to be acquired, and since when this process sees that unchanged. */
export const observeLock = (context: ReconcileContext, index: number, place: ObjectRef): ApiCall =>
  readLease(context, index, place, {
    absent: { type: "free" },
    held: (lease, holder, known, now) => {
      const version = versionOf(lease);
      const former = changeIn(known, index).lock;
      const isUnmoved = former?.type === "theirs" && former.version.resourceVersion === version.resourceVersion;
      const unchangedSince = isUnmoved ? former.unchangedSince : now;
      const seconds = asObject(lease["spec"])["leaseDurationSeconds"];
      // A Lease without a duration gets ours.
      const duration = typeof seconds === "number" ? seconds * 1000 : lockDuration(context);
      const expires = holder === "" ? unchangedSince : unchangedSince + duration;
      return { type: "theirs", holder, version, readAt: now, unchangedSince, expires };
    },
  });

/** Phases in which no change was applied, and none is in flight. */
const UNTOUCHED: readonly unknown[] = ["Pending", "Preparing", undefined];

/** A Transaction in a later format may have its targets anywhere in its spec. */
const isOfLater = (txn: KubeObject): boolean => isLaterFormat(asObject(txn["status"])["formatVersion"]);

/** Whether the Transaction that holds the lock exists, is active, and has this target: a live read, by uid. */
export const observeHolder = (index: number, holder: Holder, target: ObjectRef): ApiCall => ({
  purpose: "read-holder",
  item: index,
  as: "controller",
  call: { verb: "get", place: { resource: transactions, namespace: holder.namespace, name: holder.name } },
  onAnswer: (known, answer) => {
    const observed = changeIn(known, index).lock;
    if (observed?.type !== "theirs") return known;
    const gone = E.isLeft(answer) ? isAbsent(answer.left) : answer.right.metadata.uid !== holder.uid;
    const phase = E.isRight(answer) ? asObject(answer.right["status"])["phase"] : undefined;
    const over = gone || isTerminal(phase as Parameters<typeof isTerminal>[0]);
    // If it cannot be read, it may be active.
    if (E.isLeft(answer) && !gone) return withLock(known, index, { ...observed, holderState: "active" });
    const needed = E.isRight(answer) && (isOfLater(answer.right) || hasTarget(answer.right, target));
    const active = UNTOUCHED.includes(phase) ? "untouched" : phase === "RollingBack" ? "rolling-back" : "active";
    return withLock(known, index, { ...observed, holderState: over ? "finished" : needed ? active : "foreign" });
  },
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
      onAnswer: (known) => ({
        ...withoutLock(known, index, { type: "free" }),
        cleanup: withLockReleased(known.cleanup, index),
      }),
      onTransientFault: (known) => withoutLock(known, index, { type: "taken" }),
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
