// The state machine of leader election: one request or wait in each state.
import { isOfTerm, type LeaderRecord, leaderRecordOf, type Term } from "./leader-lease.ts";
import { type LeaderTiming, retryPause } from "./leader-timing.ts";
import { type KubeObject, MAX_INT32 } from "@janus/types";

/** The Lease as last observed. Times are of the local monotonic clock. */
export interface ObservedLease {
  /** Undefined: there was none. */
  readonly record: LeaderRecord | undefined;
  /** When it may be acquired, unless it is observed to change. */
  readonly free: number;
}

/** Our own term. */
interface HeldTerm {
  readonly term: Term;
  readonly resourceVersion: string;
  /** No other candidate leads before this time. */
  readonly until: number;
  /** When the term was suspended; no request is sent until a renewal that was sent later has succeeded. */
  readonly suspendedAt: number | undefined;
}

/** The state of a candidate. In each state there is one request, or a wait; see {@link ElectionInput}. */
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
  /** No longer leads, and releases the Lease. */
  | { readonly type: "releasing"; readonly heldTerm: HeldTerm }
  | { readonly type: "over"; readonly because: string };

/** The outcome of that request or wait. */
export type ElectionInput =
  /** Undefined: there is no such Lease. */
  | { readonly type: "read"; readonly lease: KubeObject | undefined }
  | { readonly type: "written"; readonly lease: KubeObject }
  /** The Lease was not as the write assumed: nothing was written. */
  | { readonly type: "conflict" }
  /**
   * No response, or one that says nothing about the Lease. A write may have been applied. It is retried after the retry period,
   * whatever Retry-After says: otherwise the term could end, and one request per period is no load.
   */
  | { readonly type: "failed"; readonly reason: string }
  | { readonly type: "waited" };

/** The times of a step, in ms of the local clock. */
export interface StepTime {
  /** When the request was sent. */
  readonly sent: number;
  readonly now: number;
  /** From 0 to 1. */
  readonly random: number;
}

export interface Candidate {
  /** Unique among all running candidates. */
  readonly identity: string;
  readonly timing: LeaderTiming;
}

export const initialState: ElectionState = { type: "looking", observed: undefined };

/**
 * One step of a candidate in the leader election.
 *
 * Guarantees: two candidates never lead at the same time, whatever requests are lost or late, however long one is paused and
 *             whatever their clocks show, as long as these run at the same rate (to within leaseDuration / renewDeadline):
 *             a term counts from the *sending* of its last renewal, the wait of the others from when they *observed* it.
 *             No two of 2^31 successive acquisitions have the same term. A single failed request does not end a term.
 * Assumes:    no two running candidates have the same identity, and no client deletes the Lease of a running leader.
 */
export const step = (
  state: ElectionState,
  input: ElectionInput,
  time: StepTime,
  candidate: Candidate,
): ElectionState => {
  switch (state.type) {
    case "looking":
      return looking(state, input, time, candidate);
    case "standby":
      // Also if the Lease should be free by now: it may have changed since.
      return { type: "looking", observed: state.observed };
    case "claiming":
      return claimed(state, input, time, candidate);
    case "leading":
      return time.now >= state.heldTerm.until
        ? expired(state.heldTerm)
        : { type: "renewing", heldTerm: state.heldTerm };
    case "renewing":
      return renewed(state, input, time, candidate);
    case "checking":
      return checked(state, input, time, candidate);
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

const looking = (
  { observed }: In<"looking">,
  input: ElectionInput,
  { now, random }: StepTime,
  candidate: Candidate,
): ElectionState => {
  const again = now + retryPause(candidate.timing, random);
  if (input.type !== "read") return { type: "standby", observed, until: again };
  const record = input.lease === undefined ? undefined : leaderRecordOf(input.lease);
  const seen: ObservedLease = { record, free: freeFrom(record, observed, now, candidate) };
  return seen.free <= now
    ? claiming(seen, candidate)
    : { type: "standby", observed: seen, until: Math.min(again, seen.free) };
};

/**
 * When a Lease may be acquired by this candidate, unless it is observed to change.
 *
 * @param before as it was last observed
 */
export const freeFrom = (
  record: LeaderRecord | undefined,
  before: ObservedLease | undefined,
  now: number,
  { identity, timing }: Candidate,
): number => {
  if (before !== undefined && before.record?.resourceVersion === record?.resourceVersion) return before.free;
  // A Lease that was deleted since may have a leader that has not noticed it yet.
  if (record === undefined) return before === undefined ? now : now + timing.leaseDuration;
  // Our own identity: an acquisition whose response was lost. No process leads in that term.
  if (record.holder === "" || record.holder === identity) return now;
  // A holder may have a longer duration than ours; a shorter one is the edit of another client, which the holder reverts.
  return now + Math.max(record.duration ?? 0, timing.leaseDuration);
};

/** Always a new term: writes of the one before may still be in flight. */
const claiming = (observed: ObservedLease, { identity }: Candidate): ElectionState => {
  const before = observed.record?.transitions ?? 0;
  return { type: "claiming", observed, term: { holder: identity, transitions: before < MAX_INT32 ? before + 1 : 1 } };
};

const claimed = (
  { observed, term }: In<"claiming">,
  input: ElectionInput,
  time: StepTime,
  candidate: Candidate,
): ElectionState => {
  if (input.type === "written" && isOfTerm(leaderRecordOf(input.lease), term)) {
    const next = lead(term, input.lease, undefined, time, candidate);
    if (time.now < next.heldTerm.until) return next;
  }
  if (input.type !== "failed") return { type: "looking", observed };
  // If it was applied nevertheless, the next read shows it.
  return { type: "standby", observed, until: time.now + retryPause(candidate.timing, time.random) };
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
  due: sent + retryPause(candidate.timing, random),
});

const renewed = (
  { heldTerm }: In<"renewing">,
  input: ElectionInput,
  time: StepTime,
  candidate: Candidate,
): ElectionState => {
  const { term, suspendedAt } = heldTerm;
  if (input.type === "conflict") return time.now >= heldTerm.until ? expired(heldTerm) : { type: "checking", heldTerm };
  if (input.type !== "written") return missed(heldTerm, time, candidate);
  // A write that changes nothing keeps the resourceVersion: for the others the Lease was not renewed.
  if (input.lease.metadata.resourceVersion === heldTerm.resourceVersion) return missed(heldTerm, time, candidate);
  if (!isOfTerm(leaderRecordOf(input.lease), term)) return deposed(leaderRecordOf(input.lease));
  const next = lead(term, input.lease, suspendedAt, time, candidate);
  return time.now < next.heldTerm.until ? next : expired(heldTerm);
};

const missed = (heldTerm: HeldTerm, { sent, now, random }: StepTime, candidate: Candidate): ElectionState => {
  if (now >= heldTerm.until) return expired(heldTerm);
  return { type: "leading", heldTerm, due: Math.max(now, sent + retryPause(candidate.timing, random)) };
};

/** After a conflict: our own renewal whose response was lost, an edit such as a label, or another leader. */
const checked = (
  { heldTerm }: In<"checking">,
  input: ElectionInput,
  time: StepTime,
  candidate: Candidate,
): ElectionState => {
  if (input.type !== "read") return missed(heldTerm, time, candidate);
  if (input.lease === undefined) return { type: "over", because: "the Lease was deleted" };
  const record = leaderRecordOf(input.lease);
  if (!isOfTerm(record, heldTerm.term)) return deposed(record);
  if (time.now >= heldTerm.until) return expired(heldTerm);
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

/** The term may be over: it must be renewed before any other request is sent. */
export const suspendTerm = (state: ElectionState, now: number): ElectionState =>
  "heldTerm" in state ? { ...state, heldTerm: { ...state.heldTerm, suspendedAt: now } } : state;

/** Gives up leadership, as soon as its request in flight allows. Assumes: no other request is in flight. */
export const leave = (state: ElectionState): ElectionState => {
  if (state.type === "leading") return { type: "releasing", heldTerm: state.heldTerm };
  return state.type === "looking" || state.type === "standby"
    ? { type: "over", because: "stopped before it became the leader" }
    : state;
};

/** How long, in ms, this candidate certainly leads; 0 if it does not. */
export const remainingTerm = (state: ElectionState, now: number): number =>
  "heldTerm" in state && state.type !== "releasing" && state.heldTerm.suspendedAt === undefined
    ? Math.max(0, state.heldTerm.until - now)
    : 0;
