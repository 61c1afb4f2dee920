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
import { isAbsent, classify, messageOf } from "../kubernetes/api-error.ts";
import { isLaterFormat } from "../state/format.ts";
import { hasTarget } from "../state/has-target.ts";
import { fromTimestamp, type Instant, toMicroTime } from "../kubernetes/time.ts";
import { asObject } from "../kubernetes/json.ts";
import { changeIn, type LockObservation, type Observations, withChange } from "../state/observations.ts";
import { leases, type ObjectRef, transactions } from "../kubernetes/kube-object.ts";
import { isTerminal } from "../state/status-update.ts";
import { POLL_INTERVAL, type ReconcileContext } from "../state/reconcile-context.ts";
import type { ApiError, KubeObject } from "@janus/types";

/** Where the Lease that locks a target is: in the target's namespace, or in the controller's for cluster-scoped ones. */
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

/**
 * How long a lock is good without being renewed: lockTimeout, raised where that could not work, since a write must fit in
 * and all locks must be renewed before a third of it has passed (2 ms a lock is ten times what a renewal was measured at,
 * with ten side by side).
 */
export const lockDuration = ({ txn, settings }: Pick<ReconcileContext, "txn" | "settings">): number =>
  Math.max(txn.spec.lockTimeout, 3 * (settings.writeTimeout + txn.spec.changes.length * 2));

const seconds = (ms: number): string => `${Math.ceil(ms / 1000)}s`;

/** For people, where locks are good for longer than was asked for. */
export const lockTimeoutNotice = ({ txn, settings }: Pick<ReconcileContext, "txn" | "settings">): readonly string[] => {
  const duration = lockDuration({ txn, settings });
  return duration === txn.spec.lockTimeout
    ? []
    : [
        `lock duration raised to ${seconds(duration)}: lockTimeout (${seconds(txn.spec.lockTimeout)}) leaves too little time for a write (${seconds(settings.writeTimeout)}) and the renewal of all locks`,
      ];
};

/** leaseDurationSeconds is a 32-bit integer. */
const INT32 = 2 ** 31 - 1;

const ownHolderIdentity = ({ txn }: ReconcileContext): string => holderIdentity(txn.metadata);

const leaseSpec = (context: ReconcileContext, now: Instant, former: object): object => ({
  ...former,
  holderIdentity: ownHolderIdentity(context),
  leaseDurationSeconds: Math.min(Math.ceil(lockDuration(context) / 1000), INT32),
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

/** Who holds no lock any more begins to hold some when it takes the next one. */
const withoutLock = (known: Observations, index: number, observed: LockObservation): Observations => {
  const after = withLock(known, index, observed);
  const { holdsSince: _, ...holdsNone } = after;
  return [...after.changes.values()].some(({ lock }) => lock?.type === "held") ? after : holdsNone;
};

const held = (lease: KubeObject, sent: Instant, context: ReconcileContext): LockObservation => ({
  type: "held",
  version: { uid: lease.metadata.uid ?? "", resourceVersion: lease.metadata.resourceVersion ?? "" },
  until: sent + lockDuration(context),
});

/** Takes a lock that nobody holds, as far as we know. */
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

/** Writes us into a Lease that is there: to renew it, or to take it over. */
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
  // Whatever was in the way, a look at the Lease tells.
  onAnswer: (known, answer, now, sent) =>
    E.isRight(answer)
      ? withHeld(known, index, held(answer.right, sent, context), sent)
      : withLock(known, index, unrenewed(context, known, index, answer.left, now)),
  onTransientFault: (known, fault, now) => ({
    ...withLock(known, index, unrenewed(context, known, index, fault, now)),
    // What was another client's Lease may be ours yet; one that is ours already cannot come again.
    ...(observed.type === "theirs" ? { unansweredCreate: now } : {}),
  }),
});

/** In how many pauses a lock passes that cannot be renewed, whatever Retry-After asks for: it would be lost meanwhile. */
const PAUSES = 10;

/**
 * After a renewal that did not get through: to be read again, and good until then for as long as it was; but when somebody
 * has written the Lease, only for as long as nobody has looked.
 */
const unrenewed = (
  context: ReconcileContext,
  known: Observations,
  index: number,
  fault: ApiError,
  now: Instant,
): LockObservation => {
  const observed = changeIn(known, index).lock;
  if (observed?.type !== "held") return { type: "taken" };
  if (classify(fault) === "conflict") return { ...observed, stale: true, until: now };
  return { ...observed, stale: true, retryAt: now + lockDuration(context) / PAUSES };
};

/**
 * When a lock that another client holds is looked at again, having been waited for since `startedAt`: after a second, and
 * later after a tenth of the time waited so far, at most ten seconds. So many that wait for long are no storm of requests.
 */
export const nextPollAt = ({ txn, now }: ReconcileContext, readAt: Instant): Instant =>
  readAt +
  Math.min(Math.max((now - (fromTimestamp(txn.status.startedAt) ?? now)) / 10, POLL_INTERVAL), 10 * POLL_INTERVAL);

/** Finds out who holds a lock. `mine`: whether a Lease that is not ours means that we have lost it. */
export const observeLock = (context: ReconcileContext, index: number, place: ObjectRef, mine: boolean): ApiCall => ({
  purpose: "read-lock",
  item: index,
  as: "controller",
  call: { verb: "get", place },
  onAnswer: (known, answer, now) => {
    if (E.isLeft(answer)) {
      if (!isAbsent(answer.left))
        return withLock(known, index, {
          type: "impossible",
          why: `its lock cannot be read: ${messageOf(answer.left)}`,
        });
      return withLock(
        known,
        index,
        mine ? { type: "lost", why: `Lease ${place.namespace}/${place.name} was deleted` } : { type: "free" },
      );
    }
    const lease = answer.right;
    const spec = asObject(lease["spec"]);
    const holder = typeof spec["holderIdentity"] === "string" ? spec["holderIdentity"] : "";
    const version = { uid: lease.metadata.uid ?? "", resourceVersion: lease.metadata.resourceVersion ?? "" };
    // Ours, from before a crash or a lost reply: renewed at once, so that `until` is certain.
    const former = changeIn(known, index).lock;
    if (holder === ownHolderIdentity(context))
      return withHeld(
        known,
        index,
        { type: "held", version, until: former?.type === "held" ? former.until : now },
        now,
      );
    if (mine)
      return withLock(known, index, {
        type: "lost",
        why: `Lease ${place.namespace}/${place.name} is held by ${holder}`,
      });
    const unmoved = former?.type === "theirs" && former.version.resourceVersion === version.resourceVersion;
    const seconds = spec["leaseDurationSeconds"];
    // Who says nothing of it is given as long as we take ourselves.
    const duration = typeof seconds === "number" ? seconds * 1000 : lockDuration(context);
    const unchangedSince = unmoved ? former.unchangedSince : now;
    return withLock(known, index, {
      type: "theirs",
      holder,
      version,
      readAt: now,
      unchangedSince,
      expires: holder === "" ? unchangedSince : unchangedSince + duration,
    });
  },
});

/** Phases in which no target has been touched, nor may be on its way to be. */
const UNTOUCHED: readonly unknown[] = ["Pending", "Preparing", undefined];

/** Then its targets may stand anywhere. */
const isOfLater = (txn: KubeObject): boolean => isLaterFormat(asObject(txn["status"])["formatVersion"]);

/** Whether the Transaction that holds the lock on a target needs it, and needs it still: a live read, by uid. */
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
    // Of one that cannot be read nothing is known but that it may be at work.
    if (E.isLeft(answer) && !gone) return withLock(known, index, { ...observed, holderState: "active" });
    const needed = E.isRight(answer) && (isOfLater(answer.right) || hasTarget(answer.right, target));
    const active = UNTOUCHED.includes(phase) ? "untouched" : "active";
    return withLock(known, index, { ...observed, holderState: over ? "finished" : needed ? active : "foreign" });
  },
});

/** Gives one lock back, only if it is still ours. */
export const release = ({ known }: ReconcileContext, index: number, place: ObjectRef): readonly ApiCall[] => {
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
        released: new Set([...known.released, `lock ${index}`]),
      }),
      onTransientFault: (known) => withoutLock(known, index, { type: "taken" }),
    },
  ];
};

/**
 * Gives one lock back, if it is ours; where that is not known, as after a crash or when a former try came to nothing, it is
 * looked up. What is not given back could be waited for in a circle.
 */
export const releaseIfHeld = (context: ReconcileContext, index: number, place: ObjectRef): readonly ApiCall[] => {
  const observed = changeIn(context.known, index).lock;
  return observed === undefined || observed.type === "taken"
    ? [observeLock(context, index, place, false)]
    : release(context, index, place);
};
