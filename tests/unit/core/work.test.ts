import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { examinations, phases, restorations, shown } from "./large.ts";

/** Twice as much is twice the work, and a little more where something is sorted; four times would be quadratic. */
const MOST = 2.5;

let counts: ReadonlyMap<string, readonly [one: number, two: number]>;
beforeAll(async () => {
  const program = new URL("count-work.ts", import.meta.url).pathname;
  const flags = ["--no-opt", "--no-maglev", "--no-sparkplug", "--conditions=source"];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program]);
  counts = new Map(JSON.parse(stdout) as readonly [string, readonly [number, number]][]);
});

describe("a decision, for which every other Transaction waits", () => {
  it.each(Object.keys({ ...phases, ...restorations, ...examinations }))(
    "is no more than twice the work for twice as much: %s",
    (name) => {
      const [one = 0, two = 0] = counts.get(name) ?? [];
      expect(one).toBeGreaterThan(0);
      expect(two / one).toBeLessThan(MOST);
    },
  );

  it.each(Object.entries(phases).filter(([name]) => name !== "Preparing, asking for rights"))(
    "is the one that is meant, and not a question for permissions: %s",
    (_, build) => expect(shown(build(4, 8))).not.toMatch(/^review/),
  );
});
