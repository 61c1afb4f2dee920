import { Transaction } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { parseGate } from "../../../../packages/controller/src/core/gates/gate.ts";

const WORDS = [
  "ready",
  "create",
  "delete",
  "condition=Ready",
  "jsonpath={.a}",
  "cel=true",
  "Ready",
  "quiet",
  "condition",
  "",
];

const isAccepted = (gate: string): boolean =>
  E.isRight(
    Transaction.decode({
      metadata: { name: "a", namespace: "b", uid: "1", resourceVersion: "1", generation: 1 },
      spec: {
        serviceAccountName: "c",
        changes: [{ type: "Delete", target: { apiVersion: "v1", kind: "ConfigMap", name: "d" }, waitFor: [gate] }],
      },
    }),
  );

it.each(WORDS)(
  "the API server accepts a gate that begins as one that the controller reads, and no other: %j",
  (gate) => {
    expect(isAccepted(gate)).toBe(E.isRight(parseGate(gate)));
  },
);
