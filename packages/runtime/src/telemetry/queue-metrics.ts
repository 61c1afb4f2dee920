// The metrics of the work queue, named as in client-go.
import type { QueueEvent } from "../work-queue/work-queue.ts";
import type { ControllerNames } from "../process/controller-names.ts";
import { Gauge, Histogram, type Registry } from "prom-client";

/** The metrics of a work queue. */
export const queueMetrics = (
  registry: Registry,
  { prefix, objects }: ControllerNames,
): ((event: QueueEvent) => void) => {
  const registers = [registry];
  const depth = new Gauge({
    name: `${prefix}_queue_depth`,
    help: `${objects} that wait for one of the workers right now.`,
    registers,
  });
  const wait = new Histogram({
    name: `${prefix}_queue_wait_seconds`,
    help: `Time that ${objects} waited for a worker.`,
    buckets: [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300],
    registers,
  });
  return (event) => {
    if (event.type === "queued" || event.type === "started") depth.set(event.depth);
    if (event.type === "started") wait.observe(event.waited / 1000);
  };
};
