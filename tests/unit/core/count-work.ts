import { Session } from "node:inspector/promises";
import { type Decision, examinations, phases, restorations } from "./large.ts";

/**
 * Prints how much work each decision is, and twice as large: how often the functions of the core, and the branches and loops
 * within them, were entered, as V8 counts them. The same on every machine, however busy it is. What V8 does within a call of
 * its own (a `Set` of an array, say) is not in it.
 *
 * To be run without optimising compilers: what they make is not counted.
 */
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

const counted = async (): Promise<number> => {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result
    .filter(({ url }) => url.includes("/packages/"))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges))
    .reduce((all, { count }) => all + count, 0);
};

const workOf = async (decision: Decision): Promise<number> => {
  await counted();
  decision();
  return counted();
};

const [CHANGES, OBJECTS] = [40, 200];
const counts: (readonly [string, readonly [one: number, two: number]])[] = [];
for (const [name, build] of Object.entries({ ...phases, ...restorations, ...examinations }))
  counts.push([name, [await workOf(build(CHANGES, OBJECTS)), await workOf(build(2 * CHANGES, 2 * OBJECTS))]]);
console.log(JSON.stringify(counts));
