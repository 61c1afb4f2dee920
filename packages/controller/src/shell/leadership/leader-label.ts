import { type Api, type Clock, delayAfter, systemClock } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { messageOf, pods } from "../../core/index.ts";
import type { Log } from "../process/log.ts";

/** On the Pod of the leader, for the Service to select. */
export const LEADER_LABEL = "backup.janus.io/leader";

export interface LeaderMark {
  readonly set: (leads: boolean) => void;
  /** Whether the API server has answered at least once: a former life may have left its mark. */
  readonly isTried: () => boolean;
  /** Takes the mark off, with a single attempt, and writes it no more. */
  readonly end: () => Promise<void>;
}

export interface PodRef {
  readonly namespace: string;
  readonly name: string;
}

const BACKOFF = { first: 1_000, cap: 60_000 };
/** Between two writes of the leader's mark: who may only patch Pods cannot look. The API server stores none that changes nothing. */
const AGAIN = 60_000;

/**
 * Marks the own Pod as that of the leader; at first, and whenever it does not lead, the mark comes off.
 *
 * Only ever the own one. What a leader that is cut off, killed or stopped leaves behind is on a Pod that is not ready, so no
 * Service sends anybody there, and its next start begins with taking it off.
 *
 * Guarantees: a mark that cannot be written is tried again, and holds up nothing; one that somebody takes off the leader is
 *             put on again within about a minute.
 */
export const leaderMark = (api: Api, { namespace, name }: PodRef, log: Log, clock: Clock = systemClock): LeaderMark => {
  let wanted = false;
  /** Undefined: not known. */
  let marked: boolean | undefined;
  let failures = 0;
  let isTried = false;
  let isWriting = false;
  let isOver = false;
  let cancel: (() => void) | undefined;

  const write = async (leads: boolean): Promise<void> => {
    const answer = await api.send({
      verb: "mergePatch",
      purpose: "leader-mark",
      resource: pods,
      namespace,
      name,
      body: { metadata: { labels: { [LEADER_LABEL]: leads ? "true" : null } } },
    });
    if (E.isRight(answer)) {
      marked = leads;
      failures = 0;
      isTried = true;
      return;
    }
    if (answer.left.type === "refused") isTried = true;
    else marked = undefined;
    failures += 1;
    log("warn", `the leader label could not be ${leads ? "added to" : "removed from"} this Pod; trying again`, {
      pod: `${namespace}/${name}`,
      error: messageOf(answer.left),
    });
  };

  const next = async (): Promise<void> => {
    if (isOver || isWriting || marked === wanted) return;
    cancel?.();
    isWriting = true;
    await write(wanted);
    isWriting = false;
    if (failures > 0) later(delayAfter(failures, BACKOFF, Math.random()));
    else if (marked !== wanted) void next();
    else if (marked) later(AGAIN);
  };

  const later = (ms: number): void => {
    if (isOver) return;
    cancel = clock.after(ms, () => {
      marked = undefined;
      void next();
    });
  };

  void next();
  return {
    set: (leads) => {
      wanted = leads;
      void next();
    },
    isTried: () => isTried,
    end: async () => {
      isOver = true;
      cancel?.();
      if (marked !== false) await write(false);
    },
  };
};
