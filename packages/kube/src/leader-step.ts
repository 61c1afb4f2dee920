import { isOfTerm, type LeaderRecord, leaderRecordOf, type Term } from "./leader-lease.ts";
import type { LeaderTiming } from "./leader-timing.ts";
import type { KubeObject } from "./object.ts";

/** The Lease as it was last seen. Times are of the local clock that never goes back. */
interface Sight {
  /** Undefined: there was none. */
  readonly record: LeaderRecord | undefined;
  /** From when on it may be taken, unless it is seen to change. */
  readonly free: number;
}

/** A term that is ours. */
interface Tenure {
  readonly term: Term;
  readonly resourceVersion: string;
  /** Until then nobody else leads. */
  readonly until: number;
  /** When something said that the term is over; nothing is done until a renewal that was sent later has succeeded. */
  readonly doubted: number | undefined;
}

/** Where a candidate is. What is done in each state is one call, or a wait; see `Heard`. */
export type Candidacy =
  /** Reads the Lease. */
  | { readonly at: "looking"; readonly sight: Sight | undefined }
  /** Waits. */
  | { readonly at: "standby"; readonly sight: Sight | undefined; readonly until: number }
  /** Writes itself into the Lease. */
  | { readonly at: "claiming"; readonly sight: Sight; readonly term: Term }
  /** Leads, and waits until the next renewal is due. */
  | { readonly at: "leading"; readonly tenure: Tenure; readonly due: number }
  /** Leads, and renews. */
  | { readonly at: "renewing"; readonly tenure: Tenure }
  /** Leads, and reads the Lease, because somebody else has written it. */
  | { readonly at: "checking"; readonly tenure: Tenure }
  /** Leads no more, and gives the Lease back. */
  | { readonly at: "releasing"; readonly tenure: Tenure }
  | { readonly at: "over"; readonly because: string };

/** What comes of it. */
export type Heard =
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
export interface Moment {
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

export const candidacy: Candidacy = { at: "looking", sight: undefined };

/**
 * One step of a candidate for the leadership.
 *
 * Guarantees: two candidates never lead at the same time, whatever is lost or late, however long one is paused and
 *             whatever their clocks show, as long as these go at the same pace (to within leaseDuration / renewDeadline):
 *             a term lasts from the *sending* of its last renewal, and the wait of others from when they have *seen* it.
 *             No two acquisitions have the same term, within 2^31 of them. A single failed call does not end a term.
 * Assumes:    no two living candidates have the same identity, and nobody deletes the Lease of a living leader.
 */
export const step = (state: Candidacy, heard: Heard, moment: Moment, candidate: Candidate): Candidacy => {
  switch (state.at) {
    case "looking":
      return looking(state, heard, moment, candidate);
    case "standby":
      // Also when the Lease should be free by now: it may have changed since, whatever became of a claim.
      return { at: "looking", sight: state.sight };
    case "claiming":
      return claimed(state, heard, moment, candidate);
    case "leading":
      return moment.now >= state.tenure.until ? late(state.tenure) : { at: "renewing", tenure: state.tenure };
    case "renewing":
      return renewed(state, heard, moment, candidate);
    case "checking":
      return checked(state, heard, moment, candidate);
    case "releasing":
      return { at: "over", because: heard.type === "written" ? "released" : "left; the Lease could not be released" };
    case "over":
      return state;
  }
};

type At<Name> = Extract<Candidacy, { readonly at: Name }>;

/** A little less each time, so that those who failed together do not come back together. */
const pause = ({ timing }: Candidate, random: number): number => timing.retryPeriod * (1 - random / 5);

const looking = ({ sight }: At<"looking">, heard: Heard, { now, random }: Moment, candidate: Candidate): Candidacy => {
  const again = now + pause(candidate, random);
  if (heard.type !== "read") return { at: "standby", sight, until: again };
  const record = heard.lease === undefined ? undefined : leaderRecordOf(heard.lease);
  const seen: Sight = { record, free: freeFrom(record, sight, now, candidate) };
  return seen.free <= now
    ? claiming(seen, candidate)
    : { at: "standby", sight: seen, until: Math.min(again, seen.free) };
};

const freeFrom = (
  record: LeaderRecord | undefined,
  before: Sight | undefined,
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
const claiming = (sight: Sight, { identity }: Candidate): Candidacy => {
  const before = sight.record?.transitions ?? 0;
  return { at: "claiming", sight, term: { holder: identity, transitions: before < INT32 ? before + 1 : 1 } };
};

const claimed = ({ sight, term }: At<"claiming">, heard: Heard, moment: Moment, candidate: Candidate): Candidacy => {
  if (heard.type === "written" && isOfTerm(leaderRecordOf(heard.lease), term)) {
    const next = lead(term, heard.lease, undefined, moment, candidate);
    if (moment.now < next.tenure.until) return next;
  }
  if (heard.type !== "failed") return { at: "looking", sight };
  // Should it have been made after all, the next look tells.
  return { at: "standby", sight, until: moment.now + pause(candidate, moment.random) };
};

const lead = (
  term: Term,
  lease: KubeObject,
  doubted: number | undefined,
  { sent, random }: Moment,
  candidate: Candidate,
): At<"leading"> => ({
  at: "leading",
  tenure: {
    term,
    resourceVersion: lease.metadata.resourceVersion ?? "",
    until: sent + candidate.timing.renewDeadline,
    doubted: doubted === undefined || sent >= doubted ? undefined : doubted,
  },
  due: sent + pause(candidate, random),
});

const renewed = ({ tenure }: At<"renewing">, heard: Heard, moment: Moment, candidate: Candidate): Candidacy => {
  const { term, doubted } = tenure;
  if (heard.type === "conflict") return moment.now >= tenure.until ? late(tenure) : { at: "checking", tenure };
  if (heard.type !== "written") return missed(tenure, moment, candidate);
  // A write that changes nothing moves no version: for the others the Lease has not been renewed.
  if (heard.lease.metadata.resourceVersion === tenure.resourceVersion) return missed(tenure, moment, candidate);
  if (!isOfTerm(leaderRecordOf(heard.lease), term)) return deposed(leaderRecordOf(heard.lease));
  const next = lead(term, heard.lease, doubted, moment, candidate);
  return moment.now < next.tenure.until ? next : late(tenure);
};

const missed = (tenure: Tenure, { sent, now, random }: Moment, candidate: Candidate): Candidacy => {
  if (now >= tenure.until) return late(tenure);
  return { at: "leading", tenure, due: Math.max(now, sent + pause(candidate, random)) };
};

/** Our own renewal whose answer was lost, or somebody's label; or another leader. */
const checked = ({ tenure }: At<"checking">, heard: Heard, moment: Moment, candidate: Candidate): Candidacy => {
  if (heard.type !== "read") return missed(tenure, moment, candidate);
  if (heard.lease === undefined) return { at: "over", because: "the Lease was deleted" };
  const record = leaderRecordOf(heard.lease);
  if (!isOfTerm(record, tenure.term)) return deposed(record);
  if (moment.now >= tenure.until) return late(tenure);
  return { at: "renewing", tenure: { ...tenure, resourceVersion: record.resourceVersion } };
};

const late = ({ term }: Tenure): Candidacy => ({
  at: "over",
  because: `term ${term.transitions} could not be renewed in time`,
});

const deposed = ({ holder, transitions }: LeaderRecord): Candidacy => ({
  at: "over",
  because: holder === "" ? "the Lease was taken away" : `${holder} leads now, in term ${transitions}`,
});

/** Something says that the term is over: it must be renewed before anything else is done. */
export const doubt = (state: Candidacy, now: number): Candidacy =>
  "tenure" in state ? { ...state, tenure: { ...state.tenure, doubted: now } } : state;

/** Leads no more, as soon as what is under way allows. Assumes: all work has ended. */
export const leave = (state: Candidacy): Candidacy => {
  if (state.at === "leading") return { at: "releasing", tenure: state.tenure };
  return state.at === "looking" || state.at === "standby" ? { at: "over", because: "left without having led" } : state;
};

/** For how long, in ms, this candidate leads for certain; 0 when it does not. */
export const leads = (state: Candidacy, now: number): number =>
  "tenure" in state && state.at !== "releasing" && state.tenure.doubted === undefined
    ? Math.max(0, state.tenure.until - now)
    : 0;
