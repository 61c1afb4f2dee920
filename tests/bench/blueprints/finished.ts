// A controller that starts with many finished ActionSets: how soon it works, what memory it takes, and what it asks when idle.
import { actionSets as resource } from "@janus/blueprints";
import { sideBySide } from "../../fixtures/side-by-side.ts";
import { create } from "../../load/world.ts";
import { RECIPE } from "./at-once.ts";
import { type Cluster, NAMESPACE } from "./cluster.ts";
import { counted, type Figure, numbers, seconds } from "../figures.ts";
import { useOf } from "../process-use.ts";
import { isComplete } from "./progress.ts";

const FINISHED = 1000;
/** Nothing is left to do when nothing was asked for so long, in ms. */
const QUIET = 5000;
/** In ms. */
const IDLE = 30_000;

/** Resolves when it has nothing left to do. */
const settled = async (requests: () => Promise<number>): Promise<void> => {
  for (let [before, now] = [-1, await requests()]; before !== now; [before, now] = [now, await requests()])
    await pause(QUIET);
};

const pause = (time: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, time));

/** @param model the name of one that is complete */
export const finishedFigures = async (place: Cluster, model: string): Promise<readonly Figure[]> => {
  const { api, actionSets, submit, onPod, asked, controller } = place;
  const { spec, status } = (await actionSets.when(model, isComplete)) as {
    readonly spec?: unknown;
    readonly status?: unknown;
  };
  await sideBySide(16, numbers(FINISHED), (n) =>
    create(api, resource, NAMESPACE, { metadata: { name: `finished-${n}` }, spec, status }),
  );
  await submit("first", RECIPE);
  const replica = await controller("with-finished");
  const first = new Promise<number>((resolve) => onPod(() => resolve(performance.now())));
  const start = performance.now();
  await replica.start();
  const ready = performance.now() - start;
  const begun = (await first) - start;
  await actionSets.when("first", isComplete);
  await settled(async () => (await asked()).filter(({ resource: of }) => of !== "leases").length);
  const before = (await asked()).length;
  await pause(IDLE);
  const idle = (await asked()).slice(before).map(({ verb, resource: of }) => `${verb} ${of}`);
  const { peak, resident } = useOf(replica.pid());
  return [
    {
      what: `${FINISHED} finished ActionSets present: from the start of the process to its first phase`,
      measured: `${seconds(begun)} (ready after ${seconds(ready)})`,
      most: "3 s",
    },
    {
      what: "its memory, resident",
      measured: `${peak.toFixed(0)} MiB at most, ${resident.toFixed(0)} MiB in the end`,
      most: "120 MiB",
    },
    {
      what: `its requests within ${seconds(IDLE)} in which it has nothing to do`,
      measured: counted(idle),
      most: "Lease and watches",
    },
  ];
};
