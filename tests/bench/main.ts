// `npm run bench`: what a Transaction costs, compared with other ways to make the same changes in the same run.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { parseArgs, promisify } from "node:util";
import { installation } from "@janus/deploy";
import * as E from "fp-ts/lib/Either.js";
import { binariesDirectory, cached } from "../control-plane/binaries/cache.ts";
import { versions } from "../control-plane/binaries/binary.ts";
import { startControlPlane } from "../control-plane/control-plane.ts";
import { install } from "../demo/install.ts";
import { BOUNDS } from "./transactions/bounds.ts";
import { cluster } from "./transactions/cluster.ts";
import { controllers } from "./transactions/controllers.ts";
import { startPeer } from "./transactions/peer.ts";
import { measure, type Result } from "./transactions/scenario.ts";
import { scenarios, warmUp } from "./transactions/scenarios.ts";
import { resultTable, verdictTable } from "./transactions/table.ts";
import { verdicts } from "./transactions/verdict.ts";

const help = `Usage: npm run bench -- [flags]

Boots a control plane of its own, runs the controller as its image runs it, and measures it in turn with bare writes (one
server-side apply after another), kubectl apply --server-side, and helm upgrade --rollback-on-failure where a helm is in
the cache. Progress goes to stderr, a table to stdout.

Flags:
  --quick           At most two minutes: fewer rounds, and not all scenarios. On a busy machine the last ones are left out.
  --only <text>     Only the scenarios whose names contain this text.
  --check           Ends with 1 if a figure exceeds its bound in tests/bench/transactions/bounds.ts.
  --json <file>     Writes all values to this file.
  --peer <command>  Also measures another controller of Transactions. The command runs in a shell with the KUBECONFIG of a
                    control plane of its own on which the CRD is installed, and must not return.
  --help            Shows this text.
`;

const flags = (() => {
  try {
    return parseArgs({
      options: {
        quick: { type: "boolean", default: false },
        only: { type: "string", default: "" },
        check: { type: "boolean", default: false },
        json: { type: "string" },
        peer: { type: "string" },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
    return process.exit(2);
  }
})();
if (flags.help) {
  process.stdout.write(help);
  process.exit(0);
}

/** Of a quick run, in ms: then no further round begins. */
const QUICK = 100_000;
const began = performance.now();
const isLate = (): boolean => flags.quick && performance.now() - began > QUICK;
const say = (line: string): void =>
  void process.stderr.write(`${((performance.now() - began) / 1000).toFixed(1).padStart(7)} s  ${line}\n`);
const print = (text: string): void => void process.stdout.write(`${text}\n`);

const commit = (): Promise<string> =>
  promisify(execFile)("git", ["describe", "--always", "--dirty"], { cwd: import.meta.dirname }).then(
    ({ stdout }) => stdout.trim(),
    () => "unknown",
  );
const machine = async () => ({
  date: new Date().toISOString(),
  commit: await commit(),
  processor: os.cpus()[0]?.model ?? "unknown",
  cores: os.availableParallelism(),
  node: process.versions.node,
  programs: versions,
  load: os.loadavg(),
});

const ends: (() => Promise<unknown>)[] = [];
const end = async (code: number): Promise<never> => {
  for (const one of ends.toReversed()) await one().catch((error: unknown) => say(String(error)));
  return process.exit(code);
};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => void end(130));

const run = async (): Promise<readonly Result[]> => {
  const plane = await startControlPlane({ log: say });
  ends.push(plane.stop);
  await install(plane, installation());
  const kubeconfig = await plane.userKubeconfig("system:serviceaccount:janus-system:janus-controller");
  say("compiling the controller");
  const janus = await controllers(path.join(plane.directory, "controllers"), kubeconfig);
  ends.push(janus.end, janus.stop);
  const place = await cluster(plane);
  const helm = await cached(binariesDirectory(process.env), "helm");
  const peer = flags.peer === undefined ? undefined : await startPeer(flags.peer, say);
  if (peer !== undefined) ends.push(peer.stop);
  const results: Result[] = [];
  const places = { cluster: place, controllers: janus, helm: E.isRight(helm) ? helm.right : undefined, peer };
  const all = scenarios(places);
  const planned = all
    .map((scenario) => [scenario, scenario.rounds[flags.quick ? 0 : 1]] as const)
    .filter(([{ name }, rounds]) => rounds > 0 && name.includes(flags.only));
  if (planned.length === 0)
    throw new Error(
      `no scenario of this run has "${flags.only}" in its name; there are: ${all.map(({ name }) => name).join("; ")}`,
    );
  say(`warming up${places.helm === undefined ? "; there is no helm in the cache" : ""}`);
  await warmUp(places);
  for (const [at, [scenario, rounds]] of planned.entries()) {
    const tell = (side: string, round: number): void =>
      say(`[${at + 1}/${planned.length}] ${scenario.name}: ${side}, round ${round + 1} of ${rounds}`);
    if (isLate()) say(`[${at + 1}/${planned.length}] ${scenario.name}: left out, since the time is over`);
    results.push(...(await measure(scenario, rounds, tell, isLate)));
  }
  return results;
};

try {
  const before = await machine();
  const results = await run();
  const checked = verdicts(results, BOUNDS);
  const { load } = await machine();
  const loads = [before.load, load]
    .map((one) => one.map((average) => average.toFixed(1)).join(", "))
    .join(" and after ");
  print(`${before.commit}, ${before.cores} × ${before.processor}, load before ${loads}\n`);
  print(resultTable(results));
  if (flags.check) print(`\n${verdictTable(checked)}`);
  if (flags.json !== undefined)
    await writeFile(
      flags.json,
      `${JSON.stringify({ ...before, loadAfter: load, quick: flags.quick, results, checked }, null, 2)}\n`,
    );
  const exceeded = checked.filter(({ is }) => is === "exceeded");
  if (flags.check && exceeded.length > 0) say(`${exceeded.length} figures exceed their bounds`);
  await end(flags.check && exceeded.length > 0 ? 1 : 0);
} catch (error) {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  await end(1);
}
