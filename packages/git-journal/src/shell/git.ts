// Runs git processes: streams in and out, a deadline, and no process that outlives this one.
import { type ChildProcess, spawn } from "node:child_process";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { reasonOf } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import type { GitFailure } from "../core/git/git-answer.ts";

/** One git process. No argument is text of a user: all are our own, full names of refs, or ids of objects. */
export interface GitProcess<A> {
  readonly args: readonly string[];
  /** The most s that the process may take. */
  readonly deadline: number;
  readonly input?: Iterable<Uint8Array>;
  /** Variables beside the environment of all git processes. */
  readonly env?: Readonly<Record<string, string>>;
  /** Says why the process fails, if it does; called again and again while it runs, and in the end. */
  readonly failsFor?: () => Promise<string | undefined>;
  /** Reads all that it prints. */
  readonly read: (stdout: Readable) => Promise<A>;
}

export type Git = <A>(process: GitProcess<A>) => Promise<E.Either<GitFailure, A>>;

/** The most characters of stderr that are kept: the end, which says why git failed. */
const MOST_STDERR = 64 * 1024;

/** The most bytes of stdout that are read: a server may say as much as it likes. */
const MOST_PRINTED = 16 * 1024 * 1024;

/** Returns all that a process prints, as text; throws if that is more than `most` bytes. */
export const printed = async (stdout: Readable, most = MOST_PRINTED): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdout as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > most) throw new Error(`it has printed more than ${most} bytes`);
  }
  return Buffer.concat(chunks).toString("utf8");
};

/**
 * Executes git with a watcher beside it, in one process group. What the watcher reads from ends with this process, however that ends:
 * then it kills the group, since git, or what git has started, would go on writing the clone that the next process opens.
 */
const WATCHED = '{ read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 & exec git "$@" 3<&-';

/**
 * The first process of a container takes all others with it. It would also become the parent of each watcher, and Node waits for no
 * process that it has not started: they would stay as zombies.
 */
const command = (args: readonly string[]): readonly [file: string, args: readonly string[]] =>
  process.pid === 1 ? ["git", args] : ["sh", ["-c", WATCHED, "git", ...args]];

/** Keeps the end of a stream, in whole lines: half a credential would not be recognized. */
const tail = (stream: Readable): (() => string) => {
  let kept = "";
  let isCut = false;
  stream.setEncoding("utf8").on("data", (chunk: string) => {
    kept += chunk;
    if (kept.length <= 2 * MOST_STDERR) return;
    isCut = true;
    kept = kept.slice(-MOST_STDERR);
  });
  return () => (isCut ? (/\n(.*)$/su.exec(kept)?.[1] ?? "") : kept);
};

/** The pause between two calls of `failsFor`, in ms. */
const PAUSE = 100;

/** Kills a process with all that it has started: they are of one process group. */
const kill = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process has ended by itself.
  }
};

const failed = (ended: GitFailure["ended"], stderr = "", stdout = ""): E.Either<GitFailure, never> =>
  E.left({ ended, stderr, stdout });

/**
 * Returns a runner of git processes with this environment.
 *
 * Guarantees: after the deadline, or once it is aborted, neither the process nor any that it has started is left. Never rejects.
 */
export const gitIn =
  (env: Readonly<Record<string, string>>, signal?: AbortSignal): Git =>
  async ({ args, deadline, input, env: more, failsFor = () => Promise.resolve(undefined), read }) => {
    if (signal?.aborted === true) return failed({ by: "signal", signal: "SIGTERM" });
    const [file, all] = command(args);
    const child = spawn(file, all, {
      env: { ...env, ...more },
      cwd: "/",
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    child.once("exit", () => void child.stdio[3]?.destroy());
    const stderr = tail(child.stderr);
    let hasEnded = false;
    let because: string | undefined;
    const look = async (): Promise<void> => {
      const why = await failsFor();
      if (hasEnded) return;
      because = why;
      if (why === undefined) looking = setTimeout(() => void look(), PAUSE);
      else kill(child);
    };
    let looking = setTimeout(() => void look(), PAUSE);
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      kill(child);
    }, deadline * 1000);
    const abort = (): void => kill(child);
    signal?.addEventListener("abort", abort);
    const ended = new Promise<GitFailure["ended"]>((resolve) => {
      child.once("error", (error) => resolve({ by: "error", message: reasonOf(error) }));
      child.once("close", (code, by) =>
        resolve(code === null ? { by: "signal", signal: by ?? "SIGKILL" } : { by: "exit", code }),
      );
    });
    // A process that ends early does not read all of its input: how it ended says why.
    const written = pipeline(Readable.from(input ?? []), child.stdin).catch(() => undefined);
    const output = read(child.stdout).then(E.right, (error: unknown) => {
      kill(child);
      return E.left(reasonOf(error));
    });
    const [how, got] = await Promise.all([ended, output, written]);
    hasEnded = true;
    clearTimeout(timer);
    clearTimeout(looking);
    because ??= await failsFor();
    signal?.removeEventListener("abort", abort);
    const stdout = E.isRight(got) && typeof got.right === "string" ? got.right : "";
    if (isLate) return failed({ by: "deadline", seconds: deadline }, stderr(), stdout);
    if (because !== undefined) return failed({ by: "error", message: because }, stderr());
    if (E.isLeft(got)) return failed({ by: "error", message: got.left }, stderr());
    if (how.by === "error") return failed({ by: "error", message: how.message }, stderr());
    return how.by === "exit" && how.code === 0 ? E.right(got.right) : failed(how, stderr(), stdout);
  };
