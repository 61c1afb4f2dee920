// `npm run soak`: two controllers, a random workload and random faults for minutes, and whether everything came out right.
import { copyFile, mkdtemp } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { installed } from "../fixtures/installed.ts";
import { tcpTunnel } from "../fixtures/tcp-tunnel.ts";
import { faults, type Reached } from "./faults.ts";
import { gauge } from "./gauge.ts";
import { insistent } from "./insist.ts";
import { random } from "./random.ts";
import { strays } from "./remains.ts";
import { report } from "./report.ts";
import { build } from "./world.ts";
import { workload } from "./workload.ts";

const help = `Usage: npm run soak -- [flags]

Boots a control plane of its own, installs Janus with two controllers, and for some minutes creates Transactions of all
types while controllers are killed and stopped, connections cut, the API server restarted and etcd paused. Ends with a
report, and with 0 if every Transaction came out right and nothing is left behind.

Flags:
  --minutes <n>   How long faults are injected. Default: 10.
  --seed <n>      The same workload and the same faults, as far as timing allows. Default: a new one.
  --verbose       Tells of every fault.
  --help          Shows this text.
`;

const flags = (() => {
  try {
    const { values } = parseArgs({
      options: {
        minutes: { type: "string", default: "10" },
        seed: { type: "string", default: `${Math.floor(Math.random() * 1e6)}` },
        verbose: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    const minutes = Number(values.minutes);
    const seed = Number(values.seed);
    if (!(minutes > 0)) throw new Error("--minutes takes a number");
    if (!Number.isInteger(seed)) throw new Error("--seed takes a whole number");
    return { ...values, minutes, seed };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    return process.exit(2);
  }
})();
if (flags.help) {
  process.stdout.write(help);
  process.exit(0);
}

/** Short, so that much happens in ten minutes. */
const CONTROLLER = [
  "--leader-elect-lease-duration=6s",
  "--leader-elect-renew-deadline=4s",
  "--leader-elect-retry-period=1s",
  "--write-timeout=2s",
  "--request-deadline=4s",
  "--log-level=debug",
];
/** How long nothing may come to its end when no fault is injected any more, in ms: longer than the first pauses between recoveries. */
const PATIENCE = 180_000;
/** The garbage collector takes what belongs to Transactions that are gone. */
const COLLECTED_WITHIN = 60_000;

const began = performance.now();
const say = (line: string): void =>
  void process.stdout.write(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s  ${line}\n`);
const tell = (line: string): void => void (flags.verbose && say(line));

const violations: string[] = [];
const violated = (what: string): void => {
  violations.push(what);
  say(`VIOLATED: ${what}`);
};

const ended = new AbortController();
const ends: (() => Promise<unknown>)[] = [async () => ended.abort()];
const end = async (code: number): Promise<never> => {
  for (const one of ends.toReversed()) await one().catch((error: unknown) => console.error(String(error)));
  return process.exit(code);
};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => void end(130));

const soak = async (): Promise<void> => {
  say(
    `seed ${flags.seed}, ${flags.minutes} minutes; the same again: npm run soak -- --seed=${flags.seed} --minutes=${flags.minutes}`,
  );
  const cluster = await installed(CONTROLLER, tell);
  ends.push(cluster.end);
  const port = Number(new URL(cluster.controlPlane.url).port);
  const reached: readonly Reached[] = await Promise.all(
    ["one", "two"].map(async (name) => {
      const way = await tcpTunnel({ port });
      ends.push(async () => way.end());
      return { replica: await cluster.replica(name, way.port), way };
    }),
  );
  const admin = insistent(cluster.api, ended.signal);
  await build(admin);
  const replicas = reached.map(({ replica }) => replica);
  await Promise.all(replicas.map((one) => one.start()));

  const chance = random(flags.seed);
  const measured = gauge(replicas, violated);
  const work = workload(cluster.api, admin, chance.fork(), ended.signal, violated);
  const trouble = faults(reached, cluster.controlPlane, chance.fork(), tell);
  const soakBegan = performance.now();
  const until = (): boolean => performance.now() - soakBegan > flags.minutes * 60_000;
  let longestStall = 0;
  const watching = setInterval(() => {
    if (work.active().length > 0) longestStall = Math.max(longestStall, performance.now() - work.lastEnd());
  }, 250);
  const telling = setInterval(() => {
    say(
      `${work.ended().length} Transactions ended, ${work.active().length} under way, ${violations.length} violations`,
    );
  }, 30_000);
  say("two controllers are ready; the faults begin");
  await Promise.all([work.run(until), trouble.run(until)]);
  say("no more faults; what is under way comes to its end");
  await work.settle(PATIENCE);
  clearInterval(watching);
  clearInterval(telling);
  const took = performance.now() - soakBegan;
  for (const one of work.active()) violated(`${one} does not end`);

  say("looking at all targets once more");
  await work.lookAgain();
  const lateness = performance.now();
  while ((await strays(admin)).length > 0 && performance.now() - lateness < COLLECTED_WITHIN) await setTimeout(1000);
  for (const stray of await strays(admin)) violated(stray);
  measured.stop();
  for (const { name, complaints } of replicas)
    for (const line of await complaints())
      if (!line.startsWith("{") ? !/^Debugger|^For help/.test(line) : line.includes("internal error in Janus"))
        violated(`${name} logged: ${line}`);
  if (violations.length > 0) {
    const logs = await mkdtemp(path.join(os.tmpdir(), "janus-soak-logs-"));
    for (const { logFile } of replicas) await copyFile(logFile, path.join(logs, path.basename(logFile)));
    say(`the logs of the controllers: ${logs}`);
  }
  report({ work, measured, replicas, faults: trouble.counts(), took, longestStall, violations });
};

await soak().catch((error: unknown) =>
  violated(error instanceof Error ? (error.stack ?? error.message) : String(error)),
);
await end(violations.length === 0 ? 0 : 1);
