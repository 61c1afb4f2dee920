import { LEADER_LABEL } from "@janus/api";
import type { Api, KubeObject, Request } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { expect, it } from "vitest";
import { leaderMark } from "../../../../packages/runtime/src/leadership/leader-label.ts";
import { manualClock } from "../../kube/manual-clock.ts";

const MINUTE = 60_000;

/** A Pod, and the mark on it; writes fail while `down`. */
const marking = () => {
  const clock = manualClock();
  const pod: { label: unknown; down: boolean; writes: number } = { label: undefined, down: false, writes: 0 };
  const api: Api = {
    send: async (request: Request) => {
      if (request.verb !== "mergePatch") throw new Error(`unexpected ${request.verb}`);
      pod.writes += 1;
      if (pod.down) return E.left({ type: "unanswered", cause: "deadline", message: "no answer" } as const);
      const { metadata } = request.body as {
        readonly metadata: { readonly labels: Readonly<Record<string, unknown>> };
      };
      pod.label = metadata.labels[LEADER_LABEL] ?? undefined;
      return E.right({ kind: "Pod", metadata: {} } as KubeObject);
    },
    watch: () => {
      throw new Error("nothing is watched");
    },
  };
  const mark = leaderMark(api, { namespace: "ns", name: "pod" }, LEADER_LABEL, () => {}, clock);
  return { clock, pod, mark };
};

it("puts the leader's mark on again when somebody has taken it off, also after the API server was away", async () => {
  const { clock, pod, mark } = marking();
  await clock.pass(0);
  mark.set(true);
  for (let times = 0; times < 3; times += 1) {
    await clock.pass(0);
    expect(pod.label).toBe("true");
    pod.label = undefined;
    pod.down = times === 1;
    mark.set(true);
    await clock.pass(MINUTE);
    pod.down = false;
    await clock.pass(MINUTE);
  }
  expect(pod.label).toBe("true");
});

it("writes the mark only now and then on the leader, and on who does not lead once", async () => {
  const { clock, pod, mark } = marking();
  await clock.pass(10 * MINUTE);
  expect(pod.writes).toBe(1);
  mark.set(true);
  await clock.pass(10 * MINUTE);
  expect(pod.writes).toBe(12);
  mark.set(false);
  await clock.pass(10 * MINUTE);
  expect([pod.writes, pod.label, clock.planned()]).toEqual([13, undefined, 0]);
});

it("writes nothing after its end", async () => {
  const { clock, pod, mark } = marking();
  mark.set(true);
  await clock.pass(MINUTE);
  await mark.end();
  const { writes } = pod;
  await clock.pass(10 * MINUTE);
  expect([pod.writes - writes, pod.label, clock.planned()]).toEqual([0, undefined, 0]);
});
