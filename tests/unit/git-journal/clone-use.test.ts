// The cycle of a clone that is next.
import { expect, it } from "vitest";
import { afterCycle, type CloneUse, nextCycle, UNUSED } from "../../../packages/git-journal/src/core/git/clone-use.ts";
import type { Outcome, Plan } from "../../../packages/git-journal/src/core/git/cycle.ts";
import type { ObjectId } from "../../../packages/git-journal/src/core/git/object-id.ts";

const PLAN: Plan<null> = { folders: [], blobsToRead: () => [], read: () => null, commits: () => [] };
const tip = "1" as ObjectId;
const rest = { conflicts: [], rewritten: false, replays: 0 } as const;
const PUSHED: Outcome = { is: "pushed", tip, commits: [tip], next: { tip }, ...rest };
const FAILED: Outcome = {
  is: "failed",
  trouble: { reason: "ConnectionFailed", message: "", lasts: false },
  next: "disk",
  ...rest,
};

const after = (use: CloneUse, outcome: Outcome): CloneUse => afterCycle(use, nextCycle(use, PLAN, false), outcome);

it("recovers until that has succeeded, and only then writes, and makes the clone small at once", () => {
  expect(nextCycle(UNUSED, PLAN, true)).toEqual({ plan: "recover", repack: false, start: "disk" });
  expect(nextCycle(after(UNUSED, FAILED), PLAN, false)).toEqual({ plan: "recover", repack: false, start: "disk" });
  const recovered = after(UNUSED, PUSHED);
  expect(nextCycle(recovered, PLAN, false)).toEqual({ plan: PLAN, repack: true, start: { tip } });
  expect(nextCycle(after(recovered, FAILED), PLAN, false)).toEqual({ plan: PLAN, repack: true, start: "disk" });
  expect(nextCycle(after(recovered, PUSHED), PLAN, false)).toEqual({ plan: PLAN, repack: false, start: { tip } });
});

it("asks for the tip where it has to be fresh, but begins on the disk where that is unclean", () => {
  const recovered = after(UNUSED, PUSHED);
  expect(nextCycle(recovered, PLAN, true)).toMatchObject({ start: "clone" });
  expect(nextCycle(after(recovered, FAILED), PLAN, true)).toMatchObject({ start: "disk" });
});

it("is made small after each 50 pushes", () => {
  let use = after(after(UNUSED, PUSHED), PUSHED);
  const small: number[] = [];
  for (let n = 1; n <= 120; n++) {
    if (nextCycle(use, PLAN, false).repack) small.push(n);
    use = after(use, PUSHED);
  }
  expect(small).toEqual([50, 100]);
});
