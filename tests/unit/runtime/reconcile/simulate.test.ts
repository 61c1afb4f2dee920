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
const decisions = (...versions: readonly string[]): readonly string[] => decisionsOf(controller, versions);

const decisionsOf = (subject: typeof controller, versions: readonly string[]): readonly string[] => {
  const left = [...versions];
  const decided: string[] = [];
  const simulation = simulateController(subject, {
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

it.each<[string, ReturnType<(typeof controller)["decide"]>, string]>([
  ["a run without effects", { type: "run", effects: [] }, "decide returned a run without effects"],
  ["a wait until NaN", { type: "wait", until: Number.NaN, because: "so" }, "decide returned a wait until NaN"],
  ["the same effects for ever", { type: "run", effects: ["again"] }, "does not end: 20000 decisions were made"],
])("fails where the runtime would report a defect: %s", (_, step, why) => {
  expect(() => decisionsOf({ ...controller, decide: () => step }, ["1"])).toThrow(why);
});
