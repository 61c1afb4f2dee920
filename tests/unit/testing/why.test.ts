import assert from "node:assert/strict";
import { simulate, type SimulateOptions } from "@janus/testing";
import { expect, it } from "vitest";
import { CHANGES, LIVE, OTHER, transactionOf, WEB } from "./shop.ts";

const ended = (options: SimulateOptions = {}) =>
  simulate(transactionOf(CHANGES, { waitFor: ["ready"] }), [...LIVE, OTHER], options);

/** What a failing assertion prints. */
const messageOf = (assertion: () => void): string => {
  try {
    assertion();
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
  throw new Error("it did not fail");
};

it("shows in a failing test the reason, and the error of each change", () => {
  const { phase, why } = ended({ failAt: 2 });
  for (const message of [
    messageOf(() => expect(phase, why).toBe("Committed")),
    messageOf(() => assert.equal(phase, "Committed", why)),
  ]) {
    expect(message).toContain(
      "RolledBack: CommitFailed: every target is as it was before; rolled back because: the API",
    );
    expect(message).toMatch(/\n {2}changes\[2\] \w+ \S+: NotApplied: the API server refused to .* by the simulation/u);
  }
});

it("names a gate that was not met, and a permission that is missing", () => {
  expect(ended({ notReady: [WEB] }).why).toMatch(/^RolledBack: Timeout: [^]*: waitFor was not met: ready: Deployment/u);
  expect(ended({ denied: [{ verbs: ["patch"] }] }).why).toMatch(
    /^Failed: PreflightFailed: no changes were applied: changes\[0\]: .* grant it the verb patch on deployments in .*$/u,
  );
});

it("says what the API server would refuse", () => {
  const { why } = simulate({ ...transactionOf(CHANGES), spec: { changes: [] } });
  expect(why).toBe("Pending: spec.serviceAccountName: is missing; spec.changes: must have at least 1 items");
});

it("says that all is applied", () => {
  expect(ended().why).toMatch(/^Committed: all \d changes are applied$/u);
});
