import {
  holderIdentity,
  lockLease,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  parseHolder,
  transactionLabel,
  TRANSACTION_LABEL,
} from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import type { Ask, Effect, Telling } from "./effect.ts";
import { sentence } from "./fault.ts";
import { type Instant, toMicroTime } from "./instant.ts";
import { asObject } from "./json.ts";
import { type Known, type LockSight, set, unset } from "./known.ts";
import { type KubeObject, leases, type Place, show, transactions } from "./object.ts";
import { isTerminal } from "./record.ts";
import type { Situation } from "./situation.ts";

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

const me = ({ txn }: Situation): string => holderIdentity(txn.metadata);

const leaseSpec = (situation: Situation, now: Instant, former: object): object => ({
  ...former,
  holderIdentity: me(situation),
  leaseDurationSeconds: Math.ceil(lockDuration(situation) / 1000),
  renewTime: toMicroTime(now),
});

const labels = ({ txn }: Situation): object => ({
  [MANAGED_BY_LABEL]: MANAGED_BY,
  [TRANSACTION_LABEL]: transactionLabel(txn.metadata.name),
});

const withLock = (known: Known, index: number, sight: LockSight | undefined): Known => ({
  ...known,
  locks: sight === undefined ? unset(known.locks, index) : set(known.locks, index, sight),
});

const held = (lease: KubeObject, sent: Instant, situation: Situation): LockSight => ({
  at: "held",
  version: { uid: lease.metadata.uid ?? "", resourceVersion: lease.metadata.resourceVersion ?? "" },
  until: sent + lockDuration(situation),
});

/** Takes a lock that nobody holds, as far as we know. */
const create = (situation: Situation, index: number, place: Place): Ask => ({
  purpose: "lock",
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
    if (E.isRight(answer)) return withLock(known, index, held(answer.right, sent, situation));
    const fault = answer.left;
    const taken = fault.kind === "refused" && fault.code === 409;
    return withLock(
      known,
      index,
      taken ? { at: "taken" } : { at: "impossible", why: `it cannot be locked: ${sentence(fault)}` },
    );
  },
  lost: (known) => withLock(known, index, { at: "taken" }),
});

/** Writes us into a Lease that is there: to renew it, or to take it over. */
const claim = (
  situation: Situation,
  index: number,
  place: Place,
  sight: Extract<LockSight, { at: "held" | "theirs" }>,
): Ask => ({
  purpose: sight.at === "held" ? "renew-lock" : "lock",
  as: "controller",
  call: {
    verb: "mergePatch",
    place,
    body: {
      metadata: { ...sight.version, ...(sight.at === "held" ? {} : { labels: labels(situation) }) },
      spec: leaseSpec(situation, situation.now, sight.at === "held" ? {} : { acquireTime: toMicroTime(situation.now) }),
    },
  },
  learn: (known, answer, _, sent) =>
    // Whatever was in the way, a look at the Lease tells.
    withLock(known, index, E.isRight(answer) ? held(answer.right, sent, situation) : stillUntil(known, index)),
  lost: (known) => withLock(known, index, stillUntil(known, index)),
});

/** After a renewal that did not get through: to be read again, and good until then for as long as it was. */
const stillUntil = (known: Known, index: number): LockSight => {
  const sight = known.locks.get(index);
  return sight?.at === "held" ? { ...sight, stale: true } : { at: "taken" };
};

/** How often a lock that somebody else holds is looked at, in ms. */
const LOOK_AGAIN = 1000;

/** Finds out who holds a lock. `mine`: whether a Lease that is not ours means that we have lost it. */
export const look = (situation: Situation, index: number, place: Place, mine: boolean): Ask => ({
  purpose: "read-lock",
  as: "controller",
  call: { verb: "get", place },
  learn: (known, answer, now) => {
    if (E.isLeft(answer)) {
      const gone = answer.left.kind === "refused" && answer.left.code === 404;
      if (!gone)
        return withLock(known, index, { at: "impossible", why: `its lock cannot be read: ${sentence(answer.left)}` });
      return withLock(
        known,
        index,
        mine ? { at: "lost", why: `Lease ${place.namespace}/${place.name} was deleted` } : undefined,
      );
    }
    const lease = answer.right;
    const spec = asObject(lease["spec"]);
    const holder = typeof spec["holderIdentity"] === "string" ? spec["holderIdentity"] : "";
    const version = { uid: lease.metadata.uid ?? "", resourceVersion: lease.metadata.resourceVersion ?? "" };
    // Ours, from before a crash or a lost reply: renewed at once, so that `until` is certain.
    const former = known.locks.get(index);
    if (holder === me(situation))
      return withLock(known, index, { at: "held", version, until: former?.at === "held" ? former.until : now });
    if (mine)
      return withLock(known, index, { at: "lost", why: `Lease ${place.namespace}/${place.name} is held by ${holder}` });
    const unmoved = former?.at === "theirs" && former.version.resourceVersion === version.resourceVersion;
    const seconds = typeof spec["leaseDurationSeconds"] === "number" ? spec["leaseDurationSeconds"] : 0;
    const seen = unmoved ? former.seen : now;
    return withLock(known, index, {
      at: "theirs",
      holder,
      version,
      looked: now,
      seen,
      expires: holder === "" ? seen : seen + seconds * 1000,
    });
  },
});

/** Whether the Transaction that holds a lock still needs it: a live read, by uid. */
const judge = (index: number, holder: { namespace: string; name: string; uid: string }): Ask => ({
  purpose: "read-holder",
  as: "controller",
  call: { verb: "get", place: { resource: transactions, namespace: holder.namespace, name: holder.name } },
  learn: (known, answer) => {
    const sight = known.locks.get(index);
    if (sight?.at !== "theirs") return known;
    const gone = E.isLeft(answer)
      ? answer.left.kind === "refused" && answer.left.code === 404
      : answer.right.metadata.uid !== holder.uid;
    const phase = E.isRight(answer) ? asObject(answer.right["status"])["phase"] : undefined;
    const over = gone || isTerminal(phase as Parameters<typeof isTerminal>[0]);
    return withLock(known, index, { ...sight, judged: over ? "over" : "live" });
  },
});

/** The next request that brings us nearer to this lock; a pause where only waiting helps. */
const approach = (
  situation: Situation,
  index: number,
  place: Place,
  mine: boolean,
): Effect | { readonly until: Instant; readonly because: string } => {
  const { known, now } = situation;
  const sight = known.locks.get(index);
  if (sight === undefined) return mine ? look(situation, index, place, mine) : create(situation, index, place);
  if (sight.at === "held" && !sight.stale) return claim(situation, index, place, sight);
  if (sight.at !== "theirs" || now >= sight.looked + LOOK_AGAIN) return look(situation, index, place, mine);
  const holder = parseHolder(sight.holder);
  if (holder !== undefined && sight.judged === undefined) return judge(index, holder);
  if (holder === undefined ? now >= sight.expires : sight.judged === "over")
    return claim(situation, index, place, sight);
  return { until: sight.looked + LOOK_AGAIN, because: `${place.namespace}/${place.name} is held by ${sight.holder}` };
};

export type Locking =
  | { readonly at: "held" }
  | { readonly at: "going"; readonly effects: readonly Effect[] }
  | {
      readonly at: "waiting";
      readonly until: Instant;
      readonly because: string;
      readonly tell: Telling;
      readonly effects: readonly Effect[];
    }
  | { readonly at: "refused"; readonly problems: ReadonlyMap<number, string> };

const order = (place: Place): string => `${place.namespace ?? ""}/${place.name}`;

/** A lock is safe for a write when it is good for longer than the write can take. */
export const isSafe = (sight: LockSight | undefined, { now, settings }: Situation): boolean =>
  sight?.at === "held" && sight.until > now + settings.writeTimeout;

/**
 * Takes the locks of these targets.
 *
 * Guarantees: at first all are tried side by side; as soon as one is held by somebody else, what comes after it in one
 *             global order (namespace and name of the Lease) is given back, and the rest is taken one by one in that order:
 *             so no two Transactions can wait for each other.
 *             A lock of a live, unfinished Transaction is never taken over; one of a finished or vanished Transaction at
 *             once; any other only when it has not changed for its whole duration by our own clock.
 */
export const acquire = (situation: Situation, targets: ReadonlyMap<number, Place>): Locking => {
  const { known } = situation;
  const wanted = [...targets]
    .map(([index, target]) => ({ index, target, place: lockPlace(target, situation.settings.controllerNamespace) }))
    .toSorted((a, b) => (order(a.place) < order(b.place) ? -1 : 1));
  const missing = wanted.filter(({ index }) => !isSafe(known.locks.get(index), situation));
  const problems = new Map(
    missing.flatMap(({ index, target }) => {
      const sight = known.locks.get(index);
      return sight?.at === "impossible" ? [[index, `${show(target)}: ${sight.why}`] as const] : [];
    }),
  );
  if (problems.size > 0) return { at: "refused", problems };
  const first = missing[0];
  if (first === undefined) return { at: "held" };
  const next = (known.queueing ? [first] : missing).map(({ index, place }) => ({
    index,
    place,
    to: approach(situation, index, place, false),
  }));
  const blocked = next.find(({ to }) => "until" in to);
  if (blocked === undefined) return { at: "going", effects: next.flatMap(({ to }) => ("until" in to ? [] : [to])) };
  const after = wanted.filter(
    ({ index, place }) => order(place) > order(blocked.place) && known.locks.get(index)?.at === "held",
  );
  const because = "because" in blocked.to ? `waiting for a lock: Lease ${blocked.to.because}` : "";
  return {
    at: "waiting",
    until: "until" in blocked.to ? blocked.to.until : situation.now,
    because,
    tell: { type: "Normal", reason: "LockWaiting", message: because },
    effects: after.flatMap(({ index, place }) => release(situation, index, place)),
  };
};

/** Gives one lock back, only if it is still ours. */
export const release = ({ known }: Situation, index: number, place: Place): readonly Ask[] => {
  const sight = known.locks.get(index);
  if (sight?.at !== "held") return [];
  return [
    {
      purpose: "release-lock",
      as: "controller",
      call: { verb: "delete", place, preconditions: sight.version },
      learn: (known, answer) =>
        E.isRight(answer)
          ? { ...withLock(known, index, undefined), released: new Set([...known.released, `lock ${index}`]) }
          : withLock(known, index, { at: "taken" }),
      lost: (known) => withLock(known, index, { at: "taken" }),
    },
  ];
};

const renewal = (
  situation: Situation,
  index: number,
  target: Place,
  sight: Extract<LockSight, { at: "held" }>,
): Ask => {
  const place = lockPlace(target, situation.settings.controllerNamespace);
  return sight.stale ? look(situation, index, place, true) : claim(situation, index, place, sight);
};

/** Renewals that are due: before a third of the duration has passed. They go on in the background, whatever the phase. */
export const renewals = (situation: Situation, targets: ReadonlyMap<number, Place>): readonly Ask[] =>
  [...targets].flatMap(([index, target]) => {
    const sight = situation.known.locks.get(index);
    const due = sight?.at === "held" && sight.until - situation.now <= (lockDuration(situation) * 3) / 4;
    return due ? [renewal(situation, index, target, sight)] : [];
  });

/**
 * Makes sure of locks that were taken before, perhaps by a former process.
 *
 * @returns Left: why one of them is lost. Right: what is still to be asked; nothing when all of them are safe.
 */
export const hold = (situation: Situation, targets: ReadonlyMap<number, Place>): E.Either<string, readonly Ask[]> => {
  const effects: Ask[] = [];
  for (const [index, target] of targets) {
    const sight = situation.known.locks.get(index);
    if (sight?.at === "lost" || sight?.at === "impossible")
      return E.left(`the lock on ${show(target)} was lost: ${sight.why}`);
    if (isSafe(sight, situation)) continue;
    const place = lockPlace(target, situation.settings.controllerNamespace);
    effects.push(sight?.at === "held" ? renewal(situation, index, target, sight) : look(situation, index, place, true));
  }
  return E.right(effects);
};
