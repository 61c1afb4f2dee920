import { setTimeout } from "node:timers/promises";
import { connect, type Hook, type Request } from "@janus/kube";
import { afterAll, beforeAll, expect, it } from "vitest";
import { violations } from "../crash/invariants.ts";
import { type Environment, type ScenarioRun, runScenario } from "../crash/run-scenario.ts";
import { asPlanned, type Scenario, scenarios } from "../crash/scenario.ts";
import { tunnel } from "../fixtures/tunnel.ts";
import { newTestBed, type TestBed } from "./test-bed.ts";

let testBed: TestBed;
// It waits for so long for watches when it is to end; 60 s by default.
beforeAll(async () => void (testBed = await newTestBed(["--request-timeout=5s"])));
afterAll(() => testBed.clear());

/** Runs at once, each at another point of its way when the trouble comes. */
const PLAYS = 12;

/** One that commits and one that is rolled back. */
const scripts: readonly Scenario[] = (["Committed", "RolledBack"] as const).flatMap(
  (outcome) => scenarios.findLast((one) => one.outcome === outcome) ?? [],
);

/** Requests of which there are as many each time, whatever time it takes. */
const isSteady = ({ purpose = "" }: Request): boolean =>
  !["reflect", "event", "renew-lock", "read-lock"].includes(purpose);

/** Stops at its n-th request until it is let go. */
const standstill = (n: number, go: Promise<void>): { readonly hook: Hook; readonly reached: Promise<void> } => {
  const reached = Promise.withResolvers<void>();
  let count = 0;
  return {
    reached: reached.promise,
    hook: async (request, next) => {
      if (!isSteady(request)) return next(request);
      count += 1;
      if (count >= n) {
        reached.resolve();
        await go;
      }
      return next(request);
    },
  };
};

interface Baseline {
  readonly scenario: Scenario;
  readonly planned: ScenarioRun;
  /** Requests of an undisturbed run. */
  readonly length: number;
}

const measureBaseline = async (scenario: Scenario): Promise<Baseline> => {
  let length = 0;
  const count: Hook = (request, next) => {
    if (isSteady(request)) length += 1;
    return next(request);
  };
  const [undisturbed, planned] = await Promise.all([
    runScenario(testBed.environment, scenario, [], "at once", [count]),
    runScenario(testBed.environment, asPlanned(scenario), []),
  ]);
  expect(violations(undisturbed, planned)).toEqual([]);
  return { scenario, planned, length };
};

/** Lets trouble come when every run is at another point of its way; what is wrong with how they end. */
const struck = async (
  environment: Environment,
  trouble: (go: () => void) => Promise<void>,
): Promise<readonly string[]> => {
  const baseline = await Promise.all(scripts.map(measureBaseline));
  const go = Promise.withResolvers<void>();
  const points = Array.from({ length: PLAYS }, (_, index) => {
    const { length, ...script } = baseline[index % baseline.length] as Baseline;
    const at = 1 + Math.floor(((index + 0.5) / PLAYS) * length);
    return { ...script, at, ...standstill(at, go.promise) };
  });
  const ends = points.map(async ({ scenario, planned, at, hook }) => {
    const wrong = await runScenario(environment, scenario, [], "at once", [hook]).then(
      (end) => violations(end, planned),
      (error: unknown) => [String(error)],
    );
    return wrong.map((text) => `${scenario.name}, at request ${at}: ${text}`.slice(0, 2000));
  });
  await Promise.all(points.map(({ reached }, index) => Promise.race([reached, ends[index]])));
  await trouble(go.resolve);
  return (await Promise.all(ends)).flat();
};

it.each(["SIGTERM", "SIGKILL"] as const)(
  "every Transaction goes on when the API server was restarted (%s), wherever it was",
  { timeout: 300_000 },
  async (signal) => {
    const wrong = await struck(testBed.environment, async (go) => {
      const back = testBed.controlPlane.restart("kube-apiserver", signal);
      go();
      await back;
    });
    expect(wrong).toEqual([]);
  },
);

it("every Transaction goes on when etcd has paused, wherever it was", { timeout: 300_000 }, async () => {
  const wrong = await struck(testBed.environment, async (go) => {
    testBed.controlPlane.pause("etcd");
    go();
    await setTimeout(7000);
    testBed.controlPlane.resume("etcd");
  });
  expect(wrong).toEqual([]);
});

it("every Transaction goes on when connections are cut again and again, the watch's among them", {
  timeout: 300_000,
}, async () => {
  const way = await tunnel({ port: Number(new URL(testBed.controlPlane.url).port) });
  const { server } = testBed.connection;
  const theirs = connect(
    { ...testBed.connection, server: server.replace(/\d+$/, `${way.port}`) },
    { writeTimeout: 1500, deadline: 5000, connections: 512 },
  );
  const wrong = await struck({ ...testBed.environment, theirs }, async (go) => {
    go();
    for (let times = 0; times < 20; times += 1) {
      await setTimeout(50 + 17 * times);
      way.cut();
    }
  });
  await theirs.close();
  expect(wrong).toEqual([]);
});
