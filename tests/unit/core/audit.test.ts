import { decodeTransaction, REQUESTED_BY } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { audit } from "../../../packages/controller/src/core/state/audit.ts";

it("one that is created as Proposed is proposed by who has created it", () => {
  const target = { apiVersion: "v1", kind: "ConfigMap", name: "a" };
  const txn = decodeTransaction({
    metadata: {
      name: "txn",
      namespace: "shop",
      uid: "u",
      resourceVersion: "1",
      generation: 1,
      annotations: { [REQUESTED_BY]: "alice" },
    },
    spec: { serviceAccountName: "deploy", lifecycle: "Proposed", changes: [{ type: "Delete", target }] },
  });
  expect(E.map((one: Parameters<typeof audit>[0]) => audit(one, () => "").map(({ message }) => message))(txn)).toEqual(
    E.right(["requested by alice", "proposed by alice"]),
  );
});
