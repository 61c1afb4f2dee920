import { expect, it } from "vitest";
import { evaluate } from "../../../../packages/controller/src/core/gates/evaluate.ts";
import { gatesOf } from "../../../../packages/controller/src/core/gates/gates-of.ts";
import { former, underway } from "../underway.ts";

it("never takes a gate for met that it cannot read, which another version of the controller has accepted", () => {
  const target = { apiVersion: "v1", kind: "ConfigMap", name: "a" };
  const gated = { type: "Patch", target, content: { data: {} }, waitFor: ["ready", "cel=self.later()"] } as const;
  const { txn } = underway("Committing", [gated], { direction: "forward", cursor: 1 });
  const states = gatesOf(txn, 0).map((gate) => evaluate(gate, former("ConfigMap", "a")));
  expect(states.map(({ type }) => type)).toEqual(["met", "failed"]);
});
