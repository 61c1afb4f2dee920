import { lockLease, transactions } from "@janus/api";
import { installation } from "@janus/deploy";
import { type KubeObject, listAll } from "@janus/kube";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFailed } from "vitest";
import { installed, type Installed, leaderOf } from "../fixtures/installed.ts";
import type { Replica } from "../fixtures/replica.ts";
import { share } from "../fixtures/sample.ts";
import { samplesOf, total } from "../fixtures/samples.ts";
import { bystander, quantile } from "./bystander.ts";
import { burst, home, NAMESPACES } from "./burst.ts";
import { type Crowd, firstCommit, isOver, phaseOf, submit, watchCrowd } from "./crowd.ts";
import { copyFinished } from "./finished.ts";
import { useOf, watchMemory } from "./meter.ts";
import { configMaps, leases } from "@janus/types";
import { allAtOnce, create, must, openNamespace } from "./world.ts";

/** With fewer, what the heap keeps in any case is more than what it keeps of them. */
const AT_ONCE = 1_000 / share({ npmTest: 4, ci: 4 });
const FINISHED = 10_000 / share({ npmTest: 20, ci: 10 });
const WAITING = 50;
/** From a restart of the API server on, in ms. */
const MEASURED = 60_000 / share({ npmTest: 6, ci: 4 });
/** Transactions at once that do what the others do, after which a controller has loaded, compiled and connected what it needs. */
const WARM_UP = 40;
/** In ms. */
const LEASE_DURATION = 30_000;
const RETRY_PERIOD = 2_000;

const flags = [
  `--leader-elect-lease-duration=${LEASE_DURATION}ms`,
  "--leader-elect-renew-deadline=25s",
  `--leader-elect-retry-period=${RETRY_PERIOD}ms`,
  "--write-timeout=3s",
];

const MiB = 2 ** 20;
const mib = (bytes: number): string => `${(bytes / MiB).toFixed(0)} MiB`;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
const ms = (time: number): string => `${time.toFixed(0)} ms`;
const report: string[] = [];

const bytesOf = (objects: readonly KubeObject[]): number => JSON.stringify(objects).length;

/** Of the Deployment that is installed, in bytes. */
const memoryLimit = (): number => {
  const deployment = installation().find(({ kind }) => kind === "Deployment") as unknown as {
    readonly spec: {
      readonly template: {
        readonly spec: {
          readonly containers: readonly { readonly resources: { readonly limits: { memory: string } } }[];
        };
      };
    };
  };
  const [, count] = /^(\d+)Mi$/.exec(deployment.spec.template.spec.containers[0]?.resources.limits.memory ?? "") ?? [];
  return Number(count) * MiB;
};

let stage: Installed;
let crowd: Crowd;
let running: readonly Replica[] = [];
/** Of the heap, before there was anything to do. */
let atRest = 0;
let toFirstCommit = 0;
/** From the start of a process, with all finished ones present, to its first commit. */
let toStart = 0;

beforeAll(async () => {
  stage = await installed(flags);
  crowd = await watchCrowd(stage.api);
});
afterAll(async () => {
  crowd.stop();
  await stage.end();
  console.log(["", "Under load:", ...report].join("\n  "));
});

/** Each goes on where the one before it has ended. */
let isBroken = false;
beforeEach(({ skip }) => {
  skip(isBroken, "the one before it has failed");
  onTestFailed(() => {
    isBroken = true;
  });
});

/** Until the last events are told and forgotten. */
const quiet = () => new Promise((resolve) => setTimeout(resolve, 6_000));

const started = async (name: string) => {
  const replica = await stage.replica(name);
  const began = performance.now();
  await replica.start();
  return { replica, ready: performance.now() - began };
};
const dispatched = async () => {
  const samples = samplesOf(await stage.kubectl("get", "--raw", "/metrics"));
  const count = (metric: string, schema: string): number =>
    total(samples, `apiserver_flowcontrol_${metric}_total`, { flow_schema: schema });
  return { count, rejected: total(samples, "apiserver_flowcontrol_rejected_requests_total") };
};

describe("under load", { timeout: 1_800_000 }, () => {
  it(`commits ${AT_ONCE} Transactions that are created at once, each change of them, and crowds out nobody`, async () => {
    const { api } = stage;
    const many = burst(api, AT_ONCE);
    await many.prepare();
    const { replica } = await started("first");
    toFirstCommit = await firstCommit(api, crowd, home, "alone");
    const warmUp = Array.from({ length: WARM_UP }, (_, n) => `warm-up-${n}`);
    await create(api, configMaps, home, { metadata: { name: "warm" } });
    await allAtOnce(warmUp, (name) => submit(api, home, name, [made(name), alike(name)]));
    await crowd.over();
    await quiet();
    atRest = await replica.heapInUse();
    const memory = watchMemory(replica);
    const onlooker = bystander(await stage.as("system:serviceaccount:load-1:deployer"), "load-1", "shared");
    const began = performance.now();
    await many.submit();
    const created = performance.now() - began;
    await crowd.over();
    const took = performance.now() - began;
    const { times, refused } = await onlooker.end();

    expect(crowd.all().filter((one) => phaseOf(one) !== "Committed")).toEqual([]);
    expect(crowd.all()).toHaveLength(AT_ONCE + WARM_UP + 1);
    expect(await many.wrong()).toEqual([]);
    expect(refused).toEqual([]);
    const { count, rejected } = await dispatched();
    expect(rejected).toBe(0);
    expect(count("dispatched_requests", "janus-controller-leases")).toBeGreaterThan(2 * AT_ONCE);
    expect(count("dispatched_requests", "janus-controller")).toBeGreaterThan(5 * AT_ONCE);
    const leftBehind = must(await listAll(api, { resource: leases })).items.filter(({ metadata: { namespace = "" } }) =>
      NAMESPACES.includes(namespace),
    );
    expect(leftBehind).toEqual([]);
    expect(replica.falls()).toBe(0);
    const most = memory.end();
    expect(most).toBeLessThan(memoryLimit());
    // It tells the last events, and forgets them, as fast as the machine lets it.
    let kept = 0;
    const settled = async () => {
      await quiet();
      kept = (await replica.heapInUse()) - atRest;
      return kept;
    };
    await expect.poll(settled, { interval: 0 }).toBeLessThan(bytesOf(crowd.all()));
    const use = await useOf(replica);
    report.push(
      `${AT_ONCE} Transactions of 2 and 3 changes, created within ${seconds(created)}: Committed after ${seconds(took)}, none Failed`,
      `their requests: ${(use.requests / AT_ONCE).toFixed(0)} each, ${((1000 * use.requests) / took).toFixed(0)} a second; ${use.tooMany} met 429`,
      `another client's GET meanwhile: median ${ms(quantile(times, 0.5))}, 99 of 100 within ${ms(quantile(times, 0.99))}, none refused`,
      `memory: ${mib(most)} at most, of ${mib(memoryLimit())} that the Deployment allows; heap in use ${mib(atRest)} before, and ${mib(kept)} more afterwards`,
    );
    running = [replica];
  });

  it(`needs little memory and time for ${FINISHED} finished ones`, async () => {
    const { api } = stage;
    await openNamespace(api, "models");
    await submit(api, "models", "expires", [made("expires")], { ttlSecondsAfterFinished: 86_400 });
    await submit(api, "models", "refused", [{ type: "Delete", target: cm("missing") }]);
    await rolledBack();
    await crowd.over();
    const models = crowd
      .all()
      .filter(({ metadata: { namespace, name } }) => namespace === "models" || name === "txn-1");
    expect(new Set(models.map(phaseOf))).toEqual(new Set(["Committed", "Failed", "RolledBack"]));
    await Promise.all(running.map((one) => one.stop()));

    // Mostly Committed ones.
    const committed = models.filter((one) => phaseOf(one) === "Committed");
    await copyFinished(
      api,
      [...committed, ...committed, ...committed, ...models],
      NAMESPACES,
      FINISHED - crowd.all().length,
    );
    await expect.poll(() => crowd.all().length).toBe(FINISHED);
    const beganList = performance.now();
    must(await listAll(api, { resource: transactions }));
    const list = performance.now() - beganList;

    const starting = await stage.replica("second");
    const memory = watchMemory(starting);
    const began = performance.now();
    const [, commit] = await Promise.all([starting.start(), firstCommit(api, crowd, home, "first-of-second")]);
    toStart = performance.now() - began;
    await quiet();
    const most = memory.end();
    const kept = (await starting.heapInUse()) - atRest;
    const bytes = bytesOf(crowd.all());
    expect(crowd.all().filter((one) => !isOver(one))).toEqual([]);
    expect(kept).toBeLessThan(bytes / 2);
    expect(most).toBeLessThan(memoryLimit());
    expect(commit).toBeLessThan(5 * (list + toFirstCommit));
    report.push(
      `${FINISHED} finished ones present, ${mib(bytes)} of JSON; listing them takes ${seconds(list)}`,
      `a controller that starts then: its first commit after ${seconds(toStart)}`,
      `its memory: ${mib(most)} at most; heap in use for the finished ones ${mib(kept)}, ${(kept / FINISHED / 1024).toFixed(1)} KiB each`,
    );
    running = [starting];
  });

  it("fails over with all of them present", async () => {
    const { replica: standby } = await started("third");
    const [leader] = running;
    const began = performance.now();
    await leader?.kill();
    const took = await firstCommit(stage.api, crowd, home, "first-of-third");
    expect(took).toBeLessThan(LEASE_DURATION + RETRY_PERIOD + 5 * toStart);
    expect(await leaderOf([standby])).toBe(standby);
    report.push(
      `failover from a killed leader, with a lease of ${seconds(LEASE_DURATION)}: the first commit of the next one after ${seconds(performance.now() - began)}`,
    );
    await leader?.start();
    running = leader === undefined ? [] : [standby, leader];
  });

  it(`answers a restart of the API server with no storm of requests, ${WAITING} Transactions under way`, async () => {
    const { api } = stage;
    const names = Array.from({ length: WAITING }, (_, n) => `locked-${n}`);
    await allAtOnce(names, lockBySomebody);
    await allAtOnce(names, (name) => submit(api, "models", name, [made(name)]));
    await expect.poll(() => crowd.all().filter((one) => phaseOf(one) === "Preparing").length).toBe(WAITING);
    const requests = async (): Promise<number> => {
      const uses = await Promise.all(running.map(useOf));
      return uses.reduce((sum, use) => sum + use.requests, 0);
    };
    const during = async (
      time: number,
      also: () => Promise<unknown>,
    ): Promise<{ readonly count: number; readonly rate: number }> => {
      const before = await requests();
      const began = performance.now();
      await also();
      await new Promise((resolve) => setTimeout(resolve, time));
      const count = (await requests()) - before;
      return { count, rate: (1000 * count) / (performance.now() - began) };
    };
    const before = await during(MEASURED / 3, async () => {});
    let away = 0;
    const restarted = await during(MEASURED, async () => {
      const began = performance.now();
      await stage.controlPlane.restart("kube-apiserver");
      away = performance.now() - began;
    });
    // What there is to be read anew: pages of 500, twice at most.
    const anew = (2 * FINISHED) / 500;
    expect(restarted.rate).toBeLessThan(1.5 * before.rate + anew / (MEASURED / 1000));
    await Promise.all(
      names.map((name) => api.send({ verb: "delete", resource: leases, namespace: "models", name: leaseOf(name) })),
    );
    await crowd.over();
    const ends = crowd.all().filter(({ metadata: { name } }) => names.includes(name ?? ""));
    expect(new Set(ends.map(phaseOf))).toEqual(new Set(["Committed"]));
    expect(running.map((one) => one.falls())).toEqual(running.map(() => 0));
    report.push(
      `requests with ${WAITING} Transactions that wait for locks: ${before.rate.toFixed(1)} a second; ${restarted.rate.toFixed(1)} a second in the time from a restart of the API server on (it was away for ${seconds(away)})`,
    );
  });
});

const cm = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", name });
const made = (name: string) => ({ type: "Create", target: cm(name), content: { data: { made: "yes" } } });
const alike = (name: string) => ({ type: "Patch", target: cm("warm"), content: { data: { [name]: "in" } } });
const leaseOf = (name: string): string => lockLease({ group: "", kind: "ConfigMap", namespace: "models", name });

const lockBySomebody = (name: string): Promise<KubeObject> =>
  create(stage.api, leases, "models", {
    metadata: { name: leaseOf(name) },
    spec: {
      holderIdentity: "somebody",
      leaseDurationSeconds: 3600,
      renewTime: new Date().toISOString().replace("Z", "000Z"),
    },
  });

/** Its gate is never met: the time is over when the change was made. */
const rolledBack = (): Promise<KubeObject> =>
  submit(stage.api, "models", "rolled-back", [{ ...made("unready"), waitFor: ["jsonpath={.data.made}=never"] }], {
    timeout: "20s",
  });
