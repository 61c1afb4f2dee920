import { timingProblem } from "@janus/runtime/parts";
import { expect, it } from "vitest";
import { timing } from "./leader-world.ts";

it("accepts the default durations", () => {
  expect(timingProblem(timing)).toBeUndefined();
});

it.each([
  [{ retryPeriod: 20_000 }, "the retry period (20 s) must be shorter than the renew deadline (20 s)"],
  [{ leaseDuration: 20_000 }, "the renew deadline (20 s) must be shorter than the lease duration (20 s)"],
  [
    { writeTimeout: 10_001 },
    "the renew deadline (20 s) and the write timeout (10.001 s) must together be no longer than the lease duration (30 s)",
  ],
])("refuses durations that cannot keep two leaders apart: %o", (wrong, problem) => {
  expect(timingProblem({ ...timing, ...wrong })).toBe(problem);
});
