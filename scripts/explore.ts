// Runs the samples and the property tests with one new seed after the other, and prints the seeds that failed. Until
// Ctrl-C: `npm run explore`, or `npm run explore -- tests/crash` for some of the files.
import { spawn } from "node:child_process";

const files = process.argv.slice(2);
const failed: string[] = [];
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());

/** Runs the tests of one seed; true if all have passed. */
const passes = (seed: string): Promise<boolean> =>
  new Promise((resolve) => {
    spawn("vitest", ["run", "--project", "unit", "--project", "sample", "--reporter=dot", ...files], {
      stdio: "inherit",
      env: { ...process.env, JANUS_SEED: seed },
    }).once("close", (code) => resolve(code === 0));
  });

for (let seed = Date.now() % 1_000_000; !stop.signal.aborted; seed += 1) {
  // oxlint-disable-next-line no-await-in-loop -- one run after the other
  if (!(await passes(`${seed}`)) && !stop.signal.aborted) failed.push(`${seed}`);
  const again = failed.map(
    (one) => `\n  JANUS_SEED=${one} npm run explore${files.length === 0 ? "" : ` -- ${files.join(" ")}`}`,
  );
  console.log(again.length === 0 ? "No seed has failed so far." : `These seeds have failed:${again.join("")}`);
}
process.exit(failed.length === 0 ? 0 : 1);
