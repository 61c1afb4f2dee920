import { fieldManager } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { UID } from "./transaction.ts";
import { type Answer, change, checkpointed, former, later, refused, underway } from "./underway.ts";
import type { KubeObject } from "@janus/types";

const manager = fieldManager({ name: "deploy-v2", uid: UID });
const ours: KubeObject = former("ConfigMap", "a", {
  data: { a: "new" },
  metadata: { managedFields: [{ manager, operation: "Apply", fieldsV1: { "f:data": { "f:a": {} } } }] },
});

const count = (asked: readonly ApiCall[], wanted: ApiCall["purpose"]): number =>
  asked.filter(({ purpose }) => purpose === wanted).length;

const refusesDryRuns = (ask: ApiCall): Answer => {
  if (ask.purpose === "dry-run") return refused(409, "not so");
  return ask.purpose === "read-target" ? refused(404) : E.right({ ...ours, status: { allowed: true } });
};

describe("what is refused as if something had moved, though nothing has, is not sent again at once", () => {
  it.each([
    ["a create where its namespace, or its kind, is gone", "Delete", 404, undefined],
    ["an update", "Patch", 409, ours],
    ["a deletion of what was created", "Create", 409, ours],
  ] as const)("when it is rolled back: %s", (_, type, code, live) => {
    const start = underway("RollingBack", [change(type, "a")], {
      direction: "back",
      cursor: 0,
      reached: 1,
      since: NOW,
    });
    const answer = (ask: ApiCall, at: ReconcileContext): Answer => {
      if (ask.purpose === "checkpoint") return checkpointed(at, ask);
      if (ask.purpose === "restore") return refused(code, "not so");
      return live === undefined ? refused(404) : E.right(live);
    };
    const { asked, at } = later(start, 5_000, answer);
    expect(count(asked, "restore")).toBeGreaterThan(3);
    expect(count(asked, "restore")).toBeLessThan(7);
    expect(JSON.stringify(at.txn.status.conditions)).toContain("trying again: not so");
  });

  it("when it is a dry run: it is a problem then", () => {
    const start = underway(
      "Preparing",
      [change("Create", "a")],
      { direction: "forward", cursor: 0 },
      { serviceAccount: "there" },
    );
    const { asked, at } = later(start, 100, refusesDryRuns);
    expect(count(asked, "dry-run")).toBe(2);
    expect(at.txn.status).toMatchObject({ phase: "Failed" });
    expect(JSON.stringify(at.txn.status)).toContain("refuses to create ConfigMap shop/a: not so");
  });
});
