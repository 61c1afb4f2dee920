// The metrics of ActionSets: how many there are, how they and their phases end, and how long that takes.
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Measure } from "../core/index.ts";

const STATES = ["pending", "running", "complete", "failed"];

/** The buckets of durations in s, from the command of a second to the backup of a day. */
const BUCKETS = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400];

/** Counts ActionSets by state; undefined until all were listed. */
type Counts = () => ReadonlyMap<string, number> | undefined;

export interface ActionSetMetrics {
  readonly registry: Registry;
  readonly count: (measure: Measure) => void;
}

export const actionSetMetrics = (counts: Counts): ActionSetMetrics => {
  const registry = new Registry();
  const registers = [registry];
  const resolutions = new Counter({
    name: "kanister_action_set_resolutions_total",
    help: "Total number of action set resolutions",
    labelNames: ["resolution"],
    registers,
  });
  const duration = new Histogram({
    name: "janus_actionset_duration_seconds",
    help: "Time from the start of an ActionSet to its end, for each of its actions. Those that were refused have none.",
    labelNames: ["action", "result"],
    buckets: BUCKETS,
    registers,
  });
  const phases = new Histogram({
    name: "janus_actionset_phase_duration_seconds",
    help: "Time from the start of an attempt at a phase to its end.",
    labelNames: ["function", "result"],
    buckets: BUCKETS,
    registers,
  });
  const retries = new Counter({
    name: "janus_actionset_phase_retries_total",
    help: "Further attempts at phases that had failed.",
    registers,
  });
  const resumed = new Counter({
    name: "janus_actionset_resumed_total",
    help: "ActionSets that another process had begun, and that this one goes on with.",
    registers,
  });
  const interrupted = new Counter({
    name: "janus_actionset_interrupted_total",
    help: "Phases whose result was lost, so that nobody knows what they have done.",
    labelNames: ["function"],
    registers,
  });
  registry.registerMetric(
    new Gauge({
      name: "janus_actionsets",
      help: "ActionSets that exist, by state. Those that Kanister has left running do not count.",
      labelNames: ["state"],
      registers: [],
      collect() {
        const all = counts();
        this.reset();
        if (all !== undefined) for (const state of STATES) this.set({ state }, all.get(state) ?? 0);
      },
    }),
  );
  // `increase` sees the first one, too.
  for (const resolution of ["success", "failure"]) resolutions.inc({ resolution }, 0);

  const count = (measure: Measure): void => {
    switch (measure.type) {
      case "ended": {
        const { result, actions, seconds } = measure;
        resolutions.inc({ resolution: result === "complete" ? "success" : "failure" });
        if (seconds !== undefined) for (const action of actions) duration.observe({ action, result }, seconds);
        return;
      }
      case "phase":
        return phases.observe({ function: measure.func, result: measure.result }, measure.seconds);
      case "retried":
        return retries.inc();
      case "resumed":
        return resumed.inc();
      case "interrupted":
        return interrupted.inc({ function: measure.func });
    }
  };
  return { registry, count };
};
