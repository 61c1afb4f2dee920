// The metrics of leader election and the fence.
import { Counter, Gauge, Registry } from "prom-client";
import type { ControllerNames } from "../process/controller-names.ts";
import type { FenceState } from "./fence-watch.ts";

export interface LeaderMetrics {
  readonly registry: Registry;
  /** Called when the observed term has changed. */
  readonly changed: () => void;
  readonly fence: (state: FenceState) => void;
}

/**
 * @param isLeader whether this process leads now
 * @param hasFence whether there is one to tell about
 */
export const leaderMetrics = (
  { prefix }: ControllerNames,
  isLeader: () => boolean,
  hasFence: boolean,
): LeaderMetrics => {
  const registry = new Registry();
  registry.registerMetric(
    new Gauge({
      name: `${prefix}_leader_elected`,
      help: "1 while this process is the leader, else 0.",
      registers: [],
      collect() {
        this.set(isLeader() ? 1 : 0);
      },
    }),
  );
  const changes = new Counter({
    name: `${prefix}_leader_changes_total`,
    help: "Terms of leadership, of any controller, that began since this process started.",
    registers: [registry],
  });
  const fence = new Gauge({
    name: `${prefix}_fence_up`,
    help: "1 while the API server rejects writes of a stale leader to targets; 0 if not, if that could not be checked, and on a standby.",
    registers: hasFence ? [registry] : [],
  });
  return { registry, changed: () => changes.inc(), fence: (state) => fence.set(state === "up" ? 1 : 0) };
};
