import { controller, leadership, serve, watchdog } from "@janus/controller";
import { connect, type Hook, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { administrator } from "../fixtures/administrator.ts";
import { creating } from "../fixtures/changes.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { type ControllerProcess, controllerProcess } from "../fixtures/controller-process.ts";
import { gate } from "../fixtures/gate.ts";
import { configMap } from "../fixtures/manifests.ts";
import { tunnel } from "../fixtures/tunnel.ts";
import { workspace } from "../fixtures/workspace.ts";

const QUICK = [
  "--http-port=0",
  "--write-timeout=800ms",
  "--request-deadline=1500ms",
  "--leader-elect-lease-duration=3s",
  "--leader-elect-renew-deadline=2s",
  "--leader-elect-retry-period=500ms",
];

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
const leads = async (of: ControllerProcess): Promise<unknown> =>
  ((await (await ask(of, "/status"))?.json()) as { readonly leader: boolean } | undefined)?.leader;

const leaderAndStandby = async (...flags: readonly string[]) => {
  const { namespace } = await workspace();
  const leader = replica(namespace, undefined, ...flags);
  await expect.poll(() => leads(leader)).toBe(true);
  const standby = replica(namespace, undefined, ...flags);
  await expect.poll(() => leads(standby)).toBe(false);
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
    expect(await answer?.text()).toBe("not ready: another one leads, or nobody does\n");
    leader.kill("SIGTERM");
    await expect.poll(() => status(standby, "/readyz")).toBe(200);
  });

  it("take nothing that would change something: the standby names the leader, and there is nothing to be changed", async () => {
    const { leader, standby } = await leaderAndStandby();
    const { identity } = (await (await ask(leader, "/status"))?.json()) as { readonly identity: string };
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

describe("the leader's mark", () => {
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
  const marked = { app: "janus", [LABEL]: "true" };

  it("is on the Pod of the leader alone, and comes off when that leads no more", async () => {
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
    const isTold = () => one.log.some(({ message }) => message.startsWith("the leader's mark could not be put on"));
    await expect.poll(isTold).toBe(true);
    await create("late");
    await expect.poll(() => labelsOf("late")).toEqual(marked);
  });
});

describe("/healthz", () => {
  /** A controller in this process, with a watchdog that does not wait for long. */
  const watched = async (port: number, ...hooks: readonly Hook[]) => {
    const place = await workspace();
    const config = loadConfig({}, controlPlane.kubeconfig);
    if (E.isLeft(config)) throw new Error(config.left);
    const server = `https://127.0.0.1:${port}`;
    const client = connect({ ...config.right, server }, { hooks, deadline: 500, writeTimeout: 300 });
    const dog = watchdog(3000);
    const election = leadership(client, {
      identity: "one",
      place: { namespace: place.namespace, name: "leader" },
      timing: { leaseDuration: 60_000, renewDeadline: 50_000, retryPeriod: 200, writeTimeout: 300 },
      deadline: 500,
      log: () => {},
      watchdog: dog,
    });
    const { stop } = controller(client, {
      settings: { controllerNamespace: "janus-system", writeTimeout: 300, margin: 100, recoveryDelay: 60_000 },
      watchNamespace: place.namespace,
      concurrency: 4,
      identity: "test",
      log: () => {},
      watchdog: dog,
    });
    const http = await serve(0, {
      stuck: dog.stuck,
      unready: () => undefined,
      metrics: () => Promise.resolve(""),
      status: () => ({}),
      leaderElsewhere: () => undefined,
      retryAfter: 1,
    });
    onTestFinished(async () => {
      http.close();
      await Promise.race([stop(), new Promise((resolve) => setTimeout(resolve, 1000))]);
      await client.close();
      await election.leave();
    });
    const { port: at } = http.address() as { readonly port: number };
    const health = async () => {
      const answer = await fetch(`http://127.0.0.1:${at}/healthz`);
      return `${answer.status} ${(await answer.text()).trim()}`;
    };
    return { ...place, health };
  };
  const apiServer = Number(new URL(controlPlane.url).port);

  it.each([
    ["worker", "change"],
    ["reflector", "reflect"],
    ["lock renewal", "renew-lock"],
  ])("fails when the %s hangs, names it, and is well again when it goes on", async (loop, purpose) => {
    const { hook, reached, open } = gate((request) => request.purpose === purpose);
    const { submit, health } = await watched(apiServer, hook);
    await submit(
      Array.from({ length: 100 }, (_, n) => creating(configMap(`c${n}`))),
      { lockTimeout: "1s" },
    );
    await reached;
    const stuck = new RegExp(`^500 stuck: .*${loop}: no sign of life for \\d+ s`);
    await expect.poll(health).toMatch(stuck);
    open();
    await expect.poll(health).toBe("200 ok");
  });

  it("does not fail because the API server does not answer, or because there is nothing to do", async () => {
    const way = await tunnel({ port: apiServer });
    const { submit, over, health } = await watched(way.port);
    await submit([creating(configMap("a"))]);
    await over();
    way.close();
    await submit([creating(configMap("b"))], { name: "later" });
    const until = performance.now() + 8000;
    while (performance.now() < until) {
      expect(await health()).toBe("200 ok");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    way.open();
    await over("later");
    expect(await health()).toBe("200 ok");
  });
});
