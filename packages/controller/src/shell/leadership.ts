import {
  type Api,
  type Candidacy,
  leader,
  type LeaderTiming,
  type LeasePlace,
  type Term,
  whileLeading,
} from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { Registry } from "prom-client";
import { isFenceUp } from "./fence-check.ts";
import { fenced } from "./fence.ts";
import { leaderMetrics } from "./leader-metrics.ts";
import type { Log } from "./log.ts";

export interface LeadershipOptions {
  readonly identity: string;
  readonly place: LeasePlace;
  readonly timing: LeaderTiming;
  /** Of requests that bring none, in ms. */
  readonly deadline: number;
  readonly log: Log;
}

/** Of `/status`. */
export interface LeaderStatus {
  readonly leader: boolean;
  readonly lease_name: string;
  readonly lease_namespace: string;
  readonly identity: string;
  /** As last seen; empty when nobody leads. */
  readonly leader_identity: string;
  readonly term: number;
  readonly fence: "up" | "down" | "unknown";
}

export interface Leadership {
  /** The API server for the work of our term, as soon as it has begun. Undefined: we have left, or lost, before that. */
  readonly elected: Promise<Api | undefined>;
  /** Why we lead no more, and never will again. */
  readonly over: Promise<string>;
  /** Lets another one lead. Assumes: all work has ended. */
  readonly leave: () => Promise<string>;
  /** Whether the Lease has been seen, or made: a standby that cannot see it is not fit to take over. */
  readonly hasLooked: () => boolean;
  readonly status: () => LeaderStatus;
  readonly registry: Registry;
}

/** How soon a fence that is not up is looked at again, and how often one that is, in ms. */
const LOOK_AGAIN = { down: 5_000, up: 60_000 };

/** Whose term it is, as last seen. */
const termSeen = (state: Candidacy): Term | undefined =>
  "tenure" in state ? state.tenure.term : "sight" in state ? state.sight?.record : undefined;

/** Takes part in the election of a leader, and tells of it in logs and metrics. */
export const leadership = (api: Api, options: LeadershipOptions): Leadership => {
  const { place, timing, identity, deadline, log } = options;
  let seen: Term = { holder: "", transitions: 0 };
  let hasLooked = false;
  let fence: LeaderStatus["fence"] = "unknown";

  const candidate = leader(api, {
    place,
    timing,
    identity,
    observe: (state, heard) => {
      if (heard.type === "failed")
        log("warn", "the leader's Lease could not be read or written; trying again", { error: heard.reason });
      if (heard.type === "read") hasLooked = true;
      const term = termSeen(state);
      if (
        term === undefined ||
        state.at === "claiming" ||
        (term.holder === seen.holder && term.transitions === seen.transitions)
      )
        return;
      seen = term;
      if (term.holder !== "") measured.changed();
      log("info", term.holder === "" ? "nobody leads" : `${term.holder} leads`, { term: term.transitions });
    },
  });
  const isLeader = (): boolean => candidate.left() > 0;
  const measured = leaderMetrics(isLeader);

  const checkFence = async (): Promise<void> => {
    const { at } = candidate.state();
    if (at === "over" || at === "releasing") return;
    const answer = await isFenceUp(api, place.namespace);
    const now = E.isLeft(answer) ? "unknown" : answer.right ? "up" : "down";
    if (now !== fence && E.isLeft(answer))
      log("warn", "it cannot be told whether the fence is up", { error: answer.left });
    if (now !== fence && now === "down")
      log(
        "warn",
        "the fence is down: install the ValidatingAdmissionPolicy janus-fence and its binding, or restart the API server if they are there; until then a leader that was paused may still send one write when it wakes",
      );
    if (now !== fence && now === "up") log("info", "the fence is up: writes of a term that is over are refused");
    fence = now;
    measured.fence(E.isLeft(answer) ? undefined : answer.right);
    setTimeout(() => void checkFence(), now === "up" ? LOOK_AGAIN.up : LOOK_AGAIN.down).unref();
  };

  const elected = candidate.elected.then((term) => {
    if (term === undefined) return undefined;
    void checkFence();
    return fenced(whileLeading(api, candidate, deadline), term, () => {
      log("warn", "a write was refused by the fence; reading the Lease again", { term: term.transitions });
      candidate.doubt();
    });
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
      fence,
    }),
    registry: measured.registry,
  };
};
