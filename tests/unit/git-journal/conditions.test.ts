// Tests the conditions of the journal's kinds, as kstatus reads them.
import { describe, expect, it } from "vitest";
import { conditionsOf, type Readiness } from "../../../packages/git-journal/src/core/conditions.ts";

const because = { reason: "R", message: "m" };
const NOW = { generation: 3, now: "2026-01-01T00:00:00Z" };

const statuses = (readiness: Readiness, conflict?: string): Readonly<Record<string, string>> =>
  Object.fromEntries(conditionsOf(readiness, [], NOW, conflict).map(({ type, status }) => [type, status]));

describe("conditions", () => {
  it.each<readonly [Readiness, Readonly<Record<string, string>>]>([
    [{ type: "ready", ...because }, { Ready: "True" }],
    [
      { type: "progressing", ...because },
      { Ready: "Unknown", Reconciling: "True" },
    ],
    [
      { type: "failed", ...because, lasts: false },
      { Ready: "False", Reconciling: "True" },
    ],
    [
      { type: "failed", ...because, lasts: true },
      { Ready: "False", Stalled: "True" },
    ],
  ])("%j", (readiness, expected) => {
    expect(statuses(readiness)).toEqual(expected);
  });

  it("a conflict that does not keep a destination from writing is one more", () => {
    expect(statuses({ type: "ready", ...because }, "other")).toEqual({ Ready: "True", OwnershipConflict: "True" });
  });

  it("keep the time of their last transition while their status stays", () => {
    const before = conditionsOf({ type: "failed", ...because, lasts: true }, [], NOW);
    const later = { generation: 4, now: "2026-02-02T00:00:00Z" };
    expect(conditionsOf({ type: "failed", reason: "S", message: "n", lasts: true }, before, later)).toEqual([
      { type: "Ready", status: "False", reason: "S", message: "n", lastTransitionTime: NOW.now, observedGeneration: 4 },
      {
        type: "Stalled",
        status: "True",
        reason: "S",
        message: "n",
        lastTransitionTime: NOW.now,
        observedGeneration: 4,
      },
    ]);
    expect(conditionsOf({ type: "ready", ...because }, before, later)[0]?.lastTransitionTime).toBe(later.now);
  });

  it("have messages of bounded length", () => {
    const [ready] = conditionsOf({ type: "ready", reason: "R", message: "é".repeat(9_999) }, [], NOW);
    expect(Buffer.byteLength(ready?.message ?? "")).toBeLessThanOrEqual(2_048);
  });
});
