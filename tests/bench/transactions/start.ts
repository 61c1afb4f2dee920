// Start-up and failover with many finished Transactions present, and the memory of the controller, idle and at work.
import { transactions } from "@janus/api";
import { listAll } from "@janus/kube";
import { sideBySide } from "../../fixtures/side-by-side.ts";
import { copyFinished } from "../../load/finished.ts";
import { CONNECTIONS, must } from "../../load/world.ts";
import { timed } from "../figures.ts";
import { forgetPeak, useOf } from "../process-use.ts";
import { commitMany } from "./at-once.ts";
import { type Cluster, NAMESPACE } from "./cluster.ts";
import { type Controllers, leads } from "./controllers.ts";
import { namesOf, patch } from "./objects.ts";
import type { Scenario, Side } from "./scenario.ts";

/** Until memory is read, in ms: what the start has left behind is collected. */
const IDLE = 5000;
const [AT_WORK, LANES] = [32, 16];
const CHANGES = 10;

const commitOne = async (cluster: Cluster, name: string): Promise<void> => {
  await cluster.haveTargets("janus", CHANGES);
  await cluster.reach(
    "Committed",
    name,
    namesOf("janus", CHANGES).map((target) => patch(target, name)),
  );
};

/** So many finished Transactions are there, and no controller runs. */
const haveFinished = async (cluster: Cluster, controllers: Controllers, count: number): Promise<void> => {
  const { api } = cluster;
  const at = { resource: transactions, namespace: NAMESPACE };
  await controllers.running();
  const name = `model-${count}-${Date.now()}`;
  await commitOne(cluster, name);
  await cluster.over([name]);
  await controllers.stop();
  const model = must(await api.send({ verb: "get", ...at, name }));
  const { items } = must(await listAll(api, at));
  await sideBySide(CONNECTIONS, items, async ({ metadata }) =>
    must(await api.send({ verb: "delete", ...at, name: metadata.name ?? "" })),
  );
  await copyFinished(api, [model], [NAMESPACE], count);
};

const present = (finished: number): string => `${finished.toLocaleString("en")} finished present`;
export const startName = (finished: number): string => `start, ${present(finished)}`;

const start = (cluster: Cluster, controllers: Controllers, finished: number): Scenario => ({
  name: startName(finished),
  rounds: [finished === 0 ? 1 : 0, 3],
  sides: {
    Janus: async (round) => {
      if (round === 0) await haveFinished(cluster, controllers, finished);
      await controllers.stop();
      const name = `start-${finished}-${round}`;
      const replica = await controllers.another();
      const began = performance.now();
      const since = (): number => performance.now() - began;
      const starting = replica.start();
      const [leading, committed] = await Promise.all([
        leads(replica).then(since),
        commitOne(cluster, name).then(since),
        starting,
      ]);
      controllers.succeed(replica);
      await cluster.over([name]);
      await new Promise((resolve) => setTimeout(resolve, IDLE));
      const idle = useOf(replica.pid()).resident;
      forgetPeak(replica.pid());
      await commitMany(cluster, `work-${finished}-${round}`, AT_WORK, LANES);
      const atWork = useOf(replica.pid()).peak;
      return { "ms to leading": leading, "ms to first commit": committed, "MiB idle": idle, "MiB at work": atWork };
    },
  },
});

/** A standby takes over. @param how the leader ends */
const failover = (cluster: Cluster, controllers: Controllers, finished: number, how: "stop" | "kill"): Scenario => {
  const side: Side = async (round) => {
    const leader = await controllers.running();
    const standby = await controllers.another();
    await standby.start();
    const name = `${how}-${finished}-${round}`;
    const taken = await timed(async () => {
      await leader[how]();
      await commitOne(cluster, name);
    });
    controllers.succeed(standby);
    await cluster.over([name]);
    return { "ms to first commit": taken };
  };
  const ends = how === "stop" ? "is stopped" : "is killed";
  // A Lease that was not released has to expire, which takes half a minute.
  const quick = finished === 0 && how === "stop" ? 1 : 0;
  return { name: `failover, the leader ${ends}, ${present(finished)}`, rounds: [quick, 1], sides: { Janus: side } };
};

export const starts = (cluster: Cluster, controllers: Controllers, finished: number): readonly Scenario[] => [
  start(cluster, controllers, finished),
  failover(cluster, controllers, finished, "stop"),
  failover(cluster, controllers, finished, "kill"),
];
