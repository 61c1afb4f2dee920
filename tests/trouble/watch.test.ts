// Watches that tell late, or have silently fallen dumb.
import { setTimeout } from "node:timers/promises";
import { controller } from "@janus/controller";
import { jsonLog } from "@janus/runtime/parts";
import { type Api, connect } from "@janus/kube";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { violations } from "../crash/invariants.ts";
import { configMap, patch, spec, transaction } from "../crash/objects.ts";
import { runScenario } from "../crash/run-scenario.ts";
import { asPlanned, scenarios } from "../crash/scenario.ts";
import { type Users as Place, newUsers as newPlace } from "../crash/users.ts";
import { sideBySide } from "../fixtures/side-by-side.ts";
import { tunnel } from "../fixtures/tunnel.ts";
import { newTestBed, type TestBed } from "./test-bed.ts";

let testBed: TestBed;
beforeAll(async () => void (testBed = await newTestBed()));
afterAll(() => testBed.clear());

const TIMES = { writeTimeout: 1500, deadline: 5000, connections: 512 };

/** Works on the Transactions of a place until the test has ended. */
const work = (api: Api, { namespace }: Place) => {
  const janus = controller(api, {
    settings: { controllerNamespace: "janus-system", writeTimeout: 1500, margin: 100, recoveryDelay: 3_600_000 },
    concurrency: 4,
    identity: "test",
    log: jsonLog("error"),
    watchNamespaces: [namespace],
  });
  onTestFinished(janus.stop);
  return janus;
};

const submit = ({ create }: Place, value: string) =>
  create({ ...transaction, spec: spec([patch(configMap("a"), { data: { value } })]) });

const phaseOf = async ({ read }: Place): Promise<unknown> =>
  ((await read(transaction))["status"] as { readonly phase?: string } | undefined)?.phase;

/** Over, and without our finalizer. */
const isLetGo = async ({ read }: Place): Promise<boolean> => {
  const txn = await read(transaction);
  return (txn["status"] as { readonly phase?: string }).phase !== "Pending" && txn.metadata.finalizers === undefined;
};

const valueOf = async ({ read }: Place): Promise<unknown> =>
  ((await read(configMap("a")))["data"] as { readonly value: string }).value;

/** How late a watch tells what it tells, in ms. */
const LAG = 3000;

it("takes nothing for new, or for the last word, that a watch tells late", async () => {
  const theirs = connect(testBed.inFront.way({ watchesLag: LAG }), TIMES);
  const wrong = await sideBySide(6, scenarios, async (scenario) => {
    const [late, planned] = await Promise.all([
      runScenario({ ...testBed.environment, theirs }, scenario, []),
      runScenario(testBed.environment, asPlanned(scenario), []),
    ]);
    return violations(late, planned).map((text) => `${scenario.name}: ${text}`);
  });
  expect(wrong.flat()).toEqual([]);

  // One after the other of the same name, each long over when the watch tells of it.
  const { api, find } = testBed.environment;
  const place = await newPlace(api, find);
  await place.create(configMap("a", { value: "0" }));
  work(theirs, place);
  for (const value of ["1", "2", "3"]) {
    await submit(place, value);
    await expect.poll(() => isLetGo(place)).toBe(true);
    expect([await phaseOf(place), await valueOf(place)]).toEqual(["Committed", value]);
    await place.remove(transaction);
  }
  const { metadata } = await place.read(configMap("a"));
  await setTimeout(LAG + 500);
  expect((await place.read(configMap("a"))).metadata.resourceVersion).toBe(metadata.resourceVersion);
  await theirs.close();
});

it("notices a watch that has silently fallen dumb, and what it did not tell", async () => {
  const way = await tunnel({ port: Number(new URL(testBed.controlPlane.url).port) });
  const theirs = connect({ ...testBed.connection, server: `https://127.0.0.1:${way.port}` }, TIMES);
  const { api, find } = testBed.environment;
  const place = await newPlace(api, find);
  await place.create(configMap("a", { value: "0" }));
  await work(theirs, place).synced;
  await submit(place, "1");
  await expect.poll(() => isLetGo(place)).toBe(true);
  await place.remove(transaction);
  // The connections that are there stay, and say nothing any more; new ones work.
  way.mute();
  await submit(place, "2");
  await setTimeout(10_000);
  expect(await phaseOf(place)).toBe("Pending");
  await expect.poll(() => phaseOf(place), { interval: 500 }).toBe("Committed");
  expect(await valueOf(place)).toBe("2");
  await theirs.close();
});
