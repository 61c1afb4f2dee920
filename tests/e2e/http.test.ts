import { describe, expect, it } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { type ControllerProcess, controllerProcess } from "../fixtures/controller-process.ts";
import { TIMING_FLAGS } from "../fixtures/leader-timing.ts";
import { workspace } from "../fixtures/workspace.ts";

const QUICK = ["--http-port=0", ...TIMING_FLAGS];

/** A controller of this namespace alone, which takes part in an election of its own. */
const replica = (namespace: string, pod: string | undefined, ...flags: readonly string[]): ControllerProcess =>
  controllerProcess(
    [
      ...QUICK,
      `--kubeconfig=${controlPlane.kubeconfig}`,
      `--namespace=${namespace}`,
      `--watch-namespace=${namespace}`,
      ...flags,
    ],
    pod === undefined ? {} : { POD_NAME: pod, POD_NAMESPACE: namespace },
  );

const ask = async ({ url }: ControllerProcess, path: string, method = "GET"): Promise<Response | undefined> => {
  const at = url();
  return at === undefined ? undefined : await fetch(`${at}${path}`, { method });
};
const status = async (of: ControllerProcess, path: string): Promise<number | undefined> =>
  (await ask(of, path))?.status;
const statusOf = async (of: ControllerProcess) =>
  (await (await ask(of, "/status"))?.json()) as Readonly<Record<string, unknown>> | undefined;
const leads = async (of: ControllerProcess): Promise<unknown> => (await statusOf(of))?.["leader"];

const leaderAndStandby = async (...flags: readonly string[]) => {
  const { namespace } = await workspace();
  const leader = replica(namespace, undefined, ...flags);
  await expect.poll(() => leads(leader)).toBe(true);
  const standby = replica(namespace, undefined, ...flags);
  const identity = (await statusOf(leader))?.["identity"];
  await expect.poll(async () => (await statusOf(standby))?.["leader_identity"]).toBe(identity);
  return { leader, standby };
};

describe("the leader and a standby", () => {
  it("are both ready, so that rolling updates and drains come to their end", async () => {
    const { leader, standby } = await leaderAndStandby();
    for (const one of [leader, standby]) {
      await expect.poll(() => status(one, "/readyz")).toBe(200);
      expect(await status(one, "/healthz")).toBe(200);
    }
  });

  it("are not both ready with --readiness=leader, until the standby leads", async () => {
    const { leader, standby } = await leaderAndStandby("--readiness=leader");
    await expect.poll(() => status(leader, "/readyz")).toBe(200);
    const answer = await ask(standby, "/readyz");
    expect(answer?.status).toBe(503);
    expect(await answer?.text()).toBe("not ready: this controller is not the leader\n");
    leader.kill("SIGTERM");
    await expect.poll(() => status(standby, "/readyz")).toBe(200);
  });

  it("take nothing that would change something: the standby names the leader, and there is nothing to be changed", async () => {
    const { leader, standby } = await leaderAndStandby();
    const identity = String((await statusOf(leader))?.["identity"]);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const elsewhere = await ask(standby, "/status", method);
      expect(elsewhere?.status).toBe(503);
      expect(elsewhere?.headers.get("retry-after")).toBe("1");
      expect(await elsewhere?.text()).toContain(identity);
      const here = await ask(leader, "/anything", method);
      expect(here?.status).toBe(405);
      expect(here?.headers.get("allow")).toBe("GET, HEAD");
    }
    expect((await ask(standby, "/healthz", "HEAD"))?.status).toBe(200);
    expect(await status(leader, "/anything")).toBe(404);
  });
});

const LABEL = "backup.janus.io/leader";
const podOf = (name: string, namespace: string, labels = {}) => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace, labels: { app: "janus", ...labels } },
  spec: { containers: [{ name: "controller", image: "none" }] },
});

const pods = async () => {
  const { namespace, create, read } = await workspace();
  await create({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } }).catch(() => {});
  return {
    namespace,
    create: (name: string, labels = {}) => administrator.create(podOf(name, namespace, labels)),
    labelsOf: async (name: string) => (await read(podOf(name, namespace))).metadata.labels,
  };
};

describe("the leader's mark", () => {
  const marked = { app: "janus", [LABEL]: "true" };

  it("is on the Pod of the leader alone, and comes off when that has lost leadership", async () => {
    const { namespace, create, labelsOf } = await pods();
    await create("one");
    // The other one has crashed while it led.
    await create("other", { [LABEL]: "true" });
    const one = replica(namespace, "one");
    await expect.poll(() => labelsOf("one")).toEqual(marked);
    replica(namespace, "other");
    await expect.poll(() => labelsOf("other")).toEqual({ app: "janus" });
    one.kill("SIGTERM");
    expect(await one.ended).toBe(0);
    expect(await labelsOf("one")).toEqual({ app: "janus" });
    await expect.poll(() => labelsOf("other")).toEqual(marked);
  });

  it("is not on the Pod of the leader where only the leader is ready", async () => {
    const { namespace, create, labelsOf } = await pods();
    await create("one");
    const one = replica(namespace, "one", "--readiness=leader");
    await expect.poll(() => status(one, "/readyz")).toBe(200);
    expect(await labelsOf("one")).toEqual({ app: "janus" });
  });

  it("stops nothing where it cannot be written, and is written when it can", async () => {
    const { namespace, create, labelsOf } = await pods();
    const one = replica(namespace, "late");
    await expect.poll(() => status(one, "/readyz")).toBe(200);
    await expect.poll(() => leads(one)).toBe(true);
    const isTold = () => one.log.some(({ message }) => message.startsWith("the leader label could not be added to"));
    await expect.poll(isTold).toBe(true);
    await create("late");
    await expect.poll(() => labelsOf("late")).toEqual(marked);
  });
});
