// How soon Wait reacts: from the request that changes the object until the ActionSet is complete.
import { configMaps } from "@janus/types";
import { must, create } from "../../load/world.ts";
import { type Cluster, NAMESPACE } from "./cluster.ts";
import { type Figure, median, ms, numbers, quantile, timed } from "../figures.ts";
import { isComplete, isRunning } from "./progress.ts";

const ROUNDS = 15;
/** So long it waits before the change, in ms. */
const WAITS = 1000;

const waitFor = (name: string): object => ({
  func: "Wait",
  name: "wait",
  args: {
    timeout: "5m",
    conditions: {
      allOf: [
        {
          condition: `{{ if eq "{$.data.ready}" "yes" }}true{{ else }}false{{ end }}`,
          objectReference: { apiVersion: "v1", resource: "configmaps", name, namespace: NAMESPACE },
        },
      ],
    },
  },
});

export const waitFigures = async ({ api, recipe, submit, actionSets }: Cluster): Promise<readonly Figure[]> => {
  await create(api, configMaps, NAMESPACE, { metadata: { name: "awaited" }, data: { ready: "no" } });
  await recipe("wait", [waitFor("awaited")]);
  const set = async (ready: string): Promise<void> =>
    void must(
      await api.send({
        verb: "mergePatch",
        resource: configMaps,
        namespace: NAMESPACE,
        name: "awaited",
        body: { data: { ready } },
      }),
    );
  const times: number[] = [];
  for (const round of numbers(ROUNDS)) {
    const name = `wait-${round}`;
    await set("no");
    await submit(name, "wait");
    await actionSets.when(name, isRunning("wait"));
    await new Promise((resolve) => setTimeout(resolve, WAITS));
    times.push(
      await timed(async () => {
        await set("yes");
        await actionSets.when(name, isComplete);
      }),
    );
  }
  return [
    {
      what: "from a change until the Wait for it, and its ActionSet, are complete",
      measured: `${ms(median(times))} (median), ${ms(quantile(times, 1))} (longest of ${ROUNDS})`,
      most: "200 ms",
    },
  ];
};
