// Tests what Pods of functions are made of: overrides, and words that depend on Secrets.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concealed } from "../../../packages/blueprints/src/core/pods/secret-words.ts";
import { podState } from "../../../packages/blueprints/src/core/pods/pod-state.ts";
import { strategicMerge } from "../../../packages/blueprints/src/core/pods/strategic-merge.ts";
import type { KubeObject } from "@janus/types";

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
  const secret = fc.string({ unit: fc.constantFrom("a", "$", "(", ")", " ", "é") });
  // Text with `$` that is not of a Secret is expanded by the kubelet with or without us.
  const other = fc.string({ unit: fc.constantFrom("a", "(", ")", " ", "é") });
  const piece = fc.oneof(
    secret.map((text) => ({ text, isTainted: true })),
    other.map((text) => ({ text, isTainted: false })),
  );

  it("reach the process as they are, and do not stand in the Pod", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ pieces: fc.array(piece) })), (words) => {
        const { words: shown, values, env } = concealed(words, "args");
        expect(env).toHaveLength(Object.keys(values).length);
        for (const [at, { pieces }] of words.entries()) {
          expect(expanded(shown[at] ?? "", values)).toBe(pieces.map(({ text }) => text).join(""));
        }
      }),
    );
  });

  it("take a dollar before them along, which would escape the reference", () => {
    const word = {
      pieces: [
        { text: "cost: $", isTainted: false },
        { text: "5", isTainted: true },
      ],
    };
    expect(concealed([word], "args")).toMatchObject({ words: ["cost: $(JANUS_ARG_0)"], values: { "0": "$5" } });
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
      { type: "failed", why: 'container "container" exited with 3 (Error)' },
    ],
    [
      { phase: "Failed", reason: "Evicted", message: "no memory" },
      { type: "failed", why: "Evicted: no memory" },
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
