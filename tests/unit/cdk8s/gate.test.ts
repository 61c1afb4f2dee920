import type { Gate, TransactionOptions } from "@janus/cdk8s";
import { expect, expectTypeOf, it } from "vitest";

it("takes every gate that the API server takes", () => {
  const condition = process.argv.length > 0 ? "Available" : "Ready";
  const gates: readonly Gate[] = [
    "ready",
    "create",
    "delete",
    "condition=Available",
    `condition=${condition}=False`,
    "jsonpath={.status.phase}",
    "jsonpath={.status.phase}=Running",
    "jsonpath=.status.phase=Running",
    "cel=self.status.replicas > 2",
  ];
  expect(gates).toHaveLength(9);
});

it("does not compile with a misspelt gate", () => {
  type Options = Pick<TransactionOptions, "waitFor" | "rollbackWaitFor">;
  for (const field of ["waitFor", "rollbackWaitFor"] as const) {
    expectTypeOf<"ready">().toExtend<NonNullable<Options[typeof field]>[number]>();
    expectTypeOf<"Ready">().not.toExtend<NonNullable<Options[typeof field]>[number]>();
  }
  expectTypeOf<"readdy">().not.toExtend<Gate>();
  expectTypeOf<"deleted">().not.toExtend<Gate>();
  expectTypeOf<"conditions=Available">().not.toExtend<Gate>();
  expectTypeOf<"condition:Available">().not.toExtend<Gate>();
  expectTypeOf<"Available">().not.toExtend<Gate>();
  expectTypeOf<"jsonpath={.status.phase=Running">().not.toExtend<Gate>();
  expectTypeOf<"json={.status.phase}">().not.toExtend<Gate>();
  expectTypeOf<string>().not.toExtend<Gate>();
});
