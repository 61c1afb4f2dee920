// Tests which ActionSets doctor says that nobody executes.
import { RUNNING } from "@janus/blueprints/authoring";
import type { KubeObject } from "@janus/kube";
import { expect, it } from "vitest";
import { unexecuted } from "../../../packages/cli/src/story/unexecuted.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");

const actionSet = (
  name: string,
  state?: string,
  finalizers: readonly string[] = [],
  creationTimestamp = "2026-01-01T00:00:00Z",
): KubeObject => ({
  apiVersion: "cr.kanister.io/v1alpha1",
  kind: "ActionSet",
  metadata: { namespace: "shop", name, creationTimestamp, finalizers },
  ...(state === undefined ? {} : { status: { state } }),
});

it("says nothing of those that are executed, have ended, or have just been created", () => {
  const all = [
    actionSet("a", "running", [RUNNING]),
    actionSet("b", "pending", [RUNNING]),
    actionSet("c", "complete"),
    actionSet("d", "failed"),
    actionSet("e", undefined, [], "2026-01-01T00:59:30Z"),
  ];
  expect(unexecuted(all, "shop", NOW)).toEqual([]);
});

it("names those that Kanister has left running, and those that nobody has taken up", () => {
  const late = ["p", "q", "r", "s"].map((name) => actionSet(name));
  const [left, waiting] = unexecuted([actionSet("k", "running"), ...late], "shop", NOW);
  expect(left).toMatchObject({ isFine: false, what: "ActionSets that Kanister has left running in shop: k" });
  expect(waiting).toMatchObject({
    isFine: false,
    what: "ActionSets that nobody has taken up in shop: p, q, r and 1 more",
  });
});
