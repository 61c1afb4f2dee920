import { fieldManager } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { NOW } from "./arbitrary-situation.ts";
import { UID } from "./transaction.ts";
import { change, former, later, refused, underway } from "./underway.ts";

const manager = fieldManager({ name: "deploy-v2", uid: UID });

it("waits for nothing any more when its namespace is deleted in the middle of its rollback", () => {
  const { txn, ...rest } = underway("RollingBack", [change("Create", "a")], {
    direction: "back",
    cursor: 0,
    reached: 1,
    since: NOW,
  });
  const deletionTimestamp = "2026-01-01T12:00:00Z";
  const spec = { ...txn.spec, deletionPolicy: "Rollback" as const };
  const start = { ...rest, txn: { ...txn, spec, metadata: { ...txn.metadata, deletionTimestamp } } };
  // What it created waits for a finalizer.
  const held = former("ConfigMap", "a", {
    metadata: { deletionTimestamp, finalizers: ["x/y"], managedFields: [{ manager }] },
  });
  const { at } = later(start, 10_000, ({ purpose }, { now }) => {
    if (purpose === "read-target") return E.right(held);
    if (purpose !== "read-namespace") return refused(404);
    return E.right(former("Namespace", "shop", now < NOW + 3_000 ? {} : { metadata: { deletionTimestamp } }));
  });
  expect(at.now).toBeGreaterThan(NOW + 3_000);
  expect(at.txn.status.phase).toBe("Failed");
  expect(JSON.stringify(at.txn.status)).toContain("deleted during the rollback");
});
