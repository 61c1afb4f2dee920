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
