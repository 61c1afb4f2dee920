import { link, readFile, rm, writeFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import type { Log } from "../progress.ts";

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
};

/** Makes the lock, holder and all, in one step; false when somebody has it. */
const take = async (lock: string): Promise<boolean> => {
  const mine = `${lock}.${process.pid}`;
  await writeFile(mine, String(process.pid));
  const taken = await link(mine, lock).then(
    () => true,
    () => false,
  );
  await rm(mine, { force: true });
  return taken;
};

/**
 * Does `work` while no other process of this machine does, so that nobody builds for minutes what another builds as well.
 * A courtesy, not a safeguard: two that judge a dead holder's lock at the same moment may both go on, and whatever they
 * do must bear that.
 */
export const withLock = async <A>(lock: string, log: Log, work: () => Promise<A>): Promise<A> => {
  let told = false;
  while (!(await take(lock))) {
    const holder = Number(await readFile(lock, "utf8").catch(() => ""));
    if (holder === 0 || !isAlive(holder)) {
      await rm(lock, { force: true, recursive: true });
      continue;
    }
    if (!told) log(`Waiting for process ${holder}, which is getting the same binaries (${lock}) ...`);
    told = true;
    await setTimeout(250);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
};
