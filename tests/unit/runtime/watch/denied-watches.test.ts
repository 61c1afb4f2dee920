import { expect, it } from "vitest";
import { deniedWatches } from "../../../../packages/runtime/src/watch/denied-watches.ts";

it("remembers a denied watch for five minutes, also if it is denied again, and then nothing of it", () => {
  let now = 0;
  const denied = deniedWatches(() => now);
  denied.add("a");
  denied.add("b");
  now = 299_000;
  denied.add("a");
  expect([denied.has("a"), denied.has("b"), denied.has("c")]).toEqual([true, true, false]);
  now = 300_000;
  expect([denied.has("a"), denied.has("b")]).toEqual([true, false]);
  expect(denied.size()).toBe(1);
  now = 600_000;
  // Whichever is asked for.
  expect(denied.has("c")).toBe(false);
  expect(denied.size()).toBe(0);
});

it("remembers the latest thousand, however many are denied", () => {
  const denied = deniedWatches(() => 0);
  for (let n = 0; n < 5000; n += 1) denied.add(`watch-${n}`);
  expect(denied.size()).toBe(1000);
  expect([denied.has("watch-3999"), denied.has("watch-4000"), denied.has("watch-4999")]).toEqual([false, true, true]);
});
