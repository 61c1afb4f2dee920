import { describe, expect, it } from "vitest";
import { turns } from "../../../packages/testing/src/controller/run-transaction.ts";
import type { SimulateOptions } from "../../../packages/testing/src/options.ts";
import type { SimulatedObject } from "../../../packages/testing/src/simulation.ts";
import { stage } from "../../../packages/testing/src/stage.ts";

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);
const configMap = (n: number): SimulatedObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: `c${n}`, namespace: "shop" },
  data: { value: "before" },
});
const change = (type: string, n: number): object => ({
  type,
  target: { apiVersion: "v1", kind: "ConfigMap", name: `c${n}` },
  ...(type === "Delete" ? {} : { content: { data: { value: "after" } } }),
});

/**
 * The steps in which something is sent until the phase is one of these: what is sent in one step goes out side by side. The read of
 * the Transaction itself, with which it begins, is one more.
 */
const steps = (
  until: string,
  changes: readonly object[],
  { spec = {}, ...options }: SimulateOptions & { readonly spec?: object } = {},
): number => {
  const there = changes.flatMap((one, n) => ((one as { type: string }).type === "Create" ? [] : [configMap(n)]));
  const txn = {
    apiVersion: "backup.janus.io/v1alpha1",
    kind: "Transaction",
    metadata: { name: "txn", namespace: "shop" },
    spec: { serviceAccountName: "deployer", changes, ...spec },
  };
  const staged = stage(txn, there, options);
  if (staged.type === "refused") throw new Error(staged.problems.join("; "));
  const { start, scenario } = staged.scene;
  let count = 0;
  for (const { step, after } of turns(start, scenario)) {
    if (step.type === "run" && step.effects.some((effect) => "call" in effect)) count += 1;
    if (after.txn.status.phase === until) return count;
  }
  throw new Error(`it is never ${until}`);
};

const patches = (count: number): readonly object[] => range(count).map((n) => change("Patch", n));

describe("requests one after the other until it is Committed", () => {
  it.each([
    [1, 8],
    [2, 10],
    [10, 18],
    [16, 24],
    [17, 26],
    [50, 61],
    // 64 targets are read at a time at most.
    [200, 223],
  ])("of %d Patches: %d", (count, serial) => {
    expect(steps("Committed", patches(count))).toBe(serial);
  });

  it("are one more with a rollbackWindow, which goes by the journal", () => {
    expect(steps("Committed", patches(10), { spec: { rollbackWindow: "1h" } })).toBe(19);
  });

  it("are one more for each Delete, before which it is recorded that the others are in, and the lists of its dependents", () => {
    const mixed = ["Create", "Update", "Patch", "Delete", "Patch", "Delete"].map(change);
    expect(steps("Committed", mixed)).toBe(8 + 6 + 2 + 1);
  });
});

describe("requests one after the other until it is RolledBack", () => {
  it("of ten Patches, the last of which is refused: two for each that was made, beside which the next one is read", () => {
    expect(steps("RolledBack", patches(10), { failAt: 9 })).toBe(18 + 2 * 9 + 7);
  });
});
