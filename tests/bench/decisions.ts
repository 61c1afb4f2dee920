import { MAX_CHANGES } from "@janus/api";
import { type Decision, PARTS, phases, restorations, shown } from "../unit/core/large.ts";

/**
 * How long the longest decisions take: at the limits of what a Transaction may be, at a half and at a quarter of them. Growth
 * is what twice as much costs: 2 is linear, 4 is quadratic. One decision holds up all Transactions of the process.
 */
const [CHANGES, OBJECTS] = [MAX_CHANGES, 20_000];
const SIZES = [1 / 4, 1 / 2, 1] as const;
const ROUNDS = Number(process.env["ROUNDS"] ?? 9);

/**
 * CPU time in ms, the shortest of several: whatever else the machine is doing. Each time of a decision that is built anew,
 * since what was decided before is remembered.
 */
const time = (build: () => Decision): number =>
  Math.min(
    ...Array.from({ length: ROUNDS }, () => {
      const decision = build();
      const before = process.cpuUsage();
      decision();
      return process.cpuUsage(before).user / 1000;
    }),
  );

const report = (name: string, what: string, build: (size: number) => Decision): void => {
  const times = SIZES.map((size) => time(() => build(size)));
  const growth = times.slice(1).map((ms, at) => (ms / (times[at] ?? 1)).toFixed(1));
  console.log(`${name} (${what}) | ${times.map((ms) => ms.toFixed(1)).join(" | ")} | ${growth.join(", ")}`);
};

console.log("decision | a quarter | a half | whole | growth");
for (const [name, build] of Object.entries(phases))
  report(name, shown(build(CHANGES, 100)), (size) => build(CHANGES * size, OBJECTS * size));
for (const [name, build] of Object.entries(restorations))
  report(`RollingBack, ${name}`, shown(build(100)), (size) => build(PARTS * size));
