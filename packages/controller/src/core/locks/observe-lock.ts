// Folds the answers to requests for locks into the observations.
import { holderIdentity } from "@janus/api";
import { asObject, classify, isAbsent, messageOf, type ApiError, type Instant, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import type { Version } from "../kubernetes/kube-object.ts";
import { withLockReleased } from "../state/cleanup.ts";
import type { Effect } from "../state/effect.ts";
import type { LockFault, LockFold } from "../state/fold.ts";
import type { Faults, Folds } from "../state/folding.ts";
import { isLaterFormat } from "../state/format.ts";
import type { About } from "../state/happened.ts";
import { hasTarget } from "../state/has-target.ts";
import { type LockObservation, RENEWED_AFTER } from "../state/lock-observation.ts";
import { changeIn, mapChanges, type Observations, withChange } from "../state/observations.ts";
import { isTerminal } from "../state/status-update.ts";

/**
 * How long, in ms, the renewals of a lock may be rejected before it counts as lost: as for missing permissions of the controller,
 * an API server that has just started does not know its roles and policies yet.
 */
const REFUSED_FOR = 30_000;

/** Phases in which no change was applied, and none is in flight. */
const UNTOUCHED: readonly unknown[] = ["Pending", "Preparing", undefined];

/** The index of the change that the lock is for. */
const indexOf = (effect: Effect): number => ("item" in effect ? effect.item : undefined) ?? -1;

const withLock = (known: Observations, effect: Effect, lock: LockObservation): Observations =>
  withChange(known, indexOf(effect), { lock });

const withHeld = (known: Observations, effect: Effect, lock: LockObservation, since: Instant): Observations => ({
  ...withLock(known, effect, lock),
  holdsSince: known.holdsSince ?? since,
});

/** After the last lock is released, `holdsSince` starts again with the next one. */
const withoutLock = (known: Observations, effect: Effect, lock: LockObservation): Observations => {
  const after = withLock(known, effect, lock);
  const { holdsSince: _, ...holdsNone } = after;
  return [...after.changes.values()].some(({ lock }) => lock?.type === "held") ? after : holdsNone;
};

const versionOf = ({ metadata: { uid = "", resourceVersion = "" } }: KubeObject): Version => ({ uid, resourceVersion });

const held = (lease: KubeObject, sent: Instant, duration: number): LockObservation => ({
  type: "held",
  version: versionOf(lease),
  until: sent + duration,
  renewAt: sent + duration * RENEWED_AFTER,
});

const lockOf = (known: Observations, effect: Effect): LockObservation | undefined =>
  changeIn(known, indexOf(effect)).lock;

/**
 * After a failed renewal: the Lease is read again. Until then, the lock is valid as before; but after a
 * conflict, it is not valid until it was read. One that was rejected for long counts as lost once it is not valid any more: whatever
 * rejects it, as a policy for Leases of its namespace, must not hold up what needs other locks.
 */
const unrenewed = (
  known: Observations,
  effect: Effect,
  fault: ApiError,
  now: Instant,
  retryAfter: number,
): LockObservation => {
  const observed = lockOf(known, effect);
  const isRefused = classify(fault) === "permanent";
  // What was held may have been forgotten since, as when the Transaction was edited: then the Lease tells what it is.
  if (observed?.type !== "held")
    return isRefused && effect.purpose === "lock"
      ? { type: "impossible", why: `it cannot be locked: ${messageOf(fault)}` }
      : { type: "taken" };
  if (classify(fault) === "conflict") return { ...observed, stale: true, until: now };
  const retryAt = now + retryAfter;
  if (!isRefused) return { ...observed, stale: true, retryAt };
  const { refusedSince = now } = observed;
  return now >= observed.until && now >= refusedSince + REFUSED_FOR
    ? { type: "impossible", why: `its lock cannot be renewed: ${messageOf(fault)}` }
    : { ...observed, stale: true, retryAt, refusedSince };
};

/** The holder that a Lease names; `""` if it names none. */
const holderOf = (lease: KubeObject): string => {
  const { holderIdentity: holder } = asObject(lease["spec"]);
  return typeof holder === "string" ? holder : "";
};

const isOurs = (lease: KubeObject, { txn }: About): boolean => holderOf(lease) === holderIdentity(txn.metadata);

/** Ours, from before a crash or a lost response: renewed at once, so that `until` is certain. */
const heldAgain = (known: Observations, effect: Effect, lease: KubeObject, now: Instant): Observations => {
  const former = lockOf(known, effect);
  const { stale: _, ...kept } = former?.type === "held" ? former : { type: "held" as const, until: now };
  return withHeld(known, effect, { ...kept, version: versionOf(lease) }, now);
};

const unreadable = (known: Observations, effect: Effect, fault: ApiError): Observations =>
  withLock(known, effect, { type: "impossible", why: `its lock cannot be read: ${messageOf(fault)}` });

/** The Lease of another holder, and since when this process sees that unchanged. */
const theirs = (
  former: LockObservation | undefined,
  lease: KubeObject,
  now: Instant,
  ownDuration: number,
): LockObservation => {
  const version = versionOf(lease);
  const holder = holderOf(lease);
  const isUnmoved = former?.type === "theirs" && former.version.resourceVersion === version.resourceVersion;
  const unchangedSince = isUnmoved ? former.unchangedSince : now;
  const seconds = asObject(lease["spec"])["leaseDurationSeconds"];
  const duration = typeof seconds === "number" ? seconds * 1000 : ownDuration;
  const expires = holder === "" ? unchangedSince : unchangedSince + duration;
  return { type: "theirs", holder, version, readAt: now, unchangedSince, expires };
};

/** A Transaction in a later format may have its targets anywhere in its spec. */
const isOfLater = (txn: KubeObject): boolean => isLaterFormat(asObject(txn["status"])["formatVersion"]);

/** Drops what was read under locks that are released: it may be outdated. */
const withoutReads = (known: Observations): Observations => ({
  ...mapChanges(known, (observed) => ({ ...observed, target: undefined, snapshot: undefined })),
  owned: new Map(),
  listings: new Map(),
});

export const lockFolds: Folds<LockFold> = {
  "lock-created": (known, { duration }, { effect, answer, sent }) => {
    if (E.isRight(answer)) return withHeld(known, effect, held(answer.right, sent, duration), sent);
    const fault = answer.left;
    const isTaken = fault.type === "refused" && fault.code === 409;
    return withLock(
      known,
      effect,
      isTaken ? { type: "taken" } : { type: "impossible", why: `it cannot be locked: ${messageOf(fault)}` },
    );
  },
  // Reading the Lease shows what the conflict was.
  "lock-written": (known, { duration, retryAfter }, { effect, answer, at, sent }) =>
    E.isRight(answer)
      ? withHeld(known, effect, held(answer.right, sent, duration), sent)
      : withLock(known, effect, unrenewed(known, effect, answer.left, at, retryAfter)),
  "lock-read": (known, { duration }, { effect, answer, at }, about) => {
    if (E.isLeft(answer))
      return isAbsent(answer.left) ? withLock(known, effect, { type: "free" }) : unreadable(known, effect, answer.left);
    return isOurs(answer.right, about)
      ? heldAgain(known, effect, answer.right, at)
      : withLock(known, effect, theirs(lockOf(known, effect), answer.right, at, duration));
  },
  "lock-verified": (known, _, { effect, answer, at }, about) => {
    const { namespace, name } = effect.call.place;
    const lost = (what: string): Observations =>
      withLock(known, effect, { type: "lost", why: `Lease ${namespace}/${name} ${what}` });
    if (E.isLeft(answer)) return isAbsent(answer.left) ? lost("was deleted") : unreadable(known, effect, answer.left);
    return isOurs(answer.right, about)
      ? heldAgain(known, effect, answer.right, at)
      : lost(`is held by ${holderOf(answer.right)}`);
  },
  "lock-holder": (known, { uid, target }, { effect, answer }) => {
    const observed = lockOf(known, effect);
    if (observed?.type !== "theirs") return known;
    const gone = E.isLeft(answer) ? isAbsent(answer.left) : answer.right.metadata.uid !== uid;
    const phase = E.isRight(answer) ? asObject(answer.right["status"])["phase"] : undefined;
    const over = gone || isTerminal(phase as Parameters<typeof isTerminal>[0]);
    // If it cannot be read, it may be active.
    if (E.isLeft(answer) && !gone) return withLock(known, effect, { ...observed, holderState: "active" });
    const needed = E.isRight(answer) && (isOfLater(answer.right) || hasTarget(answer.right, target));
    const active = UNTOUCHED.includes(phase) ? "untouched" : phase === "RollingBack" ? "rolling-back" : "active";
    return withLock(known, effect, { ...observed, holderState: over ? "finished" : needed ? active : "foreign" });
  },
  "lock-released": (known, _, { effect }) => ({
    ...withoutLock(known, effect, { type: "free" }),
    cleanup: withLockReleased(known.cleanup, indexOf(effect)),
  }),
  "locks-left": withoutReads,
  "locks-left-to-others": (known, _, { at }) => {
    const { holdsSince: __, ...rest } = withoutReads(known);
    return { ...rest, yieldedAt: at };
  },
  // The Lease shows whether it has yielded when it is read again.
  "yield-requested": (known, { index }) => {
    const { lock } = changeIn(known, index);
    return lock?.type === "theirs" ? withChange(known, index, { lock: { ...lock, yieldRequested: true } }) : known;
  },
  // A Transaction without any of these targets cannot request them.
  "yield-requester": (known, { uid, targets }, { answer, at }) => {
    const isOne =
      E.isRight(answer) &&
      answer.right.metadata.uid === uid &&
      targets.some((target) => hasTarget(answer.right, target));
    const phase = isOne ? asObject(answer.right["status"])["phase"] : undefined;
    return { ...known, yieldRequester: { uid, readAt: at, phase } };
  },
};

export const lockFaults: Faults<LockFault> = {
  "lock-maybe-created": (known, _, { effect, at }) => ({
    ...withLock(known, effect, { type: "taken" }),
    unansweredCreate: at,
  }),
  // A Lease of another client may still become ours; one that is ours already cannot be acquired again.
  "lock-maybe-written": (known, { retryAfter, isTakeOver }, { effect, error, at }) => ({
    ...withLock(known, effect, unrenewed(known, effect, error, at, retryAfter)),
    ...(isTakeOver ? { unansweredCreate: at } : {}),
  }),
  "lock-maybe-released": (known, _, { effect }) => withoutLock(known, effect, { type: "taken" }),
};
