// Checks the fence periodically while this process leads, and reports changes.
import type { Api } from "@janus/kube";
import type { LeasePlace, Term } from "../leader-election/leader-lease.ts";
import * as E from "fp-ts/lib/Either.js";
import type { FenceNames, FenceStatus } from "./fence.ts";
import { type FenceCheck, checkFence } from "./fence-check.ts";

export type FenceState = "up" | "down" | "unknown";

/** In ms. Admission observes a new Lease a moment after its creation; a fence that is down may be repaired at any time. */
const CHECK = { first: 1_000, again: 5_000, whenUp: 60_000 };

const messagesOf = (policy: string, product: string): Readonly<Record<FenceCheck, string>> => ({
  up: "the fence is up: writes of a stale leader are rejected",
  down: `the fence is down: install the ValidatingAdmissionPolicy ${policy} and its binding (if they exist, restart the API server, which has lost their parameter); until then, a paused leader may still make one write when it resumes`,
  stale: `the fence is down: the API server compares with an old version of the Lease, as it does after the ValidatingAdmissionPolicy ${policy} was deleted and installed again: restart the API server; until then, writes carry no token, and a paused leader may still make one write when it resumes`,
  other: `the fence is down: the ValidatingAdmissionPolicy ${policy} is not of this version of ${product}: install the one that is; until then, writes carry no token, and a paused leader may still make one write when it resumes`,
});

export interface FenceWatch extends FenceStatus {
  /** A write was rejected: checks at once. */
  readonly checkNow: () => void;
}

/**
 * Checks periodically, for as long as we lead, whether the fence is up.
 *
 * @param product what is installed along with the fence, for messages
 * @param onChange called at first, and whenever the state has changed
 */
export const watchFence = (
  api: Api,
  names: FenceNames,
  product: string,
  place: LeasePlace,
  term: Term,
  isOver: () => boolean,
  onChange: (state: FenceState, message: string) => void,
): FenceWatch => {
  const messages = messagesOf(names.policy, product);
  let last: FenceCheck | "unknown" | undefined;
  let next: NodeJS.Timeout | undefined;
  let isChecking = false;
  const plan = (ms: number): void => {
    clearTimeout(next);
    next = setTimeout(() => void check(), ms).unref();
  };
  const check = async (): Promise<void> => {
    if (isChecking || isOver()) return;
    isChecking = true;
    const answer = await checkFence(api, names, place, term);
    isChecking = false;
    const state = E.isLeft(answer) ? "unknown" : answer.right;
    if (state !== last)
      onChange(
        state === "stale" || state === "other" ? "down" : state,
        E.isLeft(answer) ? `cannot check whether the fence is up: ${answer.left}` : messages[answer.right],
      );
    last = state;
    plan(state === "up" ? CHECK.whenUp : CHECK.again);
  };
  plan(CHECK.first);
  return {
    isSeen: () => last !== undefined,
    isStale: () => last === "stale" || last === "other",
    checkNow: () => void check(),
  };
};
