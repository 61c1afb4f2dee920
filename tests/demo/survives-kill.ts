import { setTimeout } from "node:timers/promises";
import { journalName } from "@janus/api";
import type { LeaderStatus } from "@janus/runtime/parts";
import type { KubeObject } from "@janus/kube";
import { lateWrite } from "./late-write.ts";
import { progressPrinter, stopwatch } from "./print-progress.ts";
import type { Replica } from "../fixtures/replica.ts";
import { timing } from "./replicas.ts";
import { positionIn, runTransaction } from "./run-transaction.ts";
import { bold, dim, green, heading, red, say, sayWrapped } from "./say.ts";
import { setting, shop } from "./shop.ts";
import { showStatus } from "./show-status.ts";
import type { Stage } from "./stage.ts";

/** How many settings the shop has: as many as there are changes. */
export const settings = 20;
const killAt = 7;

const targets = Array.from({ length: settings }, (_, n) => setting(n + 1));

const isAt = (release: string) => (object: KubeObject | undefined) =>
  (object?.["data"] as { readonly release?: string } | undefined)?.release === release;

const versionOf = (object: KubeObject | undefined): string | undefined => object?.metadata.resourceVersion;

const bar = (done: number): string => `${green("■".repeat(done))}${dim("·".repeat(settings - done))}`;

/** What is there right after the kill: who was killed, the journal, and every target. */
interface Wreck {
  readonly killed: Replica;
  /** Its last words. */
  readonly status: LeaderStatus | undefined;
  readonly cursor: number;
  readonly targets: readonly (KubeObject | undefined)[];
}

const fenceIsUp = async ({ replicas, expectations: { expect } }: Stage): Promise<void> => {
  const leader = await replicas.leader();
  const began = performance.now();
  const isUp = async () => (await leader.status())?.fence === "up";
  while (!(await isUp()) && performance.now() - began < 20_000) await setTimeout(100);
  expect(`the fence is up while ${leader.name} leads`, await isUp());
};

/**
 * @param release What this attempt sets, so that an attempt that the kill came too late for can be made again.
 * @returns `undefined` when the Transaction was over before the kill came.
 */
const attempt = async ({ admin, replicas }: Stage, release: string) => {
  const time = stopwatch();
  const printProgress = progressPrinter(time, { items: false });
  const killed = await replicas.leader();
  const status = await killed.status();
  let wreck: Promise<Wreck> | undefined;

  const kill = async (uid: string): Promise<Wreck> => {
    const pid = killed.pid();
    await killed.kill();
    const journal = await admin.get({ apiVersion: "v1", kind: "ConfigMap", namespace: shop, name: journalName(uid) });
    const cursor = positionIn(journal)?.cursor ?? settings;
    const found: Wreck = { killed, status, cursor, targets: await Promise.all(targets.map(admin.get)) };
    say(`${time()}  ${red("SIGKILL")}      ${killed.name} (pid ${pid}); its journal is at ${cursor} of ${settings}`);
    const changed = found.targets.filter(isAt(release)).length;
    const doubt = changed > cursor ? `; ${changed} was not recorded any more` : "";
    say(`           ${bar(changed)}  ${dim(`${changed} are changed${doubt}`)}`);
    const patience = `until the Lease of the leader was not renewed for ${timing.leaseDuration} s`;
    say(`${time()}  ${bold("Waiting")}      ${dim(patience)}`);
    const heir = await replicas.leader();
    say(`${time()}  ${bold("Leads")}        ${heir.name} (pid ${heir.pid()}); it reads the journal and goes on`);
    return found;
  };

  const changes = targets.map((target) => ({ target: { ...target }, type: "Patch", content: { data: { release } } }));
  const transaction = await runTransaction(admin, `release-${release.replace(".", "-")}`, { changes }, (sight) => {
    printProgress(sight);
    const { direction, cursor } = sight.journal ?? { direction: "forward", cursor: 0 };
    if (direction === "forward" && cursor >= killAt) wreck ??= kill(sight.transaction.metadata.uid);
    wreck?.catch(() => {}); // told of below
  });
  const found = await wreck;
  say(`           ${bar(settings)}  ${dim(`${transaction.status.progress} changes`)}`);
  const { phase } = transaction.status;
  if (phase !== "Committed") throw new Error(`the Transaction is ${phase}, and should be Committed`);
  if (found !== undefined && found.cursor < settings) return found;
  await found?.killed.start();
  return undefined;
};

/** Of what was written before the kill nothing is written again, and the rest is written. */
const compare = async ({ admin, expectations: { expect } }: Stage, wreck: Wreck, release: string): Promise<void> => {
  const now = await Promise.all(targets.map(admin.get));
  const isChanged = isAt(release);
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

/** Who leads now, in which term; and what the dead leader's term is worth. */
const succession = async (stage: Stage, { killed, status }: Wreck): Promise<void> => {
  const { replicas, expectations } = stage;
  const { expect } = expectations;
  const heir = await replicas.leader();
  await fenceIsUp(stage);
  say();
  await showStatus(replicas);
  const now = await heir.status();
  expect("another one leads", heir !== killed && now?.leader_identity !== status?.identity);
  expect("it leads in the next term", now?.term === (status?.term ?? 0) + 1, `${status?.term} → ${now?.term}`);
  if (status !== undefined && now !== undefined) await lateWrite(replicas, status, now, expectations);
  await killed.start();
  say(`${killed.name} is started again (pid ${killed.pid()}), and stands by`, 2);
  expect(`${killed.name} stands by`, (await killed.status())?.leader === false);
};

/** The leader is killed between two changes, or within one; the other controller goes on where it was. */
export const survivesKill = async (stage: Stage): Promise<void> => {
  const { replicas, expectations } = stage;
  heading("(d) Twenty changes, and the leader is killed in the middle; the other goes on");
  sayWrapped(
    `Leader election is quicker here than in a real installation: lease ${timing.leaseDuration} s and not 30 s, ` +
      `renewal within ${timing.renewDeadline} s and not 20 s, a look every ${timing.retryPeriod} s and not every 5 s.`,
    2,
    dim,
  );
  await fenceIsUp(stage);
  await showStatus(replicas);
  say();
  let release = 2;
  let wreck = await attempt(stage, `${release}.0`);
  while (wreck === undefined && release < 5) {
    say(dim("It was faster than the kill. Once more:"));
    release += 1;
    wreck = await attempt(stage, `${release}.0`);
  }
  expectations.expect("the leader dies in the middle", wreck !== undefined);
  if (wreck === undefined) return;
  await compare(stage, wreck, `${release}.0`);
  await succession(stage, wreck);
};
