import { setTimeout } from "node:timers/promises";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import type { Replica } from "../fixtures/replica.ts";
import type { Tunnel } from "../fixtures/tcp-tunnel.ts";
import type { Random } from "./random.ts";

/** A controller, and its way to the API server. */
export interface Reached {
  readonly replica: Replica;
  readonly way: Tunnel;
}

export interface Faults {
  /** Injects faults until `until` says so; in the end all is whole again. */
  readonly run: (until: () => boolean) => Promise<void>;
  /** How many there were of each kind. */
  readonly counts: () => ReadonlyMap<string, number>;
}

/** Of the whole control plane one at a time. */
type Fault = readonly [name: string, weight: number, inject: () => Promise<unknown>];

export const faults = (
  reached: readonly Reached[],
  { restart, pause, resume }: ControlPlane,
  chance: Random,
  tell: (what: string) => void,
): Faults => {
  const counts = new Map<string, number>();
  const controlPlaneFaults: readonly Fault[] = [
    ["the API server killed, and started again", 1, () => restart("kube-apiserver")],
    [
      "etcd paused",
      2,
      async () => {
        await pause("etcd");
        await setTimeout(chance.below(6000)).finally(() => resume("etcd"));
      },
    ],
  ];
  const replicaFaults = ({ replica, way }: Reached): readonly Fault[] => [
    [`a controller killed`, 3, async () => replica.signal("SIGKILL")],
    [`a controller told to end`, 1, async () => replica.signal("SIGTERM")],
    [
      `a controller stopped and woken`,
      3,
      async () => {
        replica.signal("SIGSTOP");
        await setTimeout(chance.below(12_000)).finally(() => replica.signal("SIGCONT"));
      },
    ],
    [`the connections of a controller cut`, 3, async () => way.cut()],
    [
      `the connections of a controller stalled`,
      3,
      async () => {
        way.close();
        await setTimeout(chance.below(8000)).finally(way.open);
      },
    ],
  ];

  const any = (all: readonly Fault[]): Fault => {
    let left = chance.below(all.reduce((sum, [, weight]) => sum + weight, 0));
    return all.find(([, weight]) => (left -= weight) < 0) ?? chance.pick(all);
  };
  const lane = async (until: () => boolean, choose: () => Fault, between: number): Promise<void> => {
    while (!until()) {
      await setTimeout(chance.below(between));
      if (until()) return;
      const [name, , inject] = choose();
      counts.set(name, (counts.get(name) ?? 0) + 1);
      tell(name);
      await inject();
    }
  };

  return {
    run: async (until) => {
      await Promise.all([
        lane(until, () => any(controlPlaneFaults), 60_000),
        ...reached.map((one) => lane(until, () => any(replicaFaults(one)), 15_000)),
      ]);
    },
    counts: () => counts,
  };
};
