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
import type { Ask } from "./effect.ts";
import { type Fault, isAbsent, meaning, sentence } from "./fault.ts";
import { isLaterFormat } from "./format.ts";
import { hasTarget } from "./has-target.ts";
import { fromTimestamp, type Instant, toMicroTime } from "./instant.ts";
import { asObject } from "./json.ts";
import { type Known, type LockSight, set } from "./known.ts";
import { type KubeObject, leases, type Place, transactions } from "./object.ts";
import { isTerminal } from "./record.ts";
import { LOOK_AGAIN, type Situation } from "./situation.ts";

/** Where the Lease that locks a target is: in the target's namespace, or in the controller's for cluster-scoped ones. */
export const lockPlace = (place: Place, controllerNamespace: string): Place => ({
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
export const lockDuration = ({ txn, settings }: Pick<Situation, "txn" | "settings">): number =>
  Math.max(txn.spec.lockTimeout, 3 * (settings.writeTimeout + txn.spec.changes.length * 2));

const seconds = (ms: number): string => `${Math.ceil(ms / 1000)}s`;

/** For people, where locks are good for longer than was asked for. */
export const raised = ({ txn, settings }: Pick<Situation, "txn" | "settings">): readonly string[] => {
  const duration = lockDuration({ txn, settings });
  return duration === txn.spec.lockTimeout
    ? []
    : [
        `locks last ${seconds(duration)}: lockTimeout (${seconds(txn.spec.lockTimeout)}) leaves too little time for a write (${seconds(settings.writeTimeout)}) and for renewing all`,
      ];
};

/** leaseDurationSeconds is a 32-bit integer. */
const INT32 = 2 ** 31 - 1;

const me = ({ txn }: Situation): string => holderIdentity(txn.metadata);

const leaseSpec = (situation: Situation, now: Instant, former: object): object => ({
  ...former,
  holderIdentity: me(situation),
  leaseDurationSeconds: Math.min(Math.ceil(lockDuration(situation) / 1000), INT32),
  renewTime: toMicroTime(now),
});

const labels = ({ txn }: Situation): object => ({
  [MANAGED_BY_LABEL]: MANAGED_BY,
  [TRANSACTION_LABEL]: transactionLabel(txn.metadata.name),
});

const withLock = (known: Known, index: number, sight: LockSight): Known => ({
  ...known,
  locks: set(known.locks, index, sight),
});

const withHeld = (known: Known, index: number, sight: LockSight, since: Instant): Known => ({
  ...withLock(known, index, sight),
  holdsSince: known.holdsSince ?? since,
});

/** Who holds no lock any more begins to hold some when it takes the next one. */
const withoutLock = (known: Known, index: number, sight: LockSight): Known => {
  const after = withLock(known, index, sight);
  const { holdsSince: _, ...holdsNone } = after;
  return [...after.locks.values()].some(({ at }) => at === "held") ? after : holdsNone;
};

const held = (lease: KubeObject, sent: Instant, situation: Situation): LockSight => ({
  at: "held",
  version: { uid: lease.metadata.uid ?? "", resourceVersion: lease.metadata.resourceVersion ?? "" },
  until: sent + lockDuration(situation),
});

/** Takes a lock that nobody holds, as far as we know. */
export const create = (situation: Situation, index: number, place: Place): Ask => ({
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
      metadata: { name: place.name, namespace: place.namespace, labels: labels(situation) },
      spec: leaseSpec(situation, situation.now, { acquireTime: toMicroTime(situation.now), leaseTransitions: 0 }),
    },
  },
  learn: (known, answer, _, sent) => {
    if (E.isRight(answer)) return withHeld(known, index, held(answer.right, sent, situation), sent);
    const fault = answer.left;
    const taken = fault.kind === "refused" && fault.code === 409;
    return withLock(
      known,
      index,
      taken ? { at: "taken" } : { at: "impossible", why: `it cannot be locked: ${sentence(fault)}` },
    );
  },
  lost: (known, _, now) => ({ ...withLock(known, index, { at: "taken" }), unansweredCreate: now }),
});

/** Writes us into a Lease that is there: to renew it, or to take it over. */
export const claim = (
  situation: Situation,
  index: number,
  place: Place,
  sight: Extract<LockSight, { at: "held" | "theirs" }>,
): Ask => ({
  purpose: sight.at === "held" ? "renew-lock" : "lock",
  item: index,
  as: "controller",
  call: {
    verb: "mergePatch",
    place,
    body: {
      metadata: { ...sight.version, ...(sight.at === "held" ? {} : { labels: labels(situation) }) },
      spec: leaseSpec(situation, situation.now, sight.at === "held" ? {} : { acquireTime: toMicroTime(situation.now) }),
    },
  },
  // Whatever was in the way, a look at the Lease tells.
  learn: (known, answer, now, sent) =>
    E.isRight(answer)
      ? withHeld(known, index, held(answer.right, sent, situation), sent)
      : withLock(known, index, unrenewed(situation, known, index, answer.left, now)),
  lost: (known, fault, now) => ({
    ...withLock(known, index, unrenewed(situation, known, index, fault, now)),
    // What was somebody else's Lease may be ours yet; one that is ours already cannot come again.
    ...(sight.at === "theirs" ? { unansweredCreate: now } : {}),
  }),
});

/** In how many pauses a lock passes that cannot be renewed, whatever Retry-After asks for: it would be lost meanwhile. */
const PAUSES = 10;

/**
 * After a renewal that did not get through: to be read again, and good until then for as long as it was; but when somebody
 * has written the Lease, only for as long as nobody has looked.
 */
const unrenewed = (situation: Situation, known: Known, index: number, fault: Fault, now: Instant): LockSight => {
  const sight = known.locks.get(index);
  if (sight?.at !== "held") return { at: "taken" };
  if (meaning(fault) === "conflict") return { ...sight, stale: true, until: now };
  return { ...sight, stale: true, retryAt: now + lockDuration(situation) / PAUSES };
};

/**
 * When a lock that somebody else holds is looked at again, having been waited for since `startedAt`: after a second, and
 * later after a tenth of the time waited so far, at most ten seconds. So many that wait for long are no storm of requests.
 */
export const lookAgainAt = ({ txn, now }: Situation, looked: Instant): Instant =>
  looked + Math.min(Math.max((now - (fromTimestamp(txn.status.startedAt) ?? now)) / 10, LOOK_AGAIN), 10 * LOOK_AGAIN);

/** Finds out who holds a lock. `mine`: whether a Lease that is not ours means that we have lost it. */
export const look = (situation: Situation, index: number, place: Place, mine: boolean): Ask => ({
  purpose: "read-lock",
  item: index,
  as: "controller",
  call: { verb: "get", place },
  learn: (known, answer, now) => {
    if (E.isLeft(answer)) {
      if (!isAbsent(answer.left))
        return withLock(known, index, { at: "impossible", why: `its lock cannot be read: ${sentence(answer.left)}` });
      return withLock(
        known,
        index,
        mine ? { at: "lost", why: `Lease ${place.namespace}/${place.name} was deleted` } : { at: "free" },
      );
    }
    const lease = answer.right;
    const spec = asObject(lease["spec"]);
    const holder = typeof spec["holderIdentity"] === "string" ? spec["holderIdentity"] : "";
    const version = { uid: lease.metadata.uid ?? "", resourceVersion: lease.metadata.resourceVersion ?? "" };
    // Ours, from before a crash or a lost reply: renewed at once, so that `until` is certain.
    const former = known.locks.get(index);
    if (holder === me(situation))
      return withHeld(known, index, { at: "held", version, until: former?.at === "held" ? former.until : now }, now);
    if (mine)
      return withLock(known, index, { at: "lost", why: `Lease ${place.namespace}/${place.name} is held by ${holder}` });
    const unmoved = former?.at === "theirs" && former.version.resourceVersion === version.resourceVersion;
    const seconds = spec["leaseDurationSeconds"];
    // Who says nothing of it is given as long as we take ourselves.
    const duration = typeof seconds === "number" ? seconds * 1000 : lockDuration(situation);
    const seen = unmoved ? former.seen : now;
    return withLock(known, index, {
      at: "theirs",
      holder,
      version,
      looked: now,
      seen,
      expires: holder === "" ? seen : seen + duration,
    });
  },
});

/** Phases in which no target has been touched, nor may be on its way to be. */
const UNTOUCHED: readonly unknown[] = ["Pending", "Preparing", undefined];

/** Then its targets may stand anywhere. */
const isOfLater = (txn: KubeObject): boolean => isLaterFormat(asObject(txn["status"])["formatVersion"]);

/** Whether the Transaction that holds the lock on a target needs it, and needs it still: a live read, by uid. */
export const judge = (index: number, holder: Holder, target: Place): Ask => ({
  purpose: "read-holder",
  item: index,
  as: "controller",
  call: { verb: "get", place: { resource: transactions, namespace: holder.namespace, name: holder.name } },
  learn: (known, answer) => {
    const sight = known.locks.get(index);
    if (sight?.at !== "theirs") return known;
    const gone = E.isLeft(answer) ? isAbsent(answer.left) : answer.right.metadata.uid !== holder.uid;
    const phase = E.isRight(answer) ? asObject(answer.right["status"])["phase"] : undefined;
    const over = gone || isTerminal(phase as Parameters<typeof isTerminal>[0]);
    // Of one that cannot be read nothing is known but that it may be at work.
    if (E.isLeft(answer) && !gone) return withLock(known, index, { ...sight, judged: "active" });
    const needed = E.isRight(answer) && (isOfLater(answer.right) || hasTarget(answer.right, target));
    const active = UNTOUCHED.includes(phase) ? "untouched" : "active";
    return withLock(known, index, { ...sight, judged: over ? "over" : needed ? active : "stranger" });
  },
});

/** Gives one lock back, only if it is still ours. */
export const release = ({ known }: Situation, index: number, place: Place): readonly Ask[] => {
  const sight = known.locks.get(index);
  if (sight?.at !== "held") return [];
  return [
    {
      purpose: "release-lock",
      item: index,
      as: "controller",
      call: { verb: "delete", place, preconditions: sight.version },
      untilDone: true,
      learn: (known) => ({
        ...withoutLock(known, index, { at: "free" }),
        released: new Set([...known.released, `lock ${index}`]),
      }),
      lost: (known) => withoutLock(known, index, { at: "taken" }),
    },
  ];
};

/**
 * Gives one lock back, if it is ours; where that is not known, as after a crash or when a former try came to nothing, it is
 * looked up. What is not given back could be waited for in a circle.
 */
export const giveBack = (situation: Situation, index: number, place: Place): readonly Ask[] => {
  const sight = situation.known.locks.get(index);
  return sight === undefined || sight.at === "taken"
    ? [look(situation, index, place, false)]
    : release(situation, index, place);
};
