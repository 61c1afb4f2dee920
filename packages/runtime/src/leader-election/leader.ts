// Runs a candidate in the leader election.
import { type Api, type Clock, systemClock } from "@janus/kube";
import { callOf, inputOf } from "./leader-requests.ts";
import type { LeasePlace, Term } from "./leader-lease.ts";
import {
  type ElectionState,
  type ObservedLease,
  type Candidate,
  suspendTerm,
  type ElectionInput,
  remainingTerm,
  leave,
  step,
} from "./election-state.ts";

export interface LeaderOptions extends Candidate {
  readonly place: LeasePlace;
  /** The Lease as this process has observed it before, such as by a watch. */
  readonly observed?: ObservedLease | undefined;
  /** Every step, for logs and metrics. Must not throw. */
  readonly observe?: (state: ElectionState, input: ElectionInput) => void;
  readonly clock?: Clock;
  /** ms since the epoch, for the times in the Lease, on which no decision is made. Default: Date.now. */
  readonly wall?: () => number;
  /** From 0 to 1. Default: Math.random. */
  readonly random?: () => number;
}

export interface Leader {
  readonly state: () => ElectionState;
  /** How long, in ms, this process certainly leads; 0 if it does not. Call it right before every request. */
  readonly left: () => number;
  /** The term, once it has begun; undefined if the candidacy ended before. */
  readonly elected: Promise<Term | undefined>;
  /** Why it has ended. To lead again requires a new candidate, as in a new process. */
  readonly over: Promise<string>;
  /** The term may be over: {@link Leader.left} is 0 until the Lease has been renewed again. */
  readonly suspend: () => void;
  /** Releases the Lease, so that another candidate leads within a retry period. Assumes: no other request is in flight. */
  readonly leave: () => Promise<string>;
}

/**
 * A candidate in the leader election by a coordination.k8s.io Lease, compatible with client-go's.
 *
 * Guarantees: as {@link step}; a request that hangs counts as failed after the write timeout, and never delays the end of a
 *             term.
 */
export const leader = (api: Api, options: LeaderOptions): Leader => {
  const { place, timing, observe = () => {} } = options;
  const { clock = systemClock, wall = Date.now, random = Math.random } = options;
  const elected = Promise.withResolvers<Term | undefined>();
  let state: ElectionState = { type: "looking", observed: options.observed };
  let leaving = false;
  let wake: (() => void) | undefined;

  const wait = (until: number): Promise<ElectionInput> =>
    new Promise((resolve) => {
      const end = (): void => {
        cancel();
        resolve({ type: "waited" });
      };
      const cancel = clock.after(Math.max(0, until - clock.now()), end);
      wake = end;
    });

  const ask = async (): Promise<ElectionInput> => {
    const request = callOf(state, place, options, wall());
    if (request === undefined) return { type: "waited" };
    const most =
      "heldTerm" in state ? Math.min(timing.writeTimeout, state.heldTerm.until - clock.now()) : timing.writeTimeout;
    const deadline = Math.max(1, most);
    const late = Promise.withResolvers<ElectionInput>();
    const cancel = clock.after(deadline, () => late.resolve({ type: "failed", reason: "no answer in time" }));
    const answer = api.send({ ...request, deadline, ...(request.verb === "get" ? {} : { timeout: deadline }) });
    return Promise.race([answer.then((it) => inputOf(request, it)), late.promise]).finally(cancel);
  };

  const next = (): Promise<ElectionInput> => {
    if (state.type === "standby") return wait(state.until);
    if (state.type !== "leading") return ask();
    const { due, heldTerm } = state;
    return heldTerm.suspendedAt === undefined ? wait(Math.min(due, heldTerm.until)) : wait(clock.now());
  };

  const run = async (): Promise<string> => {
    for (;;) {
      if (leaving) state = leave(state);
      if (state.type === "over") return state.because;
      const sent = clock.now();
      const input = await next();
      if (leaving && input.type === "waited") continue;
      state = step(state, input, { sent, now: clock.now(), random: random() }, options);
      observe(state, input);
      if (state.type === "leading") elected.resolve(state.heldTerm.term);
    }
  };

  const over = run().finally(() => elected.resolve(undefined));
  return {
    state: () => state,
    left: () => remainingTerm(state, clock.now()),
    elected: elected.promise,
    over,
    suspend: () => {
      state = suspendTerm(state, clock.now());
      if (state.type === "leading") wake?.();
    },
    leave: () => {
      leaving = true;
      wake?.();
      return over;
    },
  };
};
