import type { Api, LeasePlace, Term } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { FenceStatus } from "./fence.ts";
import { type FenceCheck, checkFence } from "./fence-check.ts";

export type FenceState = "up" | "down" | "unknown";

/** In ms. Admission hears of a new Lease a moment after it was made; a fence that is not up may be mended at any time. */
const LOOK = { first: 1_000, again: 5_000, whenUp: 60_000 };

const TOLD: Readonly<Record<FenceCheck, string>> = {
  up: "the fence is up: writes of a stale leader are rejected",
  down: "the fence is down: install the ValidatingAdmissionPolicy janus-fence and its binding (if they exist, restart the API server, which has lost their parameter); until then, a paused leader may still make one write when it resumes",
  stale:
    "the fence is down: the API server compares with an old version of the Lease, as it does after the ValidatingAdmissionPolicy janus-fence was deleted and installed again: restart the API server; until then, writes carry no token, and a paused leader may still make one write when it resumes",
  other:
    "the fence is down: the ValidatingAdmissionPolicy janus-fence is not of this version of Janus: install the one that is; until then, writes carry no token, and a paused leader may still make one write when it resumes",
};

export interface FenceWatch extends FenceStatus {
  /** A write was refused: looks at once. */
  readonly look: () => void;
}

/**
 * Looks from time to time, for as long as we lead, whether the fence is up.
 *
 * @param tell when that has changed, and at first
 */
export const watchFence = (
  api: Api,
  place: LeasePlace,
  term: Term,
  isOver: () => boolean,
  tell: (state: FenceState, message: string) => void,
): FenceWatch => {
  let last: FenceCheck | "unknown" | undefined;
  let next: NodeJS.Timeout | undefined;
  let isLooking = false;
  const plan = (ms: number): void => {
    clearTimeout(next);
    next = setTimeout(() => void look(), ms).unref();
  };
  const look = async (): Promise<void> => {
    if (isLooking || isOver()) return;
    isLooking = true;
    const answer = await checkFence(api, place, term);
    isLooking = false;
    const state = E.isLeft(answer) ? "unknown" : answer.right;
    if (state !== last)
      tell(
        state === "stale" || state === "other" ? "down" : state,
        E.isLeft(answer) ? `cannot check whether the fence is up: ${answer.left}` : TOLD[answer.right],
      );
    last = state;
    plan(state === "up" ? LOOK.whenUp : LOOK.again);
  };
  plan(LOOK.first);
  return {
    isSeen: () => last !== undefined,
    isStale: () => last === "stale" || last === "other",
    look: () => void look(),
  };
};
