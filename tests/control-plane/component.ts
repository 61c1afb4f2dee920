import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Leash } from "./leash.ts";
import type { Log } from "./progress.ts";

/** A program of the control plane that can be started again and again with the same arguments. */
export interface Component {
  /** Resolves when it is ready; rejects, with the end of its log, when it ends before that or takes too long. */
  readonly start: () => Promise<void>;
  /** Resolves when the process is gone. @param signal SIGTERM lets it end in its own way. @default SIGKILL */
  readonly kill: (signal?: "SIGTERM" | "SIGKILL") => Promise<void>;
  /** Stops it in its tracks (SIGSTOP). Resolves when none of its threads runs any more, which takes a while where cores are busy. */
  readonly pause: () => Promise<void>;
  readonly resume: () => void;
  readonly pid: () => number | undefined;
}

interface Program {
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  /** Where the log goes. */
  readonly directory: string;
  readonly isReady: () => Promise<boolean>;
}

/**
 * A quarter of what the API server did was garbage collection: with Go's defaults it collects at each doubling of a small heap. The limit
 * is more than twice of what thousands of namespaces take: near it, a process does little else than collect.
 */
const GARBAGE = { GOGC: "400", GOMEMLIMIT: "4GiB" } as const;

const readyWithin = 300_000;
const askEvery = 25;

const lastLines = async (file: string, count: number) =>
  (await readFile(file, "utf8")).trimEnd().split("\n").slice(-count).join("\n");

/** True once no thread runs; where the system does not tell (there is no /proc), that is assumed. */
const isStopped = async (pid: number): Promise<boolean> => {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const states = threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/status`, "utf8").catch(() => ""));
  return (await Promise.all(states)).every((text) => !/^State:\s+[^T]/mu.test(text));
};

export const component = (program: Program, held: Leash, log: Log): Component => {
  const { name } = program;
  const logFile = path.join(program.directory, `${name}.log`);
  let child: ChildProcess | undefined;
  let killing = false;

  const spawnIt = () => {
    const output = openSync(logFile, "a");
    const started = spawn(program.file, program.args, {
      cwd: program.directory,
      env: { ...process.env, ...GARBAGE },
      stdio: ["ignore", output, output],
      detached: true, // not in the way of a terminal's Ctrl-C: its end comes from the leash
    });
    closeSync(output);
    killing = false;
    started.on("error", () => {}); // start() sees it as having no pid
    started.on("exit", (code, signal) => {
      if (child === started) child = undefined;
      if (started.pid !== undefined) held.release(started.pid);
      if (!killing) log(`${name} has ended by itself (${signal ?? `exit code ${code}`}); its log: ${logFile}`);
    });
    if (started.pid === undefined) throw new Error(`${name}: cannot start ${program.file}`);
    held.hold(started.pid);
    return started;
  };

  const signalled = (signal: "SIGSTOP" | "SIGCONT"): number => {
    if (child?.pid === undefined || !child.kill(signal)) throw new Error(`${name} is not running`);
    return child.pid;
  };

  return {
    start: async () => {
      const began = performance.now();
      child = spawnIt();
      while (!(await program.isReady())) {
        const late = performance.now() - began > readyWithin;
        if (late || child === undefined)
          throw new Error(
            `${name} ${late ? `is not ready after ${readyWithin / 1000} s` : "has ended"}. The end of its log:\n` +
              (await lastLines(logFile, 20)),
          );
        await setTimeout(askEvery);
      }
      log(`${name} is ready after ${((performance.now() - began) / 1000).toFixed(1)} s`);
    },
    kill: async (signal = "SIGKILL") => {
      killing = true;
      if (child === undefined) return;
      const exited = once(child, "exit");
      child.kill(signal);
      await exited;
    },
    pause: async () => {
      const pid = signalled("SIGSTOP");
      while (!(await isStopped(pid))) await setTimeout(1);
    },
    resume: () => void signalled("SIGCONT"),
    pid: () => child?.pid,
  };
};
