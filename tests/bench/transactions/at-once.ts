// Many Transactions of ten Patches, so many at a time, against as many lanes of bare writes; and what CPU time that takes.
import { sideBySide } from "../../fixtures/side-by-side.ts";
import { numbers, timed } from "../figures.ts";
import { useOf } from "../process-use.ts";
import type { Cluster } from "./cluster.ts";
import type { Controllers } from "./controllers.ts";
import { namesOf, patch } from "./objects.ts";
import type { Measured, Scenario, Side } from "./scenario.ts";
import { bareWrites, requestsAlone } from "./ways.ts";

/** Of each Transaction. */
export const CHANGES = 10;
/** Until the last events are written, in ms. */
const SETTLING = 2000;

/** Each has targets of its own. Returns the ms until all are Committed; nothing is left to be done for them then. */
export const commitMany = async (cluster: Cluster, name: string, count: number, atOnce: number): Promise<number> => {
  await cluster.haveTargets("janus", count * CHANGES);
  const names = namesOf(name, count);
  const ms = await timed(() =>
    sideBySide(atOnce, names, (one, n) => {
      const targets = namesOf("janus", CHANGES, n * CHANGES);
      return cluster.reach(
        "Committed",
        one,
        targets.map((target) => patch(target, one)),
      );
    }),
  );
  await cluster.over(names);
  return ms;
};

const writeMany = async (cluster: Cluster, value: string, count: number, atOnce: number): Promise<number> => {
  await cluster.haveTargets("bare", count * CHANGES);
  return timed(() =>
    sideBySide(atOnce, numbers(count), (n) => bareWrites(cluster, namesOf("bare", CHANGES, n * CHANGES), value)),
  );
};

const COUNT = 64;

/** @param peer another controller, on a control plane of its own */
export const atOnce = (
  cluster: Cluster,
  { running }: Controllers,
  peer: Cluster | undefined,
  lanes: number,
  rounds: Scenario["rounds"],
): Scenario => {
  const committing =
    (on: Cluster): Side =>
    async (round) => ({ ms: await commitMany(on, `lanes-${lanes}-${round}`, COUNT, lanes) });
  return {
    name: `${COUNT} Transactions of ten, ${lanes} at a time`,
    rounds,
    sides: {
      Janus: async (round) => {
        await running();
        return committing(cluster)(round);
      },
      "bare writes": async (round) => ({ ms: await writeMany(cluster, `lanes-${lanes}-${round}`, COUNT, lanes) }),
      ...(peer === undefined ? {} : { peer: committing(peer) }),
    },
  };
};

const AT_ONCE = 50;
export const CPU = `CPU time, ${AT_ONCE} Transactions of ten at a time`;

const perThousand = (seconds: number): number => (seconds * 1000) / (AT_ONCE * CHANGES);

export const cpuTime = (cluster: Cluster, { running }: Controllers): Scenario => {
  const server = (): number => useOf(cluster.plane.pid("kube-apiserver")).cpu;
  /** Of the API server. */
  const spent = async (work: () => Promise<number>): Promise<Measured> => {
    const before = server();
    const ms = await work();
    await new Promise((resolve) => setTimeout(resolve, SETTLING));
    return { ms, "s of API server CPU per 1,000 changes": perThousand(server() - before) };
  };
  return {
    name: CPU,
    rounds: [1, 3],
    sides: {
      Janus: async (round) => {
        const { pid } = await running();
        await cluster.haveTargets("janus", AT_ONCE * CHANGES);
        const before = useOf(pid()).cpu;
        const measured = await spent(() => commitMany(cluster, `cpu-${round}`, AT_ONCE, AT_ONCE));
        return { ...measured, "s of controller CPU per 1,000 changes": perThousand(useOf(pid()).cpu - before) };
      },
      "bare writes": async (round) => {
        await cluster.haveTargets("bare", AT_ONCE * CHANGES);
        return spent(() => writeMany(cluster, `cpu-${round}`, AT_ONCE, AT_ONCE));
      },
      "its requests": async (round) => {
        await cluster.haveTargets("requests", AT_ONCE * CHANGES);
        const some = (n: number) => requestsAlone(cluster, namesOf("requests", CHANGES, n * CHANGES), `cpu-${round}`);
        return spent(() => timed(() => sideBySide(AT_ONCE, numbers(AT_ONCE), some)));
      },
    },
  };
};
