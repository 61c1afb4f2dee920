// The work directory belongs to one process: each writes its name into it first, and refuses to start if another one lives.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import * as E from "fp-ts/lib/Either.js";
import { ASKPASS, type Places } from "./credentials.ts";

/** Names a process by its number, its start and the boot of the machine: numbers are given to others later. */
const identityOf = async (pid: number): Promise<string | undefined> => {
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, "utf8"),
      readFile("/proc/sys/kernel/random/boot_id", "utf8"),
    ]);
    // The name of the program may contain anything, and ends with the last parenthesis.
    const startedAt = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return `owner-${pid}-${startedAt}-${boot.trim()}`;
  } catch {
    return undefined;
  }
};

const ownerOf = (file: string): number | undefined => {
  const [, pid] = /^owner-(\d+)-/u.exec(file) ?? [];
  return pid === undefined ? undefined : Number(pid);
};

const SHARED_MEMORY = "/dev/shm";

/** The directory for credentials in use: in memory, or in the work directory where there is no /dev/shm, as on macOS. */
export const memoryOf = (directory: string): string =>
  existsSync(SHARED_MEMORY)
    ? path.join(SHARED_MEMORY, `janus-git-journal-${createHash("sha256").update(directory).digest("hex").slice(0, 16)}`)
    : path.join(directory, "memory");

export interface WorkDirectory {
  /** The directory of the clone with this name. */
  readonly clone: (name: string) => string;
  /** Removes all other clones: no destination needs them any more. */
  readonly keepOnly: (names: ReadonlySet<string>) => Promise<void>;
  /** An empty folder. */
  readonly home: string;
  readonly places: Places;
}

/**
 * Makes the directory, and takes it.
 *
 * @param memory a directory in memory, for credentials
 *
 * Guarantees: no credential of an earlier process is left; of processes that share the directory, at most one has it; two that
 *             start at the same time may both be refused; that of a process that has died, at any time, is taken by the next one.
 * Assumes:    they see each other's process numbers, as in one container.
 */
export const takeWorkDirectory = async (
  directory: string,
  memory: string,
): Promise<E.Either<string, WorkDirectory>> => {
  const home = path.join(directory, "home");
  const askpass = path.join(directory, "askpass");
  await mkdir(home, { recursive: true, mode: 0o700 });
  const own = (await identityOf(process.pid)) ?? `owner-${process.pid}-unknown`;
  await writeFile(path.join(directory, own), "");
  for (const file of await readdir(directory)) {
    const pid = ownerOf(file);
    if (pid === undefined || file === own) continue;
    if ((await identityOf(pid)) === file) {
      await rm(path.join(directory, own));
      return E.left(
        `the work directory ${directory} is used by process ${pid}: give each process a directory of its own`,
      );
    }
    await rm(path.join(directory, file), { force: true });
  }
  await mkdir(memory, { recursive: true, mode: 0o700 });
  for (const left of await readdir(memory)) await rm(path.join(memory, left), { recursive: true, force: true });
  await writeFile(askpass, ASKPASS);
  await chmod(askpass, 0o700);
  const clone = (name: string): string => path.join(directory, `${name}.git`);
  const keepOnly = async (names: ReadonlySet<string>): Promise<void> => {
    const needed = new Set([...names].map(clone));
    for (const file of await readdir(directory)) {
      const at = path.join(directory, file);
      if (file.endsWith(".git") && !needed.has(at)) await rm(at, { recursive: true, force: true });
    }
  };
  return E.right({ clone, keepOnly, home, places: { memory, askpass } });
};
