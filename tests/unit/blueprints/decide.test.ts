// Tests what is decided on an ActionSet that cannot be decoded: it fails, and says which field is wrong.
import { actionSetController } from "@janus/blueprints/core";
import type { KubeObject } from "@janus/types";
import { expect, it } from "vitest";

const SETTINGS = { defaultServiceAccount: "ops", toolsImage: "tools", podReadyTimeout: 1000, seed: "", process: "" };
const { decide, remember } = actionSetController(SETTINGS);
const TURN = { now: Date.parse("2026-01-01T00:00:00Z"), hasMemory: true, isOver: false };

const actionSet = (spec: unknown, status?: object): KubeObject => ({
  apiVersion: "cr.kanister.io/v1alpha1",
  kind: "ActionSet",
  metadata: { namespace: "shop", name: "run", uid: "u", resourceVersion: "1" },
  spec,
  ...(status && { status }),
});

it.each([
  ["a list that is a text", { actions: "backup" }, /spec\.actions/u],
  ["a name that is a number", { actions: [{ name: 7 }] }, /spec\.actions\[0\]\.name/u],
])("fails: %s", (_, spec, field) => {
  const step = decide(remember(actionSet(spec), TURN.now), TURN);
  expect(step).toMatchObject({
    type: "run",
    effects: [
      {
        purpose: "end",
        request: {
          body: {
            status: {
              state: "failed",
              error: {
                message: expect.stringMatching(new RegExp(`^nothing was run: .*${field.source}`, "u")) as string,
              },
            },
          },
        },
      },
    ],
  });
});

it("does not run again where it has ended, whatever else its status says", () => {
  const step = decide(remember(actionSet({ actions: [] }, { state: "complete", actions: 7 }), TURN.now), TURN);
  expect(step).not.toMatchObject({ effects: [{ purpose: "take-up" }] });
});
