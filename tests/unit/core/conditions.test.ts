import { describe, expect, it } from "vitest";
import { conditions } from "../../../packages/controller/src/core/state/conditions.ts";
import { toTimestamp } from "../../../packages/types/src/time.ts";
import { NOW } from "./arbitrary-situation.ts";
import { change, underway } from "./underway.ts";

const unhealthy = (message: string) => ({ healthy: { isHealthy: false, message } });
const reversible = (message: string) => ({
  reversible: { isReversible: false, reason: "Deleted", message } as const,
});

describe("the time of a condition is that of the last change of its status", () => {
  const { txn } = underway("RollingBack", [change("Patch", "web")], {
    direction: "back",
    cursor: 0,
    reached: 1,
    since: NOW,
  });
  const because = { reason: "RolledBack", message: "rolled back" };
  const before = conditions(txn, "RolledBack", because, NOW, {
    ...unhealthy("web is not ready"),
    ...reversible("deleted"),
  });
  const again = (said: Parameters<typeof conditions>[4]) =>
    conditions(
      { ...txn, status: { ...txn.status, phase: "RolledBack", conditions: before } },
      "RolledBack",
      because,
      NOW + 5000,
      said,
    );
  const timeOf = (type: string, all: typeof before) => all.find((one) => one.type === type)?.lastTransitionTime;

  it.each([
    ["Ready", {}],
    ["Healthy", unhealthy("api is not ready")],
    ["Reversible", reversible("deleted again")],
  ])("%s stays False", (type, said) => {
    expect(timeOf(type, again(said))).toBe(toTimestamp(NOW));
  });

  it("Healthy becomes True", () => {
    expect(timeOf("Healthy", again({ healthy: { isHealthy: true, message: "" } }))).toBe(toTimestamp(NOW + 5000));
  });
});
