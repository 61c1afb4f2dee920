// Tests that what is awaited does not come out of its order, and that nothing waits without a reason.
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { inOrder } from "../../../packages/git-journal/src/shell/in-order.ts";

it("nothing waits where nothing before it does", () => {
  const order = inOrder();
  const done: number[] = [];
  for (const n of [1, 2, 3]) order(n, (one) => void done.push(one));
  expect(done).toEqual([1, 2, 3]);
});

it("keeps the order, whatever is awaited, and in whatever order that comes", async () => {
  const item = fc.record({ isAwaited: fc.boolean(), at: fc.nat(5) });
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 12 }), async (items) => {
      const order = inOrder();
      const done: number[] = [];
      const awaited = items.map(({ isAwaited, at }) => (isAwaited ? { at, ...Promise.withResolvers<void>() } : { at }));
      for (const [n, one] of awaited.entries())
        order("promise" in one ? one.promise.then(() => n) : n, (value) => void done.push(value));
      for (const one of awaited.toSorted((a, b) => a.at - b.at)) if ("resolve" in one) one.resolve();
      await expect.poll(() => done, { interval: 1 }).toEqual(items.map((_, n) => n));
    }),
  );
});
