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
  readonly doubted: number | undefined;
}

/** Where a candidate is. What is done in each state is one call, or a wait; see `Heard`. */
export type ElectionState =
  /** Reads the Lease. */
  | { readonly type: "looking"; readonly sight: ObservedLease | undefined }
  /** Waits. */
  | { readonly type: "standby"; readonly sight: ObservedLease | undefined; readonly until: number }
  /** Writes itself into the Lease. */
  | { readonly type: "claiming"; readonly sight: ObservedLease; readonly term: Term }
  /** Leads, and waits until the next renewal is due. */
  | { readonly type: "leading"; readonly tenure: HeldTerm; readonly due: number }
  /** Leads, and renews. */
  | { readonly type: "renewing"; readonly tenure: HeldTerm }
  /** Leads, and reads the Lease, because another client has written it. */
  | { readonly type: "checking"; readonly tenure: HeldTerm }
  /** Leads no more, and gives the Lease back. */
  | { readonly type: "releasing"; readonly tenure: HeldTerm }
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

export const initialState: ElectionState = { type: "looking", sight: undefined };

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
  heard: ElectionInput,
  moment: StepTime,
  candidate: Candidate,
): ElectionState => {
  switch (state.type) {
    case "looking":
      return looking(state, heard, moment, candidate);
    case "standby":
      // Also when the Lease should be free by now: it may have changed since, whatever became of a claim.
      return { type: "looking", sight: state.sight };
    case "claiming":
      return claimed(state, heard, moment, candidate);
    case "leading":
      return moment.now >= state.tenure.until ? expired(state.tenure) : { type: "renewing", tenure: state.tenure };
    case "renewing":
      return renewed(state, heard, moment, candidate);
    case "checking":
      return checked(state, heard, moment, candidate);
    case "releasing":
      return { type: "over", because: heard.type === "written" ? "released" : "left; the Lease could not be released" };
    case "over":
      return state;
  }
};

type In<Name> = Extract<ElectionState, { readonly type: Name }>;

/** A little less each time, so that those who failed together do not come back together. */
const pause = ({ timing }: Candidate, random: number): number => timing.retryPeriod * (1 - random / 5);

const looking = (
  { sight }: In<"looking">,
  heard: ElectionInput,
  { now, random }: StepTime,
  candidate: Candidate,
): ElectionState => {
  const again = now + pause(candidate, random);
  if (heard.type !== "read") return { type: "standby", sight, until: again };
  const record = heard.lease === undefined ? undefined : leaderRecordOf(heard.lease);
  const seen: ObservedLease = { record, free: freeFrom(record, sight, now, candidate) };
  return seen.free <= now
    ? claiming(seen, candidate)
    : { type: "standby", sight: seen, until: Math.min(again, seen.free) };
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
const claiming = (sight: ObservedLease, { identity }: Candidate): ElectionState => {
  const before = sight.record?.transitions ?? 0;
  return { type: "claiming", sight, term: { holder: identity, transitions: before < INT32 ? before + 1 : 1 } };
};

const claimed = (
  { sight, term }: In<"claiming">,
  heard: ElectionInput,
  moment: StepTime,
  candidate: Candidate,
): ElectionState => {
  if (heard.type === "written" && isOfTerm(leaderRecordOf(heard.lease), term)) {
    const next = lead(term, heard.lease, undefined, moment, candidate);
    if (moment.now < next.tenure.until) return next;
  }
  if (heard.type !== "failed") return { type: "looking", sight };
  // Should it have been made after all, the next look tells.
  return { type: "standby", sight, until: moment.now + pause(candidate, moment.random) };
};

const lead = (
  term: Term,
  lease: KubeObject,
  doubted: number | undefined,
  { sent, random }: StepTime,
  candidate: Candidate,
): In<"leading"> => ({
  type: "leading",
  tenure: {
    term,
    resourceVersion: lease.metadata.resourceVersion ?? "",
    until: sent + candidate.timing.renewDeadline,
    doubted: doubted === undefined || sent >= doubted ? undefined : doubted,
  },
  due: sent + pause(candidate, random),
});

const renewed = (
  { tenure }: In<"renewing">,
  heard: ElectionInput,
  moment: StepTime,
  candidate: Candidate,
): ElectionState => {
  const { term, doubted } = tenure;
  if (heard.type === "conflict") return moment.now >= tenure.until ? expired(tenure) : { type: "checking", tenure };
  if (heard.type !== "written") return missed(tenure, moment, candidate);
  // A write that changes nothing moves no version: for the others the Lease has not been renewed.
  if (heard.lease.metadata.resourceVersion === tenure.resourceVersion) return missed(tenure, moment, candidate);
  if (!isOfTerm(leaderRecordOf(heard.lease), term)) return deposed(leaderRecordOf(heard.lease));
  const next = lead(term, heard.lease, doubted, moment, candidate);
  return moment.now < next.tenure.until ? next : expired(tenure);
};

const missed = (tenure: HeldTerm, { sent, now, random }: StepTime, candidate: Candidate): ElectionState => {
  if (now >= tenure.until) return expired(tenure);
  return { type: "leading", tenure, due: Math.max(now, sent + pause(candidate, random)) };
};

/** Our own renewal whose answer was lost, or somebody's label; or another leader. */
const checked = (
  { tenure }: In<"checking">,
  heard: ElectionInput,
  moment: StepTime,
  candidate: Candidate,
): ElectionState => {
  if (heard.type !== "read") return missed(tenure, moment, candidate);
  if (heard.lease === undefined) return { type: "over", because: "the Lease was deleted" };
  const record = leaderRecordOf(heard.lease);
  if (!isOfTerm(record, tenure.term)) return deposed(record);
  if (moment.now >= tenure.until) return expired(tenure);
  return { type: "renewing", tenure: { ...tenure, resourceVersion: record.resourceVersion } };
};

const expired = ({ term }: HeldTerm): ElectionState => ({
  type: "over",
  because: `term ${term.transitions} could not be renewed in time`,
});

const deposed = ({ holder, transitions }: LeaderRecord): ElectionState => ({
  type: "over",
  because: holder === "" ? "the Lease was taken away" : `${holder} leads now, in term ${transitions}`,
});

/** Something says that the term is over: it must be renewed before anything else is done. */
export const suspendTerm = (state: ElectionState, now: number): ElectionState =>
  "tenure" in state ? { ...state, tenure: { ...state.tenure, doubted: now } } : state;

/** Leads no more, as soon as what is under way allows. Assumes: all work has ended. */
export const leave = (state: ElectionState): ElectionState => {
  if (state.type === "leading") return { type: "releasing", tenure: state.tenure };
  return state.type === "looking" || state.type === "standby"
    ? { type: "over", because: "left without having led" }
    : state;
};

/** For how long, in ms, this candidate leads for certain; 0 when it does not. */
export const remainingTerm = (state: ElectionState, now: number): number =>
  "tenure" in state && state.type !== "releasing" && state.tenure.doubted === undefined
    ? Math.max(0, state.tenure.until - now)
    : 0;
