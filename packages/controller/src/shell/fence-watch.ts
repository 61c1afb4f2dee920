import type { Api } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { isFenceUp } from "./fence-check.ts";

export type FenceState = "up" | "down" | "unknown";

/** In ms. Admission hears of a new Lease a moment after it was made; a fence that is not up may be mended at any time. */
const LOOK = { first: 1_000, again: 5_000, whenUp: 60_000 };

const ADVICE =
  "the fence is down: install the ValidatingAdmissionPolicy janus-fence and its binding (if they are there, restart the API server, which has lost sight of their parameter); until then a leader that was paused may still send one write when it wakes";

/**
 * Looks from time to time, for as long as we lead, whether the fence is up.
 *
 * @param tell when that has changed, and at first
 */
export const watchFence = (
  api: Api,
  namespace: string,
  isOver: () => boolean,
  tell: (state: FenceState, message: string) => void,
): void => {
  let last: FenceState | undefined;
  const plan = (ms: number): void => void setTimeout(() => void look(), ms).unref();
  const look = async (): Promise<void> => {
    if (isOver()) return;
    const answer = await isFenceUp(api, namespace);
    const state = E.isLeft(answer) ? "unknown" : answer.right ? "up" : "down";
    if (state !== last)
      tell(
        state,
        E.isLeft(answer)
          ? `it cannot be told whether the fence is up: ${answer.left}`
          : answer.right
            ? "the fence is up: writes of a term that is over are refused"
            : ADVICE,
      );
    last = state;
    plan(state === "up" ? LOOK.whenUp : LOOK.again);
  };
  plan(LOOK.first);
};
