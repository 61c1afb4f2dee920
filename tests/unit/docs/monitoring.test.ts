import { CONTROLLER_NAMES } from "@janus/controller";
import { alerts } from "@janus/deploy";
import { expect, it } from "vitest";
import { apiMetrics } from "../../../packages/runtime/src/telemetry/api-metrics.ts";
import { leaderMetrics } from "../../../packages/runtime/src/leadership/leader-metrics.ts";
import { actionSetMetrics } from "../../../packages/blueprints/src/shell/metrics.ts";
import { attribution } from "../../../packages/git-journal/src/shell/attribution.ts";
import { journalMetrics } from "../../../packages/git-journal/src/shell/metrics.ts";
import { metrics } from "../../../packages/controller/src/shell/telemetry/metrics.ts";
import { processMetrics } from "../../../packages/runtime/src/process/process-metrics.ts";
import { queueMetrics } from "../../../packages/runtime/src/telemetry/queue-metrics.ts";
import { firstCells, page, section } from "./page.ts";

const monitoring = page("docs/monitoring.md");

it("docs/monitoring.md has every metric of Janus, and no other", () => {
  const { registry } = metrics(() => undefined);
  processMetrics(registry, CONTROLLER_NAMES, "1.2.3");
  queueMetrics(registry, CONTROLLER_NAMES);
  apiMetrics(registry, CONTROLLER_NAMES);
  const all = [registry, leaderMetrics(CONTROLLER_NAMES, () => false, true).registry]
    .flatMap((one) => one.getMetricsAsArray())
    .map(({ name }) => name)
    .filter((name) => name.startsWith("janus_"));
  expect(firstCells(section(monitoring, "## Metrics")).toSorted()).toEqual(all.toSorted());
});

it("docs/monitoring.md has every metric of ActionSets, and no other", () => {
  const { registry } = actionSetMetrics(() => undefined);
  const all = registry.getMetricsAsArray().map(({ name }) => name);
  expect(firstCells(section(monitoring, "## Metrics of ActionSets")).toSorted()).toEqual(all.toSorted());
});

it("docs/monitoring.md has every metric of the Git journal, and no other", () => {
  const { registry } = journalMetrics({ states: () => [], notReady: () => [], now: () => 0 });
  const all = [registry, attribution().registry].flatMap((one) => one.getMetricsAsArray()).map(({ name }) => name);
  expect(firstCells(section(monitoring, "## Metrics of the Git journal")).toSorted()).toEqual(all.toSorted());
});

it("docs/monitoring.md has every alert, with its severity and its runbook", () => {
  const rows = [...monitoring.matchAll(/^\| \[(\w+)\]\(runbooks\/(\w+)\.md\) \| (\w+) \|/gmu)];
  const said = rows.map(([, name, runbook, severity]) => ({ name, runbook, severity }));
  const is = alerts.map(({ name, severity }) => ({ name, runbook: name, severity }));
  expect(said).toEqual(expect.arrayContaining(is));
  expect(said).toHaveLength(is.length);
});
