// Tests the timeout of an ActionSet: what had ended in time is done, though a process finds it only after that.
import { actionSetController, type Memory } from "@janus/blueprints/core";
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { newWorld } from "./phase-world.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const LATE = START + 3_600_000;

const { decide, observe, remember } = actionSetController({
  defaultServiceAccount: "ops",
  podReadyTimeout: 60_000,
  toolsImage: "tools",
  seed: "",
  process: "",
});

const KANISTER = "cr.kanister.io/v1alpha1";
const configMap = (name: string) => ({ apiVersion: "v1", resource: "configmaps", name, namespace: "shop" });

/** A phase that waits for this ConfigMap to say that it is so. */
const wait = (name: string): object => ({
  func: "WaitV2",
  name,
  args: { timeout: "5h", conditions: { allOf: [{ condition: "{{ .data.is }}", objectReference: configMap(name) }] } },
});

const task = (name: string): object => ({ func: "KubeTask", name, args: { image: "i", command: [name] } });

/** An ActionSet of these actions; its process dies as soon as all phases wait, and another one takes over an hour later. */
const found = (actions: Readonly<Record<string, object>>, ended: readonly string[], timeout = "10m") => {
  const metadata = { namespace: "shop", name: "run", uid: "u" };
  const spec = {
    timeout,
    actions: Object.keys(actions).map((name) => ({ name, blueprint: "ops", object: configMap("subject") })),
  };
  const world = newWorld(
    {
      "actionsets/shop/run": { apiVersion: KANISTER, kind: "ActionSet", metadata, spec },
      "blueprints/shop/ops": { apiVersion: KANISTER, kind: "Blueprint", actions: actions as JsonObject },
      "serviceaccounts/shop/ops": {},
      ...Object.fromEntries(
        ["subject", "a", "b", "c"].map((name) => [
          `configmaps/shop/${name}`,
          { kind: "ConfigMap", data: { is: "no" } },
        ]),
      ),
    },
    { pods: (pod) => ({ ...pod, status: { phase: "Running" } }) },
  );
  const stored = (key = "actionsets/shop/run"): KubeObject => world.objects.get(key) as KubeObject;
  /** A process, until it only waits for others. @returns when it wants to look again */
  const live = (from: number, waits = 0): number => {
    let memory: Memory = remember(stored(), from);
    let now = from;
    for (let turn = 0; turn < 100; turn += 1) {
      const step = decide(memory, { now, hasMemory: true, isOver: false });
      if (step.type === "done") return Number.POSITIVE_INFINITY;
      if (step.type === "wait") {
        if (waits === 0 || step.until === Number.POSITIVE_INFINITY) return step.until;
        waits -= 1;
        now = step.until;
        continue;
      }
      for (const effect of step.effects) {
        const given = world.answer(effect.request);
        const isPatch = effect.request.verb === "mergePatch" && E.isRight(given);
        const isOwn = isPatch && "name" in effect.request && effect.request.name === "run";
        const answer = isOwn ? E.right(stored()) : given;
        ({ memory } = observe(memory, { type: "answered", effect, answer, sent: now, at: now }));
      }
    }
    throw new Error("it does not come to rest");
  };
  live(START);
  for (const name of ended)
    world.objects.set(`configmaps/shop/${name}`, { ...stored(`configmaps/shop/${name}`), data: { is: "true" } });
  return {
    live,
    end: () => {
      const { state, error, actions: all } = asObject(stored()["status"]);
      const phases = (all as readonly JsonObject[]).map((one) =>
        [...(one["phases"] as readonly JsonObject[]), ...(one["deferPhase"] === undefined ? [] : [one["deferPhase"]])]
          .map((phase) => asObject(phase)["state"] as string)
          .join(),
      );
      return { state, message: asObject(error)["message"], phases };
    },
    pods: () => [...world.objects].flatMap(([key, object]) => (key.startsWith("pods/") ? [object] : [])),
    /** What has become of its Pods. */
    endPods: (status: object): void => {
      for (const [key, object] of world.objects)
        if (key.startsWith("pods/")) world.objects.set(key, { ...object, status });
    },
  };
};

it("is kept where the last phase had ended in time, and its deferPhase is executed", () => {
  const { live, end } = found({ do: { phases: [wait("a")], deferPhase: wait("b") } }, ["a", "b"]);
  live(LATE);
  expect(end()).toEqual({ state: "complete", message: undefined, phases: ["complete,complete"] });
});

it("is over where a phase goes on: it says what that waits for", () => {
  const { live, end } = found({ do: { phases: [wait("a")] } }, []);
  live(LATE);
  expect(end()).toEqual({
    state: "failed",
    message: expect.stringMatching(/^the ActionSet was not done within 10m: .*a/u) as string,
    phases: ["failed"],
  });
});

it("is over where another phase was still to come: that one does not begin", () => {
  const { live, end } = found({ do: { phases: [wait("a"), wait("b")], deferPhase: wait("c") } }, ["a", "b", "c"]);
  live(LATE);
  expect(end()).toMatchObject({ state: "failed", phases: ["complete,pending,complete"] });
});

it("is over where an action beside it goes on; what had ended in time is complete", () => {
  const { live, end } = found({ one: { phases: [wait("a")] }, two: { phases: [wait("b")] } }, ["a"]);
  live(LATE);
  expect(end()).toMatchObject({
    state: "failed",
    message: expect.stringContaining("the ActionSet was not done within 10m: phase b: ") as string,
    phases: ["complete", "failed"],
  });
});

it("does not count for a deferPhase that takes longer", () => {
  const { live, end } = found({ do: { phases: [wait("a")], deferPhase: wait("b") } }, ["a"]);
  live(START + 60_000);
  const until = live(LATE);
  expect(until).toBeGreaterThan(LATE);
  expect(end()).toMatchObject({ state: "running", phases: ["complete,running"] });
});

it("is over a minute later where what a Pod has written cannot be read", () => {
  const { live, end, endPods } = found({ do: { phases: [task("a")] } }, []);
  const terminated = { name: "container", state: { terminated: { exitCode: 0 } } };
  endPods({ phase: "Succeeded", containerStatuses: [terminated] });
  expect(live(LATE)).toBe(LATE + 60_000);
  expect(end()).toMatchObject({ state: "running" });
  live(LATE, 3);
  expect(end()).toMatchObject({
    state: "failed",
    message: expect.stringMatching(
      /^the ActionSet was not done within 10m: phase a: the log of Pod \S+ is read$/u,
    ) as string,
  });
});

it("bounds its Pods, whether there is a controller or not", () => {
  const { pods } = found({ do: { phases: [task("a")] } }, []);
  expect(pods().map(({ spec }) => asObject(spec)["activeDeadlineSeconds"])).toEqual([660]);
});

it("bounds a phase that goes on after another one has failed", () => {
  const broken = { ...wait("a"), timeout: "1m" };
  const { live, end } = found({ one: { phases: [broken] }, two: { phases: [wait("b")] } }, []);
  expect(live(START + 120_000, 1)).toBe(START + 600_000);
  expect(end()).toMatchObject({ state: "running", phases: ["failed", "running"] });
  live(LATE);
  expect(end()).toMatchObject({
    state: "failed",
    message: expect.stringMatching(/^phase a: it was not done within 1m: /u) as string,
    phases: ["failed", "failed"],
  });
});
