// Tests which permissions are asked for before anything runs, where templates say on which object.
import { actionSetController, type Memory } from "@janus/blueprints/core";
import { asObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { newWorld } from "./phase-world.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const KANISTER = "cr.kanister.io/v1alpha1";
const SETTINGS = { defaultServiceAccount: "ops", podReadyTimeout: 1, toolsImage: "tools", seed: "", process: "" };

const scale = {
  func: "ScaleWorkload",
  name: "scale",
  args: { namespace: "shop", kind: "deployment", name: "{{ .Options.name }}", replicas: 1, waitForReady: false },
};

/** What is said of an ActionSet whose ServiceAccount may do everything on this Deployment, and nothing on others; "begun": nothing. */
const verdict = (mine: string, name: string): unknown => {
  const subject = { apiVersion: "v1", resource: "configmaps", name: "subject", namespace: "shop" };
  const action = { name: "do", blueprint: "ops", object: subject, options: { name } };
  const world = newWorld({
    "actionsets/shop/run": {
      apiVersion: KANISTER,
      kind: "ActionSet",
      metadata: { namespace: "shop", name: "run", uid: "u" },
      spec: { serviceAccountName: "ops", actions: [action] },
    },
    "blueprints/shop/ops": { apiVersion: KANISTER, kind: "Blueprint", actions: { do: { phases: [scale] } } },
    "serviceaccounts/shop/ops": {},
    "configmaps/shop/subject": { kind: "ConfigMap" },
  });
  const stored = (): KubeObject => world.objects.get("actionsets/shop/run") as KubeObject;
  const { decide, observe, remember } = actionSetController(SETTINGS);
  let memory: Memory = remember(stored(), NOW);
  for (let turn = 0; turn < 50; turn += 1) {
    const step = decide(memory, { now: NOW, hasMemory: true, isOver: false });
    if (step.type !== "run") break;
    for (const effect of step.effects) {
      const { purpose, request } = effect;
      if (purpose === "create-journal") return "begun";
      const given = world.answer(request);
      const review = asObject(request.verb === "create" ? request.body : {});
      const allowed = asObject(asObject(review["spec"])["resourceAttributes"])["name"] === mine;
      const judged = E.right({ apiVersion: "v1", kind: "Review", metadata: {}, status: { allowed } });
      const isOwn = request.verb === "mergePatch";
      const answer = purpose === "review" ? judged : isOwn ? E.right(stored()) : given;
      ({ memory } = observe(memory, { type: "answered", effect, answer, sent: NOW, at: NOW }));
    }
  }
  return asObject(asObject(stored()["status"])["error"])["message"];
};

it("those on the one object that a template names are enough", () => {
  expect(verdict("web", "web")).toBe("begun");
});

it("those on another object are not: each that is missing is told once", () => {
  expect(verdict("web", "db")).toBe(
    `nothing was run: ${["get deployments", "get deployments/scale", "patch deployments/scale"]
      .map((what) => `ServiceAccount shop/ops may not ${what} in namespace shop (phase scale)`)
      .join("; ")}`,
  );
});
