// Takes part in the leader election, and reports it in logs, metrics and events.
import type { Api } from "@janus/kube";
import type { ElectionState } from "../leader-election/election-state.ts";
import { leader } from "../leader-election/leader.ts";
import type { LeaderTiming } from "../leader-election/leader-timing.ts";
import type { LeasePlace, Term } from "../leader-election/leader-lease.ts";
import { whileLeading } from "../leader-election/leader-api.ts";
import type { ControllerNames } from "../process/controller-names.ts";
import type { Log } from "../process/log.ts";
import { type Watchdog, watchdog as newWatchdog } from "../process/watchdog.ts";
import type { Registry } from "prom-client";
import { fenced, type FenceNames } from "./fence.ts";
import { type FenceState, watchFence } from "./fence-watch.ts";
import { leaderEvents } from "./leader-events.ts";
import { leaderMetrics } from "./leader-metrics.ts";

export interface LeadershipOptions {
  readonly names: ControllerNames;
  /** Absent: nothing but the Lease keeps two leaders apart. */
  readonly fence?: FenceNames;
  readonly identity: string;
  readonly place: LeasePlace;
  readonly timing: LeaderTiming;
  /** The deadline of requests without one, in ms. */
  readonly deadline: number;
  readonly log: Log;
  /** Monitors the loop of the election. Default: none. */
  readonly watchdog?: Watchdog;
}

/** The response of `/status`. */
export interface LeaderStatus {
  readonly leader: boolean;
  readonly lease_name: string;
  readonly lease_namespace: string;
  readonly identity: string;
  /** The leader as last observed; empty when there is none. */
  readonly leader_identity: string;
  readonly term: number;
  readonly fence: FenceState | "none";
}

export interface Leadership {
  /** Restricts an API server to our term, once that has begun. Undefined: we have released or lost the Lease before. */
  readonly elected: Promise<((api: Api) => Api) | undefined>;
  /** Why this process lost leadership. It does not lead again. */
  readonly over: Promise<string>;
  /** Releases the Lease. Assumes: no request is in flight. */
  readonly leave: () => Promise<string>;
  /** Whether the Lease was read or created: a standby that cannot read it could not take over. */
  readonly hasLooked: () => boolean;
  readonly status: () => LeaderStatus;
  readonly registry: Registry;
}

/** The current term, as last observed. */
const termSeen = (state: ElectionState): Term | undefined =>
  "heldTerm" in state ? state.heldTerm.term : "observed" in state ? state.observed?.record : undefined;

/** How long to wait in this state, in ms. */
const pauseIn = (state: ElectionState, now: number): number => {
  if (state.type === "standby") return Math.max(0, state.until - now);
  return state.type === "leading" ? Math.max(0, Math.min(state.due, state.heldTerm.until) - now) : 0;
};

/**
 * Takes part in the leader election, and reports it in logs, metrics and events.
 *
 * @param api over connections of its own: hanging requests of what is reconciled must not end the term
 */
export const leadership = (api: Api, options: LeadershipOptions): Leadership => {
  const { names, place, timing, identity, deadline, log, watchdog = newWatchdog() } = options;
  let seen: Term = { holder: "", transitions: 0 };
  let hasLooked = false;
  let fence: FenceState = "unknown";
  const loop = watchdog.loop("leader election");
  loop.heartbeat();
  const recordEvent = leaderEvents(api, names, place, identity, log);

  const candidate = leader(api, {
    place,
    timing,
    identity,
    observe: (state, input) => {
      if (state.type === "over") loop.rest();
      else loop.heartbeat(pauseIn(state, performance.now()));
      if (input.type === "failed")
        log("warn", "the leader's Lease could not be read or written; trying again", { error: input.reason });
      if (input.type === "read") hasLooked = true;
      const term = termSeen(state);
      if (
        term === undefined ||
        state.type === "claiming" ||
        (term.holder === seen.holder && term.transitions === seen.transitions)
      )
        return;
      seen = term;
      if (term.holder !== "") measured.changed();
      log("info", term.holder === "" ? "no leader" : `${term.holder} is the leader`, { term: term.transitions });
    },
  });
  const isLeader = (): boolean => candidate.left() > 0;
  const isOver = (): boolean => !("heldTerm" in candidate.state());
  const measured = leaderMetrics(names, isLeader, options.fence !== undefined);

  const onFenceChange = (state: FenceState, message: string): void => {
    fence = state;
    measured.fence(state);
    log(state === "up" ? "info" : "warn", message);
    if (state !== "unknown") void recordEvent(state === "up" ? "FenceUp" : "FenceDown", message);
  };

  const elected = candidate.elected.then((term) => {
    if (term === undefined) return undefined;
    void recordEvent("LeaderElected", `${identity} became leader, term ${term.transitions}`);
    const { fence: fenceNames } = options;
    if (fenceNames === undefined) return (api: Api) => whileLeading(api, candidate, deadline);
    const policy = watchFence(api, fenceNames, names.product, place, term, isOver, onFenceChange);
    const onRefused = (): void => {
      log("warn", "a write was rejected by the fence, reading the Lease again", { term: term.transitions });
      candidate.suspend();
      policy.checkNow();
    };
    return (api: Api) => fenced(whileLeading(api, candidate, deadline), fenceNames, term, policy, onRefused);
  });

  return {
    elected,
    over: candidate.over,
    leave: candidate.leave,
    hasLooked: () => hasLooked,
    status: () => ({
      leader: isLeader(),
      lease_name: place.name,
      lease_namespace: place.namespace,
      identity,
      leader_identity: seen.holder,
      term: seen.transitions,
      fence: options.fence === undefined ? "none" : fence,
    }),
    registry: measured.registry,
  };
};
