import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { progressOf } from "../../../packages/controller/src/core/forward/find-progress.ts";
import type { Trace } from "../../../packages/controller/src/core/state/forward-observations.ts";

const IN: Trace = { type: "in" };
const [GONE, NEVER, NOTHING] = (["gone", "never", "nothing"] as const).map((type): Trace => ({ type })) as [
  Trace,
  Trace,
  Trace,
];
const OPEN: Trace = { type: "open", why: "it has changed" };

describe("where nothing is recorded of what was made", () => {
  it.each<[string, readonly Trace[], number, readonly number[]]>([
    ["nothing was made", [NEVER, NEVER], 0, []],
    ["all that has our mark is in", [IN, IN, NEVER], 2, []],
    ["the last mark proves what is before it", [NOTHING, OPEN, IN, NEVER], 3, []],
    ["what was never made proves that nothing after it was", [IN, NOTHING, NEVER, OPEN], 1, []],
    ["the one after the last mark is in doubt, as after any crash", [IN, OPEN, NEVER, NEVER], 1, []],
    ["a target of a Delete that is gone counts as deleted by us", [IN, GONE, GONE, NOTHING], 3, []],
    ["objects that are not there leave nothing open", [IN, NOTHING, NOTHING, NOTHING], 1, []],
    ["what may be ours further on is open", [IN, NOTHING, OPEN, NEVER], 1, [2]],
    ["so is what is gone further on", [NOTHING, OPEN, GONE], 0, [1, 2]],
  ])("%s", (_, traces, cursor, open) => {
    expect(progressOf(traces)).toEqual({ cursor, open });
  });

  const trace = fc.constantFrom(IN, GONE, NEVER, NOTHING, OPEN);

  it("nothing is said to be not made that has our mark, or that may be ours before what was never made", () => {
    fc.assert(
      fc.property(fc.array(trace, { maxLength: 6 }), (traces) => {
        const { cursor, open } = progressOf(traces);
        const after = traces.slice(cursor + 1);
        expect(traces.slice(cursor)).not.toContain(IN);
        const reach = after.indexOf(NEVER);
        const between = traces[cursor] === NEVER ? [] : after.slice(0, reach === -1 ? undefined : reach);
        const mayBeOurs = between.flatMap((one, at) => (one === OPEN || one === GONE ? [cursor + 1 + at] : []));
        expect(open.filter((index) => index > cursor)).toEqual(mayBeOurs);
      }),
    );
  });
});
