// The metric of objects of the four kinds that are not Ready, for alerts: their conditions are read by people.
import { Gauge, Registry } from "prom-client";
import type { Told } from "../core/readiness.ts";

/** @param told what became of each object, by its id */
export const readinessMetric = (told: () => ReadonlyMap<string, Told>): Registry => {
  const registry = new Registry();
  registry.registerMetric(
    new Gauge({
      name: "janus_git_not_ready",
      help: "Objects of the Git journal that are not Ready; stalled ones need somebody to change something.",
      labelNames: ["kind", "reason", "stalled"],
      registers: [],
      collect() {
        this.reset();
        for (const [id, { readiness }] of told())
          if (readiness.type === "failed")
            this.inc({ kind: id.slice(0, id.indexOf(" ")), reason: readiness.reason, stalled: `${readiness.lasts}` });
      },
    }),
  );
  return registry;
};
