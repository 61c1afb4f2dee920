import { journalName } from "@janus/api";
import type { KubeObject } from "@janus/kube";
import { narrator, stopwatch } from "./narrate.ts";
import { positionIn, runTransaction } from "./run-transaction.ts";
import { bold, dim, green, heading, red, say } from "./say.ts";
import { setting, shop } from "./shop.ts";
import type { Stage } from "./stage.ts";

/** How many settings the shop has: as many as there are changes. */
export const settings = 20;
const killAt = 7;

const targets = Array.from({ length: settings }, (_, n) => setting(n + 1));

const isAt = (release: string) => (object: KubeObject | undefined) =>
  (object?.["data"] as { readonly release?: string } | undefined)?.release === release;

const versionOf = (object: KubeObject | undefined): string | undefined => object?.metadata.resourceVersion;

const bar = (done: number): string => `${green("■".repeat(done))}${dim("·".repeat(settings - done))}`;

/** What is there right after the kill: the journal, and every target. */
interface Wreck {
  readonly pid: number | undefined;
  readonly cursor: number;
  readonly targets: readonly (KubeObject | undefined)[];
}

/**
 * @param release What this attempt sets, so that an attempt that the kill came too late for can be made again.
 * @returns `undefined` when the Transaction was over before the kill came.
 */
const attempt = async ({ admin, controller }: Stage, release: string) => {
  const time = stopwatch();
  const narrate = narrator(time, { items: false });
  let wreck: Promise<Wreck> | undefined;

  const kill = async (uid: string): Promise<Wreck> => {
    const pid = controller.pid();
    await controller.kill();
    const journal = await admin.get({ apiVersion: "v1", kind: "ConfigMap", namespace: shop, name: journalName(uid) });
    const cursor = positionIn(journal)?.cursor ?? settings;
    const found: Wreck = { pid, cursor, targets: await Promise.all(targets.map(admin.get)) };
    say(
      `${time()}  ${red("SIGKILL")}      controller (pid ${pid}); the journal's cursor stands at ${cursor} of ${settings}`,
    );
    const changed = found.targets.filter(isAt(release)).length;
    const doubt = changed > cursor ? `; number ${changed} was written and not recorded any more` : "";
    say(`           ${bar(changed)}  ${dim(`${changed} targets are changed${doubt}`)}`);
    await controller.start();
    say(`${time()}  ${bold("Started")}      again (pid ${controller.pid()}); it reads the journal and goes on`);
    return found;
  };

  const changes = targets.map((target) => ({ target: { ...target }, type: "Patch", content: { data: { release } } }));
  const transaction = await runTransaction(admin, `release-${release.replace(".", "-")}`, changes, (sight) => {
    narrate(sight);
    const { direction, cursor } = sight.journal ?? { direction: "forward", cursor: 0 };
    if (direction === "forward" && cursor >= killAt) wreck ??= kill(sight.transaction.metadata.uid);
    wreck?.catch(() => {}); // told of below
  });
  const found = await wreck;
  say(`           ${bar(settings)}  ${dim(`${transaction.status.progress} changes`)}`);
  const { phase } = transaction.status;
  if (phase !== "Committed") throw new Error(`the Transaction is ${phase}, and should be Committed`);
  return found !== undefined && found.cursor < settings ? found : undefined;
};

/** Killed between two changes, or within one, the controller goes on where it was. */
export const survivesKill = async (stage: Stage): Promise<void> => {
  const { admin, expectations } = stage;
  heading(`(c) Twenty changes, and the controller is killed in the middle`);
  let release = 2;
  let wreck = await attempt(stage, `${release}.0`);
  while (wreck === undefined && release < 5) {
    say(dim("It was faster than the kill. Once more:"));
    release += 1;
    wreck = await attempt(stage, `${release}.0`);
  }
  const { expect } = expectations;
  expect("the controller dies in the middle", wreck !== undefined);
  if (wreck === undefined) return;

  const now = await Promise.all(targets.map(admin.get));
  const isChanged = isAt(`${release}.0`);
  const early = wreck.targets.filter(isChanged);
  const untouched = early.filter((object) =>
    now.some((later) => later?.metadata.uid === object?.metadata.uid && versionOf(later) === versionOf(object)),
  );
  const inOrder = wreck.targets.every((object, index) => isChanged(object) === index < early.length);
  say();
  say(
    `written before the kill: ${early.length}; of these written again afterwards: ${early.length - untouched.length}`,
    2,
  );
  say(dim(`resourceVersion of setting-01 … setting-${`${early.length}`.padStart(2, "0")}, then and now:`), 2);
  say(dim(early.map(versionOf).join(" ")), 2);
  say(dim(now.slice(0, early.length).map(versionOf).join(" ")), 2);
  expect(`all ${settings} targets are changed`, now.every(isChanged));
  expect("the changes before the kill were made in order, one at a time", inOrder);
  expect(
    "at most one change was in doubt at the kill",
    early.length - wreck.cursor === 0 || early.length - wreck.cursor === 1,
    `the cursor was at ${wreck.cursor}, and ${early.length} targets were changed`,
  );
  expect("no target was written twice", untouched.length === early.length);
};
