import { spawn } from "node:child_process";
import { once } from "node:events";
import { leases } from "@janus/types";
import { type Api, replyOf } from "@janus/kube";
import { leader, type Leader, type LeasePlace } from "@janus/runtime/parts";
import { describe, expect, it, onTestFinished } from "vitest";
import { controlPlane } from "../fixtures/cluster.ts";
import { right, sharedClient } from "./client.ts";
import { ROOM, timing } from "../fixtures/leader-timing.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";

const api = sharedClient();

const place = async (): Promise<LeasePlace> => ({ namespace: await freshNamespace(), name: "leader" });

const stand = (place: LeasePlace, identity: string): Leader => {
  const one = leader(api, { place, identity, timing });
  onTestFinished(async () => void (await one.leave()));
  return one;
};

interface Spec {
  readonly holderIdentity?: string;
  readonly leaseTransitions?: number;
  readonly [field: string]: unknown;
}
const specOf = async (at: LeasePlace): Promise<Spec> =>
  right(await api.send({ verb: "get", resource: leases, ...at }))["spec"] as Spec;

describe("a leader", () => {
  it("writes a Lease that everybody can read, and renews it", async () => {
    const at = await place();
    const one = stand(at, "pod-1_4711");
    expect(await one.elected).toEqual({ holder: "pod-1_4711", transitions: 1 });
    const spec = await specOf(at);
    const microTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(spec).toEqual({
      holderIdentity: "pod-1_4711",
      leaseDurationSeconds: 15,
      leaseTransitions: 1,
      acquireTime: microTime,
      renewTime: microTime,
    });
    await expect.poll(async () => (await specOf(at))["renewTime"]).not.toBe(spec["renewTime"]);
    expect(await specOf(at)).toMatchObject({ acquireTime: spec["acquireTime"], leaseTransitions: 1 });
  });

  it("begins another term each time, also under its former name", async () => {
    const at = await place();
    expect(await stand(at, "a").elected).toMatchObject({ transitions: 1 });
    const again = stand(at, "a");
    expect(await again.elected).toMatchObject({ transitions: 2 });
    await again.leave();
    expect(await specOf(at)).toMatchObject({ holderIdentity: "", leaseTransitions: 2 });
    expect(await stand(at, "b").elected).toEqual({ holder: "b", transitions: 3 });
  });

  it("begins with term 1 again after the highest that a Lease can hold", async () => {
    const at = await place();
    const spec = { holderIdentity: "", leaseDurationSeconds: 1, leaseTransitions: 2 ** 31 - 1 };
    const { namespace, name } = at;
    const body = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name, namespace }, spec };
    right(await api.send({ verb: "create", resource: leases, namespace, body }));
    expect(await stand(at, "a").elected).toEqual({ holder: "a", transitions: 1 });
  });

  it("keeps its term however long it is asked to wait, every other time", async () => {
    const at = await place();
    let isElected = false;
    let calls = 0;
    let refused = 0;
    const overloaded: Api = {
      ...api,
      send: async (request) => {
        calls += 1;
        if (!isElected || calls % 2 === 1) return api.send(request);
        refused += 1;
        return replyOf({ status: 429, retryAfter: "86400", body: "too many requests" }, Date.now());
      },
    };
    const one = leader(overloaded, { place: at, identity: "a", timing });
    onTestFinished(async () => void (await one.leave()));
    isElected = (await one.elected) !== undefined;
    const two = stand(at, "b");
    // For several terms' time.
    await expect.poll(() => refused).toBeGreaterThan(10);
    expect(one.left()).toBeGreaterThan(0);
    expect(two.state().type).not.toBe("leading");
    expect(await specOf(at)).toMatchObject({ holderIdentity: "a", leaseTransitions: 1 });
  });

  it("notices that its term has been ended, and stops", async () => {
    const at = await place();
    const one = stand(at, "a");
    await one.elected;
    const body = { spec: { holderIdentity: "b", leaseTransitions: 2 } };
    right(await api.send({ verb: "mergePatch", resource: leases, ...at, body }));
    expect(await one.over).toBe("b is the leader now, term 2");
    expect(one.left()).toBe(0);
  });

  it("puts right what somebody has made of the Lease's duration", async () => {
    const at = await place();
    const one = stand(at, "a");
    await one.elected;
    const body = { spec: { leaseDurationSeconds: 2 ** 31 - 1 } };
    right(await api.send({ verb: "mergePatch", resource: leases, ...at, body }));
    await expect.poll(async () => (await specOf(at))["leaseDurationSeconds"]).toBe(15);
    expect(await specOf(at)).toMatchObject({ holderIdentity: "a", leaseTransitions: 1 });
  });

  it("is not disturbed by who labels its Lease", async () => {
    const at = await place();
    const one = stand(at, "a");
    await one.elected;
    const body = { metadata: { labels: { team: "platform" } } };
    right(await api.send({ verb: "mergePatch", resource: leases, ...at, body }));
    const { renewTime } = await specOf(at);
    await expect.poll(async () => (await specOf(at))["renewTime"]).not.toBe(renewTime);
    expect(one.left()).toBeGreaterThan(0);
    expect(right(await api.send({ verb: "get", resource: leases, ...at })).metadata.labels).toEqual({
      team: "platform",
    });
  });
});

/** A kube-controller-manager that is hardly more than a client-go candidate for this Lease. */
const clientGo = (at: LeasePlace): { readonly kill: () => Promise<void> } => {
  const child = spawn(
    controlPlane.binaries["kube-controller-manager"],
    [
      `--kubeconfig=${controlPlane.kubeconfig}`,
      "--controllers=bootstrap-signer-controller", // it finds nothing to do
      "--secure-port=0",
      "--leader-elect=true",
      `--leader-elect-resource-namespace=${at.namespace}`,
      `--leader-elect-resource-name=${at.name}`,
      `--leader-elect-lease-duration=${timing.leaseDuration}ms`,
      `--leader-elect-renew-deadline=${timing.renewDeadline}ms`,
      `--leader-elect-retry-period=${timing.retryPeriod}ms`,
    ],
    { stdio: "ignore" },
  );
  const exited = once(child, "exit");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  onTestFinished(kill);
  return { kill };
};

describe("beside a client-go candidate for the same Lease", () => {
  it("stands by while that one leads, takes over when it is dead, and lets another one of its kind lead when it leaves", async () => {
    const at = await place();
    const first = clientGo(at);
    const holder = async () => (await api.send({ verb: "get", resource: leases, ...at }).then(right))["spec"] as Spec;
    await expect.poll(() => holder().catch(() => ({}))).toHaveProperty("holderIdentity");
    const { leaseTransitions = 0 } = await holder();
    const ours = stand(at, "ours");
    await new Promise((resolve) => setTimeout(resolve, timing.leaseDuration + timing.retryPeriod));
    expect([ours.left(), ours.state().type === "over"]).toEqual([0, false]);
    await first.kill();
    const killed = performance.now();
    expect(await ours.elected).toEqual({ holder: "ours", transitions: leaseTransitions + 1 });
    expect(performance.now() - killed).toBeLessThan(timing.leaseDuration + timing.retryPeriod + ROOM);
    clientGo(at);
    await new Promise((resolve) => setTimeout(resolve, timing.leaseDuration + timing.retryPeriod));
    expect(ours.left()).toBeGreaterThan(0);
    await ours.leave();
    await expect.poll(async () => (await holder()).holderIdentity).toMatch(/.+/);
    expect((await holder()).leaseTransitions).toBeGreaterThan(leaseTransitions + 1);
  });
});
