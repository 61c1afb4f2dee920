// Tests ScaleWorkload: the original replicas are known whatever is lost, and it waits for the Pods.
import { asObject, type JsonObject, type KubeObject } from "@janus/types";
import { describe, expect, it } from "vitest";
import { notReady, scaleWorkload } from "../../../packages/blueprints/src/core/functions/scale-workload.ts";
import { type Crash, execute, newWorld, START, withCrashes, type World } from "./phase-world.ts";

const KEY = "deployments/shop/web";
const args = { namespace: "shop", name: "web", kind: "Deployment", replicas: 0 };

const deployment = (replicas: number, status: JsonObject = {}): JsonObject => ({
  kind: "Deployment",
  spec: { replicas, selector: { matchLabels: { app: "web" } } },
  status: {
    replicas,
    readyReplicas: replicas,
    updatedReplicas: replicas,
    availableReplicas: replicas,
    terminatingReplicas: 0,
    ...status,
  },
});

/** Its controller does at once what the spec says. */
const settled = (workload: KubeObject): KubeObject => {
  const { replicas = 0 } = asObject(workload["spec"]);
  const status = {
    replicas,
    readyReplicas: replicas,
    updatedReplicas: replicas,
    availableReplicas: replicas,
    terminatingReplicas: 0,
  };
  return { ...workload, status };
};

const replicasIn = ({ objects }: World): unknown => asObject(objects.get(KEY)?.["spec"])["replicas"];

const without = (workload: KubeObject): KubeObject => {
  const { terminatingReplicas: _, ...status } = asObject(settled(workload)["status"]);
  return { ...workload, status };
};

describe("ScaleWorkload", () => {
  it("sets the replicas, and knows the original ones, whatever is lost", () => {
    withCrashes((crash?: Crash) => {
      const world = newWorld({ [KEY]: deployment(3) }, { deployments: settled });
      const { step, count } = execute(scaleWorkload, args, world, crash && { crash });
      expect(step).toEqual({ type: "end", output: { originalReplicaCount: "3" } });
      expect(replicasIn(world)).toBe(0);
      expect(new Set(world.writes)).toEqual(new Set([`mergePatch ${KEY}/scale`]));
      return { count };
    });
  });

  it("waits for what is not ready, and goes on when it changes", () => {
    const world = newWorld({ [KEY]: deployment(0) });
    const waiting = execute(scaleWorkload, { ...args, replicas: 2 }, world);
    expect(waiting.step).toMatchObject({
      type: "wait",
      because: "Deployment shop/web is not ready: 0 of 2 Pods are ready",
      watched: [{ ref: { name: "web" } }],
    });
    world.objects.set(KEY, settled(world.objects.get(KEY) as KubeObject));
    expect(waiting.again(START).step).toEqual({ type: "end", output: { originalReplicaCount: "0" } });
  });

  it("does not wait where it need not", () => {
    const world = newWorld({ [KEY]: deployment(0) });
    expect(execute(scaleWorkload, { ...args, replicas: 2, waitForReady: false }, world).step.type).toBe("end");
  });

  it("waits for Pods that still end where the status does not count them", () => {
    const pod = "pods/shop/web-1";
    const world = newWorld(
      { [KEY]: deployment(1), [pod]: { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } } },
      { deployments: without },
    );
    const waiting = execute(scaleWorkload, args, world);
    expect(waiting.step).toMatchObject({
      type: "wait",
      until: START + 1000,
      because: "Deployment shop/web is not ready: 1 Pods are still to end",
    });
    world.objects.delete(pod);
    expect(waiting.again(START + 1000).step.type).toBe("end");
  });

  it("takes the object of the action where nothing else is named", () => {
    const world = newWorld({ [KEY]: deployment(1) }, { deployments: settled });
    const object = { kind: "deployment", namespace: "shop", name: "web" };
    expect(execute(scaleWorkload, { replicas: 2 }, world, { object }).step.type).toBe("end");
    expect(replicasIn(world)).toBe(2);
  });

  it.each([
    [{ replicas: 1 }, /^namespace, name and kind are required args, unless/u],
    [{ ...args, kind: "Job" }, /^args.kind must be StatefulSet, Deployment or DeploymentConfig, not "Job"$/u],
    [{ ...args, replicas: -1 }, /^args.replicas must not be negative$/u],
    [args, /^Deployment shop\/web not found$/u],
  ])("fails: %o", (wrong, message) =>
    expect(
      execute(scaleWorkload, wrong, newWorld(), { object: { kind: "pvc", namespace: "x", name: "y" } }).step,
    ).toEqual({
      type: "fail",
      message: expect.stringMatching(message) as string,
    }),
  );

  it("asks for the permissions that are known, from its arguments or from the object of the action", () => {
    const of = { group: "apps", resource: "deployments", namespace: "shop" };
    const rightsOn = (name: object) => [
      { verb: "get", ...of, ...name },
      { verb: "get", ...of, ...name, subresource: "scale" },
      { verb: "patch", ...of, ...name, subresource: "scale" },
    ];
    const list = { verb: "list", group: "", resource: "pods", namespace: "shop" };
    expect(scaleWorkload.access({ namespace: "shop", kind: "Deployment" }, "kanister")).toEqual([
      ...rightsOn({}),
      list,
    ]);
    const object = { kind: "deployment", namespace: "shop", name: "web" };
    expect(scaleWorkload.access({ waitForReady: false }, "kanister", object)).toEqual(rightsOn({ name: "web" }));
    expect(scaleWorkload.access({ kind: "StatefulSet" }, "kanister", object)).not.toContainEqual(list);
    expect(scaleWorkload.access({}, "kanister")).toEqual([]);
  });
});

const workload = (spec: JsonObject, status: JsonObject): KubeObject => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { generation: 2 },
  spec: { replicas: 2, ...spec },
  status: { observedGeneration: 2, replicas: 2, readyReplicas: 2, updatedReplicas: 2, ...status },
});

describe("a workload that is to have 2 Pods", () => {
  it.each([
    [{}, {}, undefined],
    [{}, { observedGeneration: 1 }, "its controller has not seen the change yet"],
    [{ replicas: 3 }, {}, "its replicas are set to 3, not to 2"],
    [{}, { replicas: 3 }, "1 Pods are still to end"],
    [{}, { terminatingReplicas: 2 }, "2 Pods are still to end"],
    [{}, { readyReplicas: 1 }, "1 of 2 Pods are ready"],
    [{}, { updatedReplicas: 1 }, "1 of 2 Pods are of the latest version"],
    [{ updateStrategy: { type: "OnDelete" } }, { updatedReplicas: 1 }, undefined],
  ])("with %o and %o: %s", (spec, status, why) => expect(notReady(workload(spec, status), 2)).toBe(why));

  it("of a Deployment are available for as long as it asks for", () =>
    expect(notReady({ ...workload({}, { availableReplicas: 1 }), kind: "Deployment" }, 2)).toBe(
      "1 of 2 Pods are available",
    ));
});
