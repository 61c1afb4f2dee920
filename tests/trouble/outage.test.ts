// The API server or etcd is away for a while: every Transaction goes on, wherever it was.
import { setTimeout } from "node:timers/promises";
import { connect } from "@janus/kube";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Environment } from "../crash/run-scenario.ts";
import { tunnel } from "../fixtures/tunnel.ts";
import { struckAnywhere } from "./any-controller.ts";
import { newTestBed, type TestBed } from "./test-bed.ts";
import { OUTCOMES, transactionRun } from "./transactions.ts";

let testBed: TestBed;
// It waits for so long for watches when it is to end; 60 s by default.
beforeAll(async () => void (testBed = await newTestBed(["--request-timeout=5s"])));
afterAll(() => testBed.clear());

/** Runs at once, each at another point of its way when the trouble comes. */
const AT_ONCE = 12;

/** What is wrong with how Transactions end that meet it; by way of `theirs`. */
const struck = async (
  trouble: (go: () => void) => Promise<void>,
  theirs?: Environment["theirs"],
): Promise<readonly string[]> => {
  const runs = await Promise.all(OUTCOMES.map((outcome) => transactionRun(testBed.environment, outcome, theirs)));
  return struckAnywhere(runs, AT_ONCE, trouble);
};

it.each(["SIGTERM", "SIGKILL"] as const)(
  "every Transaction goes on when the API server was restarted (%s), wherever it was",
  async (signal) => {
    const wrong = await struck(async (go) => {
      const back = testBed.controlPlane.restart("kube-apiserver", signal);
      go();
      await back;
    });
    expect(wrong).toEqual([]);
  },
);

it("every Transaction goes on when etcd has paused, wherever it was", async () => {
  const wrong = await struck(async (go) => {
    await testBed.controlPlane.pause("etcd");
    go();
    await setTimeout(7000);
    testBed.controlPlane.resume("etcd");
  });
  expect(wrong).toEqual([]);
});

it("every Transaction goes on when connections are cut again and again, the watch's among them", async () => {
  const way = await tunnel({ port: Number(new URL(testBed.controlPlane.url).port) });
  const { server } = testBed.connection;
  const theirs = connect(
    { ...testBed.connection, server: server.replace(/\d+$/, `${way.port}`) },
    { writeTimeout: 1500, deadline: 5000, connections: 512 },
  );
  const wrong = await struck(async (go) => {
    go();
    for (let times = 0; times < 20; times += 1) {
      await setTimeout(50 + 17 * times);
      way.cut();
    }
  }, theirs);
  await theirs.close();
  expect(wrong).toEqual([]);
});
