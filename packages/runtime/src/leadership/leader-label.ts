// Sets the leader label on the own Pod while it leads, and removes it otherwise.
import { type Api, type Clock, delayAfter, systemClock } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { messageOf, pods } from "@janus/types";
import type { Log } from "../process/log.ts";

export interface LeaderMark {
  readonly set: (leads: boolean) => void;
  /** Whether the API server has answered at least once: a former process may have left the label. */
  readonly isTried: () => boolean;
  /** Removes the label, with a single attempt, and never sets it again. */
  readonly end: () => Promise<void>;
}

export interface PodRef {
  readonly namespace: string;
  readonly name: string;
}

const BACKOFF = { first: 1_000, cap: 60_000 };
/**
 * The time between two writes of the label, in ms: without permission to read Pods it is simply written again. The API server
 * does not store a write that changes nothing.
 */
const AGAIN = 60_000;

/**
 * Labels the own Pod as that of the leader; at first, and whenever it is not the leader, the label is removed.
 *
 * It writes no other Pod. A leader that is cut off, killed or stopped may leave the label on a Pod that is not ready, to which
 * no Service sends requests; its next start removes the label first.
 *
 * Guarantees: a write that fails is retried, and delays nothing else; if another client removes the label of the leader, it is
 *             set again within about a minute.
 *
 * @param label which the Service selects
 */
export const leaderMark = (
  api: Api,
  { namespace, name }: PodRef,
  label: string,
  log: Log,
  clock: Clock = systemClock,
): LeaderMark => {
  let wanted = false;
  /** Undefined: unknown. */
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
      body: { metadata: { labels: { [label]: leads ? "true" : null } } },
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
