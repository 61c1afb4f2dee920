// What the controller of Blueprints costs, compared with bare Pods in the same run: the figures of docs/performance.md.
import { mkdtemp } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import path from "node:path";
import { atOnceFigures } from "./at-once.ts";
import { cluster } from "./cluster.ts";
import type { Figure } from "../figures.ts";
import { finishedFigures } from "./finished.ts";
import { phaseFigures } from "./phases.ts";
import { renderFigures } from "./render.ts";
import { runBarePod } from "./pods.ts";
import { isComplete } from "./progress.ts";
import { waitFigures } from "./wait.ts";

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const load = (): string =>
  loadavg()
    .map((one) => one.toFixed(1))
    .join(", ");

const tell = (figures: readonly Figure[]): void => {
  for (const { what, measured, most } of figures) say(`| ${what} | ${measured} | ${most} |`);
};

const place = await cluster(await mkdtemp(path.join(tmpdir(), "janus-bench-")), say);
try {
  say(`\nload of the machine before: ${load()}\n\n| figure | measured | at most |\n|---|---|---|`);
  tell(renderFigures());
  const replica = await place.controller("alone");
  await replica.start();
  // Once, so that everything is loaded, compiled and connected.
  await place.recipe("warm-up", [{ func: "KubeTask", name: "only", args: { image: "busybox", command: ["true"] } }]);
  await place.submit("warm-up", "warm-up");
  await place.actionSets.when("warm-up", isComplete);
  await runBarePod(place, "warm-up");
  tell(await phaseFigures(place));
  tell(await waitFigures(place));
  tell(await atOnceFigures(place));
  await replica.stop();
  tell(await finishedFigures(place, "at-once-0-0"));
  say(`\nload of the machine after: ${load()}`);
} finally {
  await place.stop();
}
process.exit(0);
