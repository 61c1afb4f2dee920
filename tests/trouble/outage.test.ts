import { setTimeout } from "node:timers/promises";
import { connect, type Hook, type Request } from "@janus/kube";
import { afterAll, beforeAll, expect, it } from "vitest";
import { violations } from "../crash/invariants.ts";
import { type Casting, type Play, play } from "../crash/play.ts";
import { asPlanned, type Scenario, scenarios } from "../crash/scenario.ts";
import { tunnel } from "../fixtures/tunnel.ts";
import { setStage, type Stage } from "./stage.ts";

let stage: Stage;
// It waits for so long for watches when it is to end; 60 s by default.
beforeAll(async () => void (stage = await setStage(["--request-timeout=5s"])));
afterAll(() => stage.clear());

/** Plays at once, each at another point of its way when the trouble comes. */
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

interface Rehearsed {
  readonly scenario: Scenario;
  readonly planned: Play;
  /** Requests of an undisturbed play. */
  readonly length: number;
}

const rehearse = async (scenario: Scenario): Promise<Rehearsed> => {
  let length = 0;
  const count: Hook = (request, next) => {
    if (isSteady(request)) length += 1;
    return next(request);
  };
  const [undisturbed, planned] = await Promise.all([
    play(stage.casting, scenario, [], "at once", [count]),
    play(stage.casting, asPlanned(scenario), []),
  ]);
  expect(violations(undisturbed, planned)).toEqual([]);
  return { scenario, planned, length };
};

/** Lets trouble come when every play is at another point of its way; what is wrong with how they end. */
const struck = async (casting: Casting, trouble: (go: () => void) => Promise<void>): Promise<readonly string[]> => {
  const rehearsed = await Promise.all(scripts.map(rehearse));
  const go = Promise.withResolvers<void>();
  const points = Array.from({ length: PLAYS }, (_, index) => {
    const { length, ...script } = rehearsed[index % rehearsed.length] as Rehearsed;
    const at = 1 + Math.floor(((index + 0.5) / PLAYS) * length);
    return { ...script, at, ...standstill(at, go.promise) };
  });
  const ends = points.map(async ({ scenario, planned, at, hook }) => {
    const wrong = await play(casting, scenario, [], "at once", [hook]).then(
      (end) => violations(end, planned),
      (error: unknown) => [String(error)],
    );
    return wrong.map((text) => `${scenario.name}, at request ${at}: ${text}`.slice(0, 500));
  });
  await Promise.all(points.map(({ reached }, index) => Promise.race([reached, ends[index]])));
  await trouble(go.resolve);
  return (await Promise.all(ends)).flat();
};

it.each(["SIGTERM", "SIGKILL"] as const)(
  "every Transaction goes on when the API server was restarted (%s), wherever it was",
  { timeout: 300_000 },
  async (signal) => {
    const wrong = await struck(stage.casting, async (go) => {
      const back = stage.controlPlane.restart("kube-apiserver", signal);
      go();
      await back;
    });
    expect(wrong).toEqual([]);
  },
);

it("every Transaction goes on when etcd has paused, wherever it was", { timeout: 300_000 }, async () => {
  const wrong = await struck(stage.casting, async (go) => {
    stage.controlPlane.pause("etcd");
    go();
    await setTimeout(7000);
    stage.controlPlane.resume("etcd");
  });
  expect(wrong).toEqual([]);
});

it("every Transaction goes on when connections are cut again and again, the watch's among them", {
  timeout: 300_000,
}, async () => {
  const way = await tunnel({ port: Number(new URL(stage.controlPlane.url).port) });
  const { server } = stage.connection;
  const theirs = connect(
    { ...stage.connection, server: server.replace(/\d+$/, `${way.port}`) },
    { writeTimeout: 1500, deadline: 5000, connections: 512 },
  );
  const wrong = await struck({ ...stage.casting, theirs }, async (go) => {
    go();
    for (let times = 0; times < 20; times += 1) {
      await setTimeout(50 + 17 * times);
      way.cut();
    }
  });
  await theirs.close();
  expect(wrong).toEqual([]);
});
