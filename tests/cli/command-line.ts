import { execFileSync, spawn } from "node:child_process";
import { chmodSync, copyFileSync, mkdtempSync, writeFileSync } from "node:fs";
import path from "node:path";
import { controlPlane, type Outcome } from "../fixtures/cluster.ts";

/** A directory for $PATH with the program as users have it: kubectl finds its plugins there. It ends with the control plane. */
export const directory = mkdtempSync(path.join(controlPlane.directory, "janus-cli-"));

const root = path.resolve(import.meta.dirname, "../..");
export const bundled = path.join(directory, "kubectl-janus.js");
execFileSync(process.execPath, ["--conditions=source", path.join(root, "scripts/pack/write-program.ts"), bundled]);
const launcher = path.join(directory, "kubectl-janus");
writeFileSync(launcher, `#!/bin/sh\nexec "${process.execPath}" "${bundled}" "$@"\n`);
chmodSync(launcher, 0o755);
copyFileSync(
  path.join(root, "packages/cli/bin/kubectl_complete-janus"),
  path.join(directory, "kubectl_complete-janus"),
);
chmodSync(path.join(directory, "kubectl_complete-janus"), 0o755);

export interface Running {
  readonly pid: number;
  /** What it has written so far, to both. */
  readonly written: () => string;
  readonly ended: Promise<Outcome>;
  readonly kill: (signal: NodeJS.Signals) => void;
}

interface Options {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the program alone. */
  readonly program?: string;
}

/** Starts the program, as the administrator. */
export const start = (args: readonly string[], { stdin = "", env = {}, program = launcher }: Options = {}): Running => {
  const child = spawn(program, args, {
    env: { ...process.env, PATH: `${directory}:${process.env["PATH"]}`, KUBECONFIG: controlPlane.kubeconfig, ...env },
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => void (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => void (stderr += chunk.toString()));
  child.stdin.on("error", () => {}); // it did not want to read all of it
  child.stdin.end(stdin);
  const ended = new Promise<Outcome>((resolve) => {
    child.on("close", (code) => resolve({ stdout, stderr, code: code ?? -1 }));
  });
  return { pid: child.pid ?? 0, written: () => stdout + stderr, ended, kill: (signal) => void child.kill(signal) };
};

/** Lines that any command may print while it waits for a controller. */
const MEANWHILE = /^(?:Waiting for the controller to render|No controller has started it so far\.) .*\n/gmu;

const over = async ({ ended }: Running): Promise<Outcome> => {
  const outcome = await ended;
  return { ...outcome, stderr: outcome.stderr.replace(MEANWHILE, "") };
};

/** Runs the program. Its stderr is without what it prints while it waits for a controller. */
export const janus = (...args: readonly string[]): Promise<Outcome> => over(start(args));

/** Runs the program with this standard input. */
export const janusWith = (stdin: string, ...args: readonly string[]): Promise<Outcome> => over(start(args, { stdin }));
