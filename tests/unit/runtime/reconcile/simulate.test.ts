import type { KubeObject } from "@janus/types";
import { expect, it } from "vitest";
import type { Controller } from "../../../../packages/runtime/src/reconcile/controller.ts";
import { simulateController } from "../../../../packages/runtime/src/reconcile/simulate.ts";

const object = (resourceVersion: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "shop", name: "app", uid: "1", resourceVersion },
});

interface Memory {
  readonly version: string;
  readonly isGone: boolean;
}

const controller: Controller<Memory, string, string> = {
  remember: ({ metadata: { resourceVersion = "" } }) => ({ version: resourceVersion, isGone: false }),
  decide: ({ version, isGone }) => {
    if (isGone) return version === "" ? { type: "done" } : { type: "run", effects: ["clean"] };
    return { type: "wait", until: 1, because: version };
  },
  observe: (memory, happened) => ({ memory: happened === "clean" ? { ...memory, version: "" } : memory }),
  afterDeletion: (memory) => ({ ...memory, isGone: true }),
};

/** The decisions on these versions, one after each wait; then it is gone. */
const decisions = (...versions: readonly string[]): readonly string[] => {
  const left = [...versions];
  const decided: string[] = [];
  const simulation = simulateController(controller, {
    now: () => 0,
    read: () => (left[0] === undefined ? undefined : object(left[0])),
    perform: (effect: string) => effect,
    pause: (memory) => memory,
    wait: () => {
      left.shift();
      return [];
    },
  });
  for (const { step, before } of simulation) decided.push(`${step.type} ${before.version}`.trim());
  return decided;
};

it("reads the object again after each wait, as the runtime does, and cleans up when it is gone", () => {
  expect(decisions("1", "2")).toEqual(["wait 1", "wait 2", "run 2", "done"]);
});

it("does nothing for an object that there never was", () => {
  expect(decisions()).toEqual([]);
});
