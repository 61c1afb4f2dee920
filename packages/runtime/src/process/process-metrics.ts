// The build info and the default Node metrics.
import { collectDefaultMetrics, Gauge, type Registry } from "prom-client";
import type { ControllerNames } from "./controller-names.ts";

/** The build info, and the default metrics of a process: memory, CPU time, event loop lag, file descriptors. */
export const processMetrics = (registry: Registry, { prefix }: ControllerNames, version: string): void => {
  new Gauge({
    name: `${prefix}_build_info`,
    help: "Always 1; the version of the controller is the label.",
    labelNames: ["version"],
    registers: [registry],
  }).set({ version }, 1);
  collectDefaultMetrics({ register: registry });
};
