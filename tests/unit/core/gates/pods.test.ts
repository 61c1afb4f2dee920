import type { KubeObject } from "@janus/types";
import { describe, expect, it } from "vitest";
import { explain } from "../../../../packages/controller/src/core/gates/pods.ts";

const deployment: KubeObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", namespace: "shop" },
};
const message = "1 of 3 updated replicas available";

const pod = (name: string, minute: number, status: object, metadata: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, creationTimestamp: `2026-01-01T12:0${minute}:00Z`, ...metadata },
  status,
});
const waitingFor = (reason: string, said: string, terminated?: object) => ({
  containerStatuses: [
    { name: "proxy", state: { running: {} } },
    {
      name: "web",
      state: { waiting: { reason, message: said } },
      lastState: terminated === undefined ? {} : { terminated },
    },
  ],
});
const crashing = waitingFor("CrashLoopBackOff", "back-off 5m0s", { exitCode: 1, reason: "Error" });
const healthy = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };

describe("a workload that is not ready", () => {
  it("is explained by its Pods: what crashes, with its exit code", () => {
    expect(explain(deployment, message, [pod("web-1", 0, healthy), pod("web-2", 1, crashing)]).message).toBe(
      "Deployment web: 1 of 3 updated replicas available (last: container web in CrashLoopBackOff: exit code 1, Pod web-2)",
    );
  });

  it("has an image that cannot be pulled", () => {
    const status = waitingFor("ImagePullBackOff", 'Back-off pulling image "shop:v2"');
    expect(explain(deployment, message, [pod("web-2", 1, status)]).message).toBe(
      'Deployment web: 1 of 3 updated replicas available (last: container web in ImagePullBackOff: Back-off pulling image "shop:v2", Pod web-2)',
    );
  });

  it("has Pods that cannot be scheduled", () => {
    const conditions = [
      {
        type: "PodScheduled",
        status: "False",
        reason: "Unschedulable",
        message: "0/3 nodes are available: 3 Insufficient cpu.",
      },
    ];
    expect(explain(deployment, message, [pod("web-2", 1, { phase: "Pending", conditions })]).message).toBe(
      "Deployment web: 1 of 3 updated replicas available (last: unschedulable: 0/3 nodes are available: 3 Insufficient cpu., Pod web-2)",
    );
  });

  it("has several Pods with something wrong: the newest is told of, in whatever order they come", () => {
    const pods = [
      pod("old", 0, waitingFor("ErrImagePull", "not found")),
      pod("new", 2, crashing),
      pod("newest, and well", 3, healthy),
      pod("middle", 1, crashing),
    ];
    for (const order of [pods, pods.toReversed()])
      expect(explain(deployment, message, order).message).toContain(", Pod new)");
  });

  it("has Pods that are being deleted, which nobody waits for", () => {
    const pods = [pod("web-2", 1, crashing, { deletionTimestamp: "2026-01-01T12:05:00Z" })];
    expect(explain(deployment, message, pods).message).toBe("Deployment web: 1 of 3 updated replicas available");
  });

  it.each([[[]], [[pod("web-1", 0, healthy), pod("web-2", 1, {})]]])("has no Pod that says why", (pods) => {
    expect(explain(deployment, message, pods).message).toBe("Deployment web: 1 of 3 updated replicas available");
  });

  it("is told of briefly, however much a kubelet says", () => {
    const pods = [pod("web-2", 1, waitingFor("CreateContainerError", "long ".repeat(10_000)))];
    expect(explain(deployment, message, pods).message.length).toBeLessThan(500);
  });
});
