// Tests what the conditions of a running ActionSet say of what its phases wait for, and how often they are written.
import { actionSetController, type Memory, type Step } from "@janus/blueprints/core";
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { indexOf } from "../../../packages/blueprints/src/core/phase-context.ts";
import { newWorld } from "./phase-world.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const SECRET = "a long and secret value";

const { decide, observe, remember } = actionSetController({
  defaultServiceAccount: "ops",
  podReadyTimeout: 60_000,
  toolsImage: "tools",
  seed: "",
  process: "",
});

const KANISTER = "cr.kanister.io/v1alpha1";
const subject = { apiVersion: "v1", resource: "configmaps", name: "subject", namespace: "shop" };
const wait = {
  func: "WaitV2",
  name: "wait",
  args: { timeout: "1h", conditions: { allOf: [{ condition: "{{ .data.is }}", objectReference: subject }] } },
};

/** An ActionSet whose only phase waits for the ConfigMap `subject`. @param isPruned its definition has no conditions */
const waiting = ({ isPruned = false } = {}) => {
  const metadata = { namespace: "shop", name: "run", uid: "u" };
  const action = { name: "do", blueprint: "ops", object: subject, secrets: { credentials: { name: "credentials" } } };
  const world = newWorld(
    {
      "actionsets/shop/run": { apiVersion: KANISTER, kind: "ActionSet", metadata, spec: { actions: [action] } },
      "blueprints/shop/ops": { apiVersion: KANISTER, kind: "Blueprint", actions: { do: { phases: [wait] } } },
      "serviceaccounts/shop/ops": {},
      "secrets/shop/credentials": { kind: "Secret", data: { word: Buffer.from(SECRET).toString("base64") } },
      "configmaps/shop/subject": { kind: "ConfigMap", data: { is: "first" } },
    },
    {
      actionsets: (object) => {
        const { conditions: _, ...status } = asObject(object["status"]);
        return isPruned ? { ...object, status } : object;
      },
    },
  );
  const stored = (key: string): KubeObject => world.objects.get(key) as KubeObject;
  let memory: Memory = remember(stored("actionsets/shop/run"), START);
  /** What is done at this time until nothing is left to do. */
  const at = (now: number): { readonly step: Step; readonly writes: readonly string[] } => {
    const writes: string[] = [];
    for (let turn = 0; turn < 50; turn += 1) {
      const step = decide(memory, { now, hasMemory: true, isOver: false });
      if (step.type !== "run") return { step, writes };
      for (const effect of step.effects) {
        const given = world.answer(effect.request);
        // A patch is answered with what is stored of it.
        const isOwn = effect.request.verb === "mergePatch" && effect.request.resource.plural === "actionsets";
        const answer = isOwn ? E.right(stored("actionsets/shop/run")) : given;
        if (isOwn) writes.push(effect.purpose);
        ({ memory } = observe(memory, { type: "answered", effect, answer, sent: now, at: now }));
      }
    }
    throw new Error(`the ActionSet does not come to rest: ${writes.join(", ")}`);
  };
  return {
    at,
    /** Somebody has changed what is waited for, and a watch tells of it: just before this time. */
    change: (is: string, now: number): void => {
      const { data, ...others } = stored("configmaps/shop/subject");
      world.objects.set("configmaps/shop/subject", { ...others, data: { ...asObject(data), is } });
      ({ memory } = observe(memory, { type: "changed", index: indexOf({ action: 0, phase: 0 }, 0), at: now - 1 }));
    },
    messages: (): readonly unknown[] => {
      const { conditions = [] } = asObject(stored("actionsets/shop/run")["status"]);
      return [...new Set((conditions as readonly JsonObject[]).map(({ message }) => message))];
    },
  };
};

const saying = (is: string): string => `phase wait: configmaps shop/subject: the condition is "${is}"`;

it("say what a phase waits for, a second after the last write of the status at the earliest", () => {
  const { at, change, messages } = waiting();
  expect(at(START).step).toMatchObject({ type: "wait", until: START + 1000 });
  expect(messages()).toEqual(["executing wait"]);

  expect(at(START + 1000)).toMatchObject({ step: { until: START + 3_600_000 }, writes: ["record"] });
  expect(messages()).toEqual([saying("first")]);

  change("second", START + 1500);
  expect(at(START + 1500)).toMatchObject({ step: { until: START + 2000 }, writes: [] });
  change("third", START + 1600);
  expect(at(START + 2000).writes).toEqual(["record"]);
  expect(messages()).toEqual([saying("third")]);
});

it("are not written again while they are true", () => {
  const { at, change } = waiting();
  at(START);
  at(START + 1000);
  change("first", START + 5000);
  expect(at(START + 5000)).toMatchObject({ step: { until: START + 3_600_000 }, writes: [] });
});

it("have no value of a Secret", () => {
  const { at, change, messages } = waiting();
  at(START);
  change(SECRET, START + 1000);
  at(START + 1000);
  expect(messages()).toEqual([saying("***")]);
});

it("are not written where their definition has no room for them", () => {
  const { at, change } = waiting({ isPruned: true });
  at(START);
  change("second", START + 5000);
  expect(at(START + 5000).writes).toEqual([]);
});
