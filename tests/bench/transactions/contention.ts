// Many Transactions that want the same targets: all at the same time, against one after another.
import { sideBySide } from "../../fixtures/side-by-side.ts";
import { timed } from "../figures.ts";
import type { Cluster } from "./cluster.ts";
import type { Controllers } from "./controllers.ts";
import { namesOf, patch } from "./objects.ts";
import type { Scenario, Side } from "./scenario.ts";

const COUNT = 50;
const TARGETS = 3;

export const CONTENTION = `${COUNT} Transactions on the same ${TARGETS} targets`;

export const contention = (cluster: Cluster, { running }: Controllers): Scenario => {
  const side =
    (atOnce: number): Side =>
    async (round) => {
      await running();
      await cluster.haveTargets("janus", TARGETS);
      const names = namesOf(`contending-${atOnce}-${round}`, COUNT);
      const ms = await timed(() =>
        sideBySide(atOnce, names, (name) =>
          cluster.reach(
            "Committed",
            name,
            namesOf("janus", TARGETS).map((target) => patch(target, name)),
          ),
        ),
      );
      await cluster.over(names);
      return { ms };
    };
  return { name: CONTENTION, rounds: [1, 3], sides: { "all at once": side(COUNT), "one after another": side(1) } };
};
