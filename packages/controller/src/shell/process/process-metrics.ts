// The build info and the default Node metrics.
import { readFileSync } from "node:fs";
import { collectDefaultMetrics, Gauge, type Registry } from "prom-client";

/** That of this package, which exists beside the compiled files, too. */
const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

/** `janus_build_info`, and the default metrics of a process: memory, CPU time, event loop lag, file descriptors. */
export const processMetrics = (registry: Registry): void => {
  new Gauge({
    name: "janus_build_info",
    help: "Always 1; the version of the controller is the label.",
    labelNames: ["version"],
    registers: [registry],
  }).set({ version }, 1);
  collectDefaultMetrics({ register: registry });
};
