// Tests how many ActionSets the metric says there are.
import type { KubeObject } from "@janus/types";
import { expect, it } from "vitest";
import { RUNNING } from "../../../packages/blueprints/src/api/names.ts";
import { cached } from "../../../packages/blueprints/src/core/after-end.ts";
import { statesOf } from "../../../packages/blueprints/src/core/counted-states.ts";

const actionSet = (state: string | undefined, ...finalizers: readonly string[]): KubeObject =>
  cached({
    apiVersion: "cr.kanister.io/v1alpha1",
    kind: "ActionSet",
    metadata: { namespace: "shop", name: "run", finalizers },
    ...(state === undefined ? {} : { status: { state } }),
  });

it("counts what exists by state, but for what Kanister has left running", () => {
  const all = [
    actionSet(undefined),
    actionSet("pending", RUNNING),
    actionSet("running", RUNNING),
    actionSet("running"),
    actionSet("running", "example.com/other"),
    actionSet("complete"),
    actionSet("failed"),
  ];
  expect(Object.fromEntries(statesOf(all))).toEqual({ pending: 2, running: 1, complete: 1, failed: 1 });
});
