// The metrics of reconciles, named and labelled as in controller-runtime.
import { Counter, Histogram, type Registry } from "prom-client";
import { elapsed } from "../process/clock.ts";
import type { ControllerNames } from "../process/controller-names.ts";
import type { Requeue } from "../work-queue/work-queue.ts";

const RESULTS = { done: "success", after: "requeue_after", failed: "error" } satisfies Record<Requeue["type"], string>;

/** Measures each reconcile; one that rejects is a defect. */
export const reconcileMetrics = (
  registry: Registry,
  { prefix, objects }: ControllerNames,
): (<Args extends readonly unknown[]>(
  reconcile: (...args: Args) => Promise<Requeue>,
) => (...args: Args) => Promise<Requeue>) => {
  const registers = [registry];
  const total = new Counter({
    name: `${prefix}_reconciles_total`,
    help: `Reconciles of ${objects}; result is success, requeue_after, error (a request failed), or defect (of the controller).`,
    labelNames: ["result"],
    registers,
  });
  const seconds = new Histogram({
    name: `${prefix}_reconcile_seconds`,
    help: `How long the reconciles of ${objects} took.`,
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300],
    registers,
  });
  return (reconcile) =>
    async (...args) => {
      const began = elapsed();
      let result = "defect";
      try {
        const requeue = await reconcile(...args);
        result = RESULTS[requeue.type];
        return requeue;
      } finally {
        total.inc({ result });
        seconds.observe((elapsed() - began) / 1000);
      }
    };
};
