import type { Replica } from "../fixtures/replica.ts";
import type { Gauge } from "./gauge.ts";
import type { Workload } from "./workload.ts";

interface Soaked {
  readonly work: Workload;
  readonly measured: Gauge;
  readonly replicas: readonly Replica[];
  readonly faults: ReadonlyMap<string, number>;
  /** Times in ms. */
  readonly took: number;
  readonly longestStall: number;
  readonly violations: readonly string[];
}

const tally = (names: readonly string[]): string => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${count} ${name}`).join(", ");
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export const report = ({ work, measured, replicas, faults, took, longestStall, violations }: Soaked): void => {
  const ended = work.ended();
  const longest = work.longest();
  const changes = ended.reduce((sum, { plan }) => sum + plan.checkedChanges.length, 0);
  const rows: readonly (readonly [string, string])[] = [
    ["Transactions", `${ended.length}, of ${changes} changes, in ${seconds(took)}`],
    ["  by outcome", tally(ended.map(({ last, isGone }) => `${last.phase}${isGone ? " and gone" : ""}`))],
    ["  on the way", tally(ended.map(({ plan }) => plan.intervention).filter((one) => one !== "nothing"))],
    ["Faults", `${[...faults.values()].reduce((sum, count) => sum + count, 0)}`],
    ...[...faults].map(([name, count]) => ["", `${count} × ${name}`] as const),
    ["Terms of leading", `${measured.term()}`],
    ["Restarts of controllers", `${replicas.reduce((sum, one) => sum + one.falls(), 0)}`],
    ["Longest Transaction", seconds(longest.took)],
    ...longest.story.map((one) => ["", one] as const),
    ["Longest stall", `${seconds(longestStall)}, in which none came to its end`],
    ["Requests", `${measured.requests()}, ${((1000 * measured.requests()) / took).toFixed(0)} a second`],
    ["Memory of a controller", `${(measured.memory() / 2 ** 20).toFixed(0)} MiB at most`],
    ["Violations", violations.length === 0 ? "none" : `${violations.length}`],
    ...violations.map((one) => ["", one] as const),
  ];
  process.stdout.write("\n");
  for (const [what, value] of rows) process.stdout.write(`${what.padEnd(26)}${value}\n`);
};
