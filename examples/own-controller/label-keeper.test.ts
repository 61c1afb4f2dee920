// Tests the controller without a cluster: its decisions, and what becomes of them after a conflict, an error and a crash.
import { type Answered, type ApiError, type ApiRequest, type KubeObject, simulateController } from "@janus/runtime";
import { expect, it } from "vitest";
import { labelKeeper } from "./label-keeper.ts";

const object = (labels?: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { namespace: "shop", name: "app", uid: "1", resourceVersion: "7", ...(labels && { labels }) },
});

const refused = (code: number, reason: string): ApiError => ({
  type: "refused",
  code,
  reason,
  message: reason,
  causes: [],
});

/** The purposes of the requests until it waits, where these answers come first. */
const run = (start: KubeObject, ...answers: readonly (ApiError | "crashed")[]): readonly string[] => {
  const left = [...answers];
  const sent: string[] = [];
  let stored = start;
  let now = 0;
  const simulation = simulateController(labelKeeper, {
    now: () => now,
    read: () => stored,
    perform: (effect: ApiRequest): Answered<ApiRequest> | "crashed" => {
      sent.push(effect.purpose);
      const answer = left.shift();
      if (answer === "crashed") return "crashed";
      if (answer !== undefined) return { type: "refused", effect, error: answer };
      stored = object({ "example.com/team": "unowned" });
      return { type: "answered", effect, object: stored };
    },
    pause: (memory) => {
      now += 200;
      return memory;
    },
    wait: () => [],
  });
  for (const { step } of simulation) if (step.type === "wait") break;
  return sent;
};

it("labels what has no label, once", () => expect(run(object())).toEqual(["label"]));
it("leaves a label alone", () => expect(run(object({ "example.com/team": "shop" }))).toEqual([]));
it.each([
  ["a conflict", refused(409, "Conflict")],
  ["an error", refused(500, "InternalError")],
  ["a crash", "crashed" as const],
])("tries again after %s", (_, answer) => expect(run(object(), answer)).toEqual(["label", "label"]));
