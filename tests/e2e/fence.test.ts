import { CONTROLLER_NAMES, controller, FENCE_NAMES } from "@janus/controller";
import { leadership } from "@janus/runtime/parts";
import { connect, type Hook, type KubeObject, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { isChangeOf } from "../fixtures/gate.ts";
import { REQUEST_DEADLINE, ROOM, timing } from "../fixtures/leader-timing.ts";
import { type FenceCluster, fenceCluster, leaderOf, type Replica } from "./fence-cluster.ts";

let cluster: FenceCluster;
beforeAll(async () => {
  cluster = await fenceCluster(({ kind }) => kind === "ValidatingAdmissionPolicyBinding");
});
afterAll(() => cluster.end());

const configMap = (name: string, version: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  data: { version },
});

const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

/** Creates these ConfigMaps with version 1, and a Transaction that takes them to version 2. */
const submit = async (name: string, targets: readonly string[]): Promise<void> => {
  await cluster.apply(...targets.map((target) => configMap(target, "1")));
  await cluster.apply({
    apiVersion: "backup.janus.io/v1alpha1",
    kind: "Transaction",
    metadata: { name },
    spec: {
      serviceAccountName: "deployer",
      changes: targets.map((target) => ({
        type: "Patch",
        target: { apiVersion: "v1", kind: "ConfigMap", name: target },
        content: { data: { version: "2" } },
      })),
    },
  });
};

const phaseOf = async (name: string): Promise<unknown> =>
  ((await cluster.read("transaction", name))["status"] as { readonly phase?: string } | undefined)?.phase;
const versionOf = (object: KubeObject): unknown => (object["data"] as { readonly version: string }).version;
const isChanged = (target: string) =>
  expect.poll(async () => versionOf(await cluster.read("configmap", target)), { interval: 5 }).toBe("2");
const becomes = (name: string, phase: string) => expect.poll(() => phaseOf(name)).toBe(phase);

/** A controller in this process, that `pausesAt` stops in its tracks at a request: it and all later ones are held up. */
const paused = (pausesAt: string) => {
  const [reached, opened, sent] = [
    Promise.withResolvers<void>(),
    Promise.withResolvers<void>(),
    Promise.withResolvers<Awaited<ReturnType<Hook>>>(),
  ];
  let isPaused = false;
  const hook: Hook = async (request, next) => {
    const isIt = !isPaused && isChangeOf(pausesAt)(request);
    isPaused ||= isIt;
    if (isIt) reached.resolve();
    if (isPaused) await opened.promise;
    const answer = await next(request);
    if (isIt) sent.resolve(answer);
    return answer;
  };
  return { hook, reached: reached.promise, wake: opened.resolve, sent: sent.promise };
};

const candidate = (identity: string, ...hooks: readonly Hook[]) => {
  const config = loadConfig({}, cluster.kubeconfig);
  if (E.isLeft(config)) throw new Error(config.left);
  const client = connect(config.right, { hooks, writeTimeout: timing.writeTimeout, deadline: REQUEST_DEADLINE });
  const election = leadership(client, {
    names: CONTROLLER_NAMES,
    fence: FENCE_NAMES,
    identity,
    place: { namespace: "janus-system", name: "janus-controller-leader" },
    timing,
    deadline: REQUEST_DEADLINE,
    log: () => {},
  });
  onTestFinished(() => client.close());
  return { ...election, elected: election.elected.then((inTerm) => inTerm?.(client)) };
};

/** Works as the controller process does, as soon as it leads. */
const working = async (election: ReturnType<typeof candidate>): Promise<void> => {
  const api = await election.elected;
  if (api === undefined) throw new Error("lost before it began");
  const { stop } = controller(api, {
    settings: {
      controllerNamespace: "janus-system",
      writeTimeout: timing.writeTimeout,
      margin: 200,
      recoveryDelay: 1000,
    },
    concurrency: 4,
    identity: "test",
    log: () => {},
  });
  onTestFinished(async () => {
    await stop();
    await election.leave();
  });
};

/** A leader is paused right before a write to `target`, another one takes over, and the first one wakes. */
const pausedBeforeTheWrite = async (name: string) => {
  const [target = ""] = names(name, 1);
  const { hook, reached, wake, sent } = paused(target);
  const first = candidate("first", hook);
  await working(first);
  await submit(name, [target]);
  await reached;
  const second = candidate("second");
  await second.elected;
  expect(versionOf(await cluster.read("configmap", target))).toBe("1");
  return { first, second, target, wake, sent };
};

describe("a leader that is paused between its last check and the write itself, until another one leads", () => {
  // In this order: the policy is bound once and for all.
  it("would change the target when it wakes, if nothing but itself held it back", async () => {
    const { second, target, wake, sent } = await pausedBeforeTheWrite("unfenced");
    wake();
    expect(E.isRight(await sent)).toBe(true);
    expect(versionOf(await cluster.read("configmap", target))).toBe("2");
    expect(second.status().fence).not.toBe("up");
    await working(second);
    await becomes("unfenced", "Committed");
  });

  it("changes nothing when it wakes: the API server refuses the write, and it has lost leadership", async () => {
    await cluster.complete();
    const { first, second, target, wake, sent } = await pausedBeforeTheWrite("fenced");
    await expect.poll(() => second.status().fence).toBe("up");
    wake();
    expect(await sent).toMatchObject({
      left: { type: "refused", code: 422, message: expect.stringContaining("janus.io/fence") },
    });
    expect(versionOf(await cluster.read("configmap", target))).toBe("1");
    await first.over;
    await working(second);
    await becomes("fenced", "Committed");
    expect(versionOf(await cluster.read("configmap", target))).toBe("2");
  });
});

/** Of all ConfigMaps and Transactions. */
const versions = async (): Promise<readonly string[]> => {
  const columns = "custom-columns=KIND:.kind,NAME:.metadata.name,VERSION:.metadata.resourceVersion";
  const table = await cluster.kubectl("get", "configmaps,transactions", "-n=default", "-o", columns);
  return table.split("\n");
};

const replicas = async (...names: readonly string[]): Promise<readonly [Replica, Replica]> => {
  const [a, b] = await Promise.all(names.map((name) => cluster.replica(name)));
  if (a === undefined || b === undefined) throw new Error("two are needed");
  onTestFinished(async () => void (await Promise.all([a.kill(), b.kill()])));
  const leader = await leaderOf([a, b]);
  return leader === a ? [a, b] : [b, a];
};
/** How long it takes until it leads, in ms. */
const succession = async (heir: Replica): Promise<number> => {
  const began = performance.now();
  await leaderOf([heir]);
  return performance.now() - began;
};

describe("two controller processes", () => {
  it("agree on who leads, are both ready, and say so", async () => {
    const [leader, standby] = await replicas("a", "b");
    const identity = (await leader.status())?.identity;
    // It learns of a leader within its retry period.
    await expect.poll(standby.status).toMatchObject({
      leader: false,
      lease_name: "janus-controller-leader",
      lease_namespace: "janus-system",
      leader_identity: identity,
    });
    expect(await standby.get("/readyz")).toMatchObject({ status: 200 });
    expect((await standby.get("/metrics")).text).toContain("janus_leader_elected 0");
    expect((await leader.get("/metrics")).text).toContain("janus_leader_elected 1");
    await expect.poll(async () => (await leader.get("/metrics")).text).toContain("janus_fence_up 1");
    const events = ["get", "events", "-n=janus-system", "-o=jsonpath={.items[*].reason}"];
    await expect.poll(() => cluster.kubectl(...events)).toMatch(/LeaderElected.*FenceUp|FenceUp.*LeaderElected/);
  });

  it("replace a killed leader within the lease duration and a retry period", async () => {
    const [leader, standby] = await replicas("c", "d");
    await leader.kill();
    expect(await succession(standby)).toBeLessThan(timing.leaseDuration + timing.retryPeriod + ROOM);
  });

  it("replace one that ends in good order without waiting for its lease, also in the middle of its work", async () => {
    const [leader, standby] = await replicas("e", "f");
    const { term = 0 } = (await leader.status()) ?? {};
    const targets = names("handed-over", 300);
    await submit("handed-over", targets);
    await isChanged(targets[5] ?? "");
    leader.signal("SIGTERM");
    expect(await succession(standby)).toBeLessThan(timing.leaseDuration);
    expect(await standby.status()).toMatchObject({ leader: true, term: term + 1 });
    await expect.poll(leader.isRunning).toBe(false);
    await becomes("handed-over", "Committed");
  });

  it("let one finish what the other was stopped in the middle of, and that one changes nothing when it wakes", async () => {
    const [leader, standby] = await replicas("g", "h");
    // So many that it is not over when it is seen to have begun.
    const targets = names("halfway", 300);
    await submit("halfway", targets);
    await isChanged(targets[5] ?? "");
    leader.signal("SIGSTOP");
    expect(await phaseOf("halfway")).toBe("Committing");
    await leaderOf([standby]);
    await becomes("halfway", "Committed");
    // The one of the test before is cleaned up at the same moment: what its former leaders have sent is waited for, too.
    const finalizers = ["get", "transactions", "-n=default", "-o=jsonpath={.items[*].metadata.finalizers}"];
    await expect.poll(() => cluster.kubectl(...finalizers)).toBe("");
    const before = await versions();
    leader.signal("SIGCONT");
    await expect.poll(leader.isRunning).toBe(false);
    expect(await versions()).toEqual(before);
    expect(await standby.status()).toMatchObject({ leader: true });
  });
});

it("a fence that compares with a Lease of long ago holds nobody up: it counts as down until the API server is restarted", async () => {
  const before = await cluster.replica("before");
  await leaderOf([before]);
  await expect.poll(async () => (await before.status())?.fence).toBe("up");
  await cluster.replaceFence();
  await before.kill();
  const after = await cluster.replica("after");
  onTestFinished(() => after.kill());
  await leaderOf([after]);
  await submit("stale", names("stale", 3));
  await becomes("stale", "Committed");
  await expect.poll(async () => (await after.status())?.fence).toBe("down");
  const events = ["get", "events", "-n=janus-system", "-o=jsonpath={.items[*].message}"];
  await expect.poll(() => cluster.kubectl(...events)).toContain("restart the API server");
  await after.kill();
  await cluster.restartApiServer();
  const last = await cluster.replica("last");
  onTestFinished(() => last.kill());
  await leaderOf([last]);
  await expect.poll(async () => (await last.status())?.fence).toBe("up");
  await submit("fresh", names("fresh", 3));
  await becomes("fresh", "Committed");
});
