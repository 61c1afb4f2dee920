import { isOfTerm, type LeaderRecord, leaderRecordOf, type Term } from "./leader-lease.ts";
import type { LeaderTiming } from "./leader-timing.ts";
import type { KubeObject } from "@janus/types";

/** The Lease as it was last seen. Times are of the local clock that never goes back. */
interface ObservedLease {
  /** Undefined: there was none. */
  readonly record: LeaderRecord | undefined;
  /** From when on it may be taken, unless it is seen to change. */
  readonly free: number;
}

/** A term that is ours. */
interface HeldTerm {
  readonly term: Term;
  readonly resourceVersion: string;
  /** Until then nobody else leads. */
  readonly until: number;
  /** When something said that the term is over; nothing is done until a renewal that was sent later has succeeded. */
  readonly suspendedAt: number | undefined;
}

/** Where a candidate is. What is done in each state is one call, or a wait; see `Heard`. */
export type ElectionState =
  /** Reads the Lease. */
  | { readonly type: "looking"; readonly observed: ObservedLease | undefined }
  /** Waits. */
  | { readonly type: "standby"; readonly observed: ObservedLease | undefined; readonly until: number }
  /** Writes itself into the Lease. */
  | { readonly type: "claiming"; readonly observed: ObservedLease; readonly term: Term }
  /** Leads, and waits until the next renewal is due. */
  | { readonly type: "leading"; readonly heldTerm: HeldTerm; readonly due: number }
  /** Leads, and renews. */
  | { readonly type: "renewing"; readonly heldTerm: HeldTerm }
  /** Leads, and reads the Lease, because another client has written it. */
  | { readonly type: "checking"; readonly heldTerm: HeldTerm }
  /** Leads no more, and gives the Lease back. */
  | { readonly type: "releasing"; readonly heldTerm: HeldTerm }
  | { readonly type: "over"; readonly because: string };

/** What comes of it. */
export type ElectionInput =
  /** Undefined: there is no such Lease. */
  | { readonly type: "read"; readonly lease: KubeObject | undefined }
  | { readonly type: "written"; readonly lease: KubeObject }
  /** The Lease was not as the write assumed: nothing was written. */
  | { readonly type: "conflict" }
  /**
   * No answer, or one that says nothing about the Lease. The write may have been made. Whatever it asked us to wait, it is tried
   * again after a retry period, which is no storm of requests: a term would end meanwhile.
   */
  | { readonly type: "failed"; readonly reason: string }
  | { readonly type: "waited" };

/** When. Times in ms, of the local clock. */
export interface StepTime {
  /** When the call was begun that this came of. */
  readonly sent: number;
  readonly now: number;
  /** From 0 to 1. */
  readonly random: number;
}

export interface Candidate {
  /** Unique among all living candidates. */
  readonly identity: string;
  readonly timing: LeaderTiming;
}

export const initialState: ElectionState = { type: "looking", observed: undefined };

/**
 * One step of a candidate for the leadership.
 *
 * Guarantees: two candidates never lead at the same time, whatever is lost or late, however long one is paused and
 *             whatever their clocks show, as long as these go at the same pace (to within leaseDuration / renewDeadline):
 *             a term lasts from the *sending* of its last renewal, and the wait of others from when they have *seen* it.
 *             No two acquisitions have the same term, within 2^31 of them. A single failed call does not end a term.
 * Assumes:    no two living candidates have the same identity, and nobody deletes the Lease of a living leader.
 */
export const step = (
  state: ElectionState,
  input: ElectionInput,
  moment: StepTime,
  candidate: Candidate,
): ElectionState => {
  switch (state.type) {
    case "looking":
      return looking(state, input, moment, candidate);
    case "standby":
      // Also when the Lease should be free by now: it may have changed since, whatever became of a claim.
      return { type: "looking", observed: state.observed };
    case "claiming":
      return claimed(state, input, moment, candidate);
    case "leading":
      return moment.now >= state.heldTerm.until
        ? expired(state.heldTerm)
        : { type: "renewing", heldTerm: state.heldTerm };
    case "renewing":
      return renewed(state, input, moment, candidate);
    case "checking":
      return checked(state, input, moment, candidate);
    case "releasing":
      return {
        type: "over",
        because: input.type === "written" ? "released" : "stopped; the Lease could not be released",
      };
    case "over":
      return state;
  }
};

type In<Name> = Extract<ElectionState, { readonly type: Name }>;

/** A little less each time, so that those who failed together do not come back together. */
const pause = ({ timing }: Candidate, random: number): number => timing.retryPeriod * (1 - random / 5);

const looking = (
  { observed }: In<"looking">,
  input: ElectionInput,
  { now, random }: StepTime,
  candidate: Candidate,
): ElectionState => {
  const again = now + pause(candidate, random);
  if (input.type !== "read") return { type: "standby", observed, until: again };
  const record = input.lease === undefined ? undefined : leaderRecordOf(input.lease);
  const seen: ObservedLease = { record, free: freeFrom(record, observed, now, candidate) };
  return seen.free <= now
    ? claiming(seen, candidate)
    : { type: "standby", observed: seen, until: Math.min(again, seen.free) };
};

const freeFrom = (
  record: LeaderRecord | undefined,
  before: ObservedLease | undefined,
  now: number,
  { identity, timing }: Candidate,
): number => {
  if (before !== undefined && before.record?.resourceVersion === record?.resourceVersion) return before.free;
  // A Lease that vanishes before our eyes may have a leader who does not know it yet.
  if (record === undefined) return before === undefined ? now : now + timing.leaseDuration;
  // Under our name: a claim whose answer was lost, or of a former life. Nobody works under it.
  if (record.holder === "" || record.holder === identity) return now;
  // A holder may ask for a longer time than ours; for a shorter one only somebody's edit does, which it puts right.
  return now + Math.max(record.duration ?? 0, timing.leaseDuration);
};

/** The most that the API server takes for leaseTransitions. */
const INT32 = 2 ** 31 - 1;

/** Always another term: of the one before, writes may still be on their way. */
const claiming = (observed: ObservedLease, { identity }: Candidate): ElectionState => {
  const before = observed.record?.transitions ?? 0;
  return { type: "claiming", observed, term: { holder: identity, transitions: before < INT32 ? before + 1 : 1 } };
};

const claimed = (
  { observed, term }: In<"claiming">,
  input: ElectionInput,
  moment: StepTime,
  candidate: Candidate,
): ElectionState => {
  if (input.type === "written" && isOfTerm(leaderRecordOf(input.lease), term)) {
    const next = lead(term, input.lease, undefined, moment, candidate);
    if (moment.now < next.heldTerm.until) return next;
  }
  if (input.type !== "failed") return { type: "looking", observed };
  // Should it have been made after all, the next look tells.
  return { type: "standby", observed, until: moment.now + pause(candidate, moment.random) };
};

const lead = (
  term: Term,
  lease: KubeObject,
  suspendedAt: number | undefined,
  { sent, random }: StepTime,
  candidate: Candidate,
): In<"leading"> => ({
  type: "leading",
  heldTerm: {
    term,
    resourceVersion: lease.metadata.resourceVersion ?? "",
    until: sent + candidate.timing.renewDeadline,
    suspendedAt: suspendedAt === undefined || sent >= suspendedAt ? undefined : suspendedAt,
  },
  due: sent + pause(candidate, random),
});

const renewed = (
  { heldTerm }: In<"renewing">,
  input: ElectionInput,
  moment: StepTime,
  candidate: Candidate,
): ElectionState => {
  const { term, suspendedAt } = heldTerm;
  if (input.type === "conflict")
    return moment.now >= heldTerm.until ? expired(heldTerm) : { type: "checking", heldTerm };
  if (input.type !== "written") return missed(heldTerm, moment, candidate);
  // A write that changes nothing moves no version: for the others the Lease has not been renewed.
  if (input.lease.metadata.resourceVersion === heldTerm.resourceVersion) return missed(heldTerm, moment, candidate);
  if (!isOfTerm(leaderRecordOf(input.lease), term)) return deposed(leaderRecordOf(input.lease));
  const next = lead(term, input.lease, suspendedAt, moment, candidate);
  return moment.now < next.heldTerm.until ? next : expired(heldTerm);
};

const missed = (heldTerm: HeldTerm, { sent, now, random }: StepTime, candidate: Candidate): ElectionState => {
  if (now >= heldTerm.until) return expired(heldTerm);
  return { type: "leading", heldTerm, due: Math.max(now, sent + pause(candidate, random)) };
};

/** Our own renewal whose answer was lost, or somebody's label; or another leader. */
const checked = (
  { heldTerm }: In<"checking">,
  input: ElectionInput,
  moment: StepTime,
  candidate: Candidate,
): ElectionState => {
  if (input.type !== "read") return missed(heldTerm, moment, candidate);
  if (input.lease === undefined) return { type: "over", because: "the Lease was deleted" };
  const record = leaderRecordOf(input.lease);
  if (!isOfTerm(record, heldTerm.term)) return deposed(record);
  if (moment.now >= heldTerm.until) return expired(heldTerm);
  return { type: "renewing", heldTerm: { ...heldTerm, resourceVersion: record.resourceVersion } };
};

const expired = ({ term }: HeldTerm): ElectionState => ({
  type: "over",
  because: `term ${term.transitions} could not be renewed in time`,
});

const deposed = ({ holder, transitions }: LeaderRecord): ElectionState => ({
  type: "over",
  because: holder === "" ? "the Lease has no holder any more" : `${holder} is the leader now, term ${transitions}`,
});

/** Something says that the term is over: it must be renewed before anything else is done. */
export const suspendTerm = (state: ElectionState, now: number): ElectionState =>
  "heldTerm" in state ? { ...state, heldTerm: { ...state.heldTerm, suspendedAt: now } } : state;

/** Leads no more, as soon as what is under way allows. Assumes: all work has ended. */
export const leave = (state: ElectionState): ElectionState => {
  if (state.type === "leading") return { type: "releasing", heldTerm: state.heldTerm };
  return state.type === "looking" || state.type === "standby"
    ? { type: "over", because: "stopped before it became the leader" }
    : state;
};

/** For how long, in ms, this candidate leads for certain; 0 when it does not. */
export const remainingTerm = (state: ElectionState, now: number): number =>
  "heldTerm" in state && state.type !== "releasing" && state.heldTerm.suspendedAt === undefined
    ? Math.max(0, state.heldTerm.until - now)
    : 0;
