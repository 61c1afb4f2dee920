import { fieldManager } from "@janus/api";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import type { ApiCall } from "../../../packages/controller/src/core/state/effect.ts";
import type { ReconcileContext } from "../../../packages/controller/src/core/state/reconcile-context.ts";
import { NOW } from "./arbitrary-situation.ts";
import { UID } from "./transaction.ts";
import { type Answer, change, checkpoints, former, later, observingAll, refused, underway } from "./underway.ts";
import type { KubeObject } from "@janus/types";

const manager = fieldManager({ name: "deploy-v2", uid: UID });
const owner = { apiVersion: "v1", kind: "ConfigMap", name: "parent", uid: "uid-of-parent" };
const child = former("ConfigMap", "child", { metadata: { ownerReferences: [owner] } });

/** Both were deleted; the parent may not be read, so that it is not created again. */
const rolledBack = (changes: readonly [string, string]): ReconcileContext => {
  const checkpoint = checkpoints();
  let live: KubeObject | undefined;
  const answer = (ask: ApiCall, at: ReconcileContext): Answer => {
    if (ask.purpose === "checkpoint") return checkpoint(at, ask);
    const { name } = ask.call.place;
    if (name === "parent") return refused(403);
    if (name !== "child" || !("body" in ask.call || ask.call.verb === "get")) return refused(404);
    if ("body" in ask.call) {
      const { metadata } = ask.call.body as KubeObject;
      const isApplied = ask.call.verb === "create";
      live = {
        ...(ask.call.body as KubeObject),
        metadata: { ...metadata, uid: "uid-again", resourceVersion: isApplied ? "2" : "3" },
      };
      if (isApplied)
        live = { ...live, metadata: { ...live.metadata, managedFields: [{ manager, operation: "Update" }] } };
    }
    return live === undefined ? refused(404) : E.right(live);
  };
  const position = { direction: "back", cursor: 1, reached: 2, since: NOW } as const;
  const start = observingAll(
    underway(
      "RollingBack",
      changes.map((name) => change("Delete", name)),
      position,
    ),
    ({ target: { name } }) => ({ before: name === "child" ? child : former("ConfigMap", name) }),
  );
  return later(start, 60_000, answer).at;
};

it.each([[["parent", "child"]], [["child", "parent"]]] as const)(
  "says of an object whose owner could not be rolled back that it is not owned by it again: %j",
  (names) => {
    const { status } = rolledBack(names).txn;
    expect(status.phase).toBe("Failed");
    const { state } = status.items[names.indexOf("child")] ?? {};
    expect(state).toMatchObject({
      type: "restored",
      error: expect.stringContaining(`its owner was not restored (changes[${names.indexOf("parent")}])`),
    });
  },
);
