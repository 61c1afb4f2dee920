import type { Change } from "@janus/api";
import { expect, it } from "vitest";
import { change, later, refused, underway } from "./underway.ts";

it.each([
  ["a", 600_000, "Preparing"],
  ["a", 1_100_000, "Failed"],
  // Three bytes each.
  ["界", 400_000, "Failed"],
])("counts bytes where a Transaction could not keep its own status: %s, %i times", (text, times, phase) => {
  const small = change("Create", "a");
  const large = { ...small, content: { data: { a: text.repeat(times) } } } as typeof small;
  const start = underway("Pending", [large], { direction: "forward", cursor: 0 }, { journal: { type: "missing" } });
  const { at } = later(start, 2, () => refused(404));
  expect(at.txn.status.phase).toBe(phase);
});

it("refuses more expressions than can be read in a moment, without reading them", () => {
  const changes = Array.from({ length: 40 }, (_, at): Change => {
    const waitFor = Array.from({ length: 4 }, (_, gate) => `cel=self${"[0]".repeat(300)} == ${at * 4 + gate}`);
    return { ...change("Patch", `a-${at}`), waitFor };
  });
  const start = underway("Pending", changes, { direction: "forward", cursor: 0 }, { journal: { type: "missing" } });
  const began = performance.now();
  const { at } = later(start, 2, () => refused(404));
  expect(performance.now() - began).toBeLessThan(2_000);
  expect(at.txn.status.phase).toBe("Failed");
  expect(at.txn.status.conditions.find(({ type }) => type === "Ready")?.message).toContain(
    "the cel expressions of the Transaction have 146290 characters, and may have 16384 together: use fewer",
  );
});

it("counts an expression once, however many changes wait for it", () => {
  const gate = `cel=self.${"a".repeat(900)} == 1`;
  const changes = Array.from({ length: 40 }, (_, at): Change => ({ ...change("Patch", `a-${at}`), waitFor: [gate] }));
  const start = underway("Pending", changes, { direction: "forward", cursor: 0 }, { journal: { type: "missing" } });
  expect(later(start, 2, () => refused(404)).at.txn.status.phase).toBe("Preparing");
});
