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

it("does not say that a change is in which the rollback may have undone, where the journal cannot be read", () => {
  const changes = [change("Create", "a"), change("Create", "b")];
  const { txn, ...rest } = underway(
    "RollingBack",
    changes,
    { direction: "forward", cursor: 0 },
    {
      journal: { type: "refused", why: "it is forbidden", since: NOW },
    },
  );
  const made = { state: { type: "committed", before: { existed: false }, created: "uid-of-a" } } as const;
  const [, second = made] = txn.status.items;
  const deleted = { ...txn.metadata, deletionTimestamp: "2026-01-01T12:00:00Z" };
  const start = { ...rest, txn: { ...txn, metadata: deleted, status: { ...txn.status, items: [made, second] } } };
  const { at } = later(start, 10_000, () => refused(404));
  expect(at.txn.status).toMatchObject({
    phase: "Failed",
    items: [
      { state: { type: "rollback-failed", error: expect.stringContaining("it may be restored") as unknown } },
      {},
    ],
  });
});
