// The scenarios of a run, in order.
import { atOnce, cpuTime } from "./at-once.ts";
import type { Cluster } from "./cluster.ts";
import { contention } from "./contention.ts";
import type { Controllers } from "./controllers.ts";
import { gates } from "./gates.ts";
import { mixed } from "./mixed.ts";
import { rollback } from "./rollback.ts";
import type { Scenario } from "./scenario.ts";
import { starts } from "./start.ts";
import { bareWay, helmWay, kubectlWay, requestsWay, transactionWay, type Way } from "./ways.ts";

export interface Places {
  readonly cluster: Cluster;
  readonly controllers: Controllers;
  /** The program, if it is there. */
  readonly helm: string | undefined;
  /** Another controller, on a control plane of its own. */
  readonly peer: Cluster | undefined;
}

const SIZES: readonly (readonly [changes: number, rounds: Scenario["rounds"]])[] = [
  [1, [3, 9]],
  [10, [3, 9]],
  [50, [3, 5]],
  [200, [0, 3]],
  [500, [0, 3]],
];
const LANES: readonly (readonly [lanes: number, rounds: Scenario["rounds"]])[] = [
  [1, [0, 3]],
  [4, [0, 3]],
  [16, [1, 3]],
  [64, [0, 3]],
];

export const sizeName = (changes: number): string => (changes === 1 ? "one Patch" : `${changes} Patches`);

const ways = ({ cluster, controllers, helm, peer }: Places): Readonly<Record<string, Way>> => ({
  Janus: transactionWay(cluster, controllers.running),
  "bare writes": bareWay(cluster),
  "its requests": requestsWay(cluster),
  "kubectl apply": kubectlWay(cluster),
  ...(helm === undefined ? {} : { "helm upgrade": helmWay(cluster, helm) }),
  ...(peer === undefined ? {} : { peer: transactionWay(peer, () => Promise.resolve()) }),
});

/** Once each way, so that everything is loaded, compiled and connected. */
export const warmUp = async (places: Places): Promise<void> => {
  for (const way of Object.values(ways(places))) await way(10)(-1);
};

/** First what is guarded: a quick run may not come to its last ones. */
export const scenarios = (places: Places): readonly Scenario[] => {
  const { cluster, controllers, peer } = places;
  const all = Object.entries(ways(places));
  return [
    ...SIZES.map(([changes, rounds]) => ({
      name: sizeName(changes),
      rounds,
      sides: Object.fromEntries(all.map(([side, way]) => [side, way(changes)])),
    })),
    rollback(cluster, controllers),
    ...starts(cluster, controllers, 0),
    cpuTime(cluster, controllers),
    contention(cluster, controllers),
    mixed(cluster, controllers),
    ...gates(cluster, controllers),
    ...LANES.map(([lanes, rounds]) => atOnce(cluster, controllers, peer, lanes, rounds)),
    ...starts(cluster, controllers, 1000),
    ...starts(cluster, controllers, 10_000),
  ];
};
