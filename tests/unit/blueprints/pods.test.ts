// Tests what Pods of functions are made of: overrides, and words that depend on Secrets.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concealed } from "../../../packages/blueprints/src/core/pods/secret-words.ts";
import { podState } from "../../../packages/blueprints/src/core/pods/pod-state.ts";
import { strategicMerge } from "../../../packages/blueprints/src/core/pods/strategic-merge.ts";
import { kubeTask } from "../../../packages/blueprints/src/core/functions/kube-task.ts";
import { endLog, NO_LOG } from "../../../packages/blueprints/src/core/log-output.ts";
import { plain } from "../../../packages/blueprints/src/core/text.ts";
import type { KubeObject } from "@janus/types";
import { execute, newWorld } from "./phase-world.ts";

describe("a podOverride", () => {
  it("is merged as a strategic merge patch: containers and their variables by name, other lists as a whole", () => {
    const base = { containers: [{ name: "container", image: "a", command: ["x"], env: [{ name: "A", value: "1" }] }] };
    const patch = {
      containers: [{ name: "container", command: ["y"], env: [{ name: "B", value: "2" }], image: null }],
      tolerations: [{ key: "k" }],
    };
    expect(strategicMerge(base, patch)).toEqual({
      containers: [
        {
          name: "container",
          command: ["y"],
          env: [
            { name: "B", value: "2" },
            { name: "A", value: "1" },
          ],
        },
      ],
      tolerations: [{ key: "k" }],
    });
  });
});

/** What the kubelet makes of a word: https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/ (command). */
const expanded = (word: string, values: Readonly<Record<string, string>>): string =>
  word.replaceAll(/\$\$|\$\((\w+)\)/gu, (all, name?: string) =>
    name === undefined ? "$" : (values[name.replace("JANUS_ARG_", "")] ?? all),
  );

describe("words that depend on Secrets", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "$", "(", ")", " ", "é") });
  const piece = fc.record({ text: letters, isTainted: fc.boolean() });

  it("reach the process as the kubelet would hand them on, and do not stand in the Pod", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ pieces: fc.array(piece) })), (words) => {
        const { words: shown, values, env } = concealed(words, "args");
        expect(env).toHaveLength(Object.keys(values).length);
        expect(shown.map((word) => expanded(word, values))).toEqual(
          words.map(({ pieces }) => expanded(pieces.map(({ text }) => text).join(""), {})),
        );
      }),
    );
  });

  it("stand in a shell's command substitution, too", () => {
    const word = {
      pieces: [
        { text: 'x=$(printf %s "', isTainted: false },
        { text: "secret", isTainted: true },
        { text: '")', isTainted: false },
      ],
    };
    expect(concealed([word], "args")).toMatchObject({
      words: ["$(JANUS_ARG_0)"],
      values: { "0": 'x=$(printf %s "secret")' },
    });
  });
});

const pod = (status: object): KubeObject => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, status });

describe("the state of a Pod", () => {
  it.each([
    [{ phase: "Succeeded" }, { type: "succeeded" }],
    [{ phase: "Running" }, { type: "running" }],
    [
      {
        phase: "Failed",
        containerStatuses: [{ name: "container", state: { terminated: { exitCode: 3, reason: "Error" } } }],
      },
      { type: "failed", why: 'container "container" exited with 3 (Error)', isExit: true },
    ],
    [
      { phase: "Failed", reason: "Evicted", message: "no memory" },
      { type: "failed", why: "Evicted: no memory", isExit: false },
    ],
    [
      {
        phase: "Pending",
        containerStatuses: [{ name: "container", state: { waiting: { reason: "ImagePullBackOff", message: "no" } } }],
      },
      { type: "waiting", why: 'container "container" waits: ImagePullBackOff: no', isFinal: false },
    ],
    [
      {
        phase: "Pending",
        conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes" }],
      },
      { type: "waiting", why: "Unschedulable: 0/1 nodes", isFinal: false },
    ],
    [{ phase: "Pending" }, { type: "waiting", why: "it has not started yet", isFinal: false }],
  ])("%o", (status, state) => expect(podState(pod(status))).toEqual(state));
});

describe("a Pod whose command was killed", () => {
  const status = {
    phase: "Failed",
    containerStatuses: [{ name: "container", state: { terminated: { exitCode: 137, reason: "Error" } } }],
  };
  const end = (deletionTimestamp?: string) =>
    execute(
      kubeTask,
      { namespace: "shop", image: "i", command: [plain("true")] },
      newWorld(
        {},
        {
          pods: (pod) => ({
            ...pod,
            status,
            metadata: { ...pod.metadata, ...(deletionTimestamp && { deletionTimestamp }) },
          }),
        },
      ),
      { log: endLog(NO_LOG) },
    ).step;

  it("has no result where it is being deleted: nobody knows what it has done", () => {
    expect(end("2026-01-01T00:00:00Z")).toMatchObject({
      type: "fail",
      isInterrupted: true,
      message: expect.stringMatching(/^Pod shop\/kanister-job-\w+ was deleted: container "container" exited with 137/u),
    });
    expect(end()).not.toHaveProperty("isInterrupted");
  });
});
