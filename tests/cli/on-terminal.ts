import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { controlPlane } from "../fixtures/cluster.ts";
import { emulated, type Emulated } from "../fixtures/terminal.ts";
import { directory } from "./command-line.ts";

/** Terminals are made by `script` of util-linux. */
export const hasTerminals = spawnSync("script", ["--version"]).status === 0;

export interface OnTerminal {
  readonly screen: Emulated;
  /** All that the program has written. */
  readonly written: () => string;
  readonly ended: Promise<number | null>;
  readonly type: (text: string) => void;
  /** While the program is stopped: no terminal can wrap its lines and tell the program so at one instant. */
  readonly resize: (columns: number, rows: number) => Promise<void>;
}

/** Longer than what was written takes to the emulated terminal, in ms. */
const ON_ITS_WAY = 100;

/**
 * Runs a command line of the shell on a terminal of this size, which is that of a container where it is 0. What it starts with
 * `exec` is stopped while the size changes.
 */
export const onTerminal = async (
  commandLine: string,
  { columns = 80, rows = 24, kubeconfig = controlPlane.kubeconfig } = {},
): Promise<OnTerminal> => {
  const started = path.join(mkdtempSync(path.join(directory, "tty-")), "started");
  const env = {
    ...process.env,
    PATH: `${directory}:${process.env["PATH"]}`,
    KUBECONFIG: kubeconfig,
    COMMAND_LINE: `echo "$(tty) $$ started" > ${started}; ${commandLine}`,
  };
  // A shell of its own: `script` stops with its own child.
  const sized = `stty rows ${rows} cols ${columns}; sh -c "$COMMAND_LINE"; exit $?`;
  const child = spawn("script", ["-qec", sized, "/dev/null"], { env });
  onTestFinished(() => void child.kill("SIGKILL"));
  const screen = emulated(columns || 80, rows || 24);
  let written = "";
  child.stdout.on("data", (chunk: Buffer) => {
    written += chunk.toString();
    screen.write(chunk.toString());
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  await expect.poll(() => existsSync(started) && readFileSync(started, "utf8")).toContain("started");
  const [name = "", pid = ""] = readFileSync(started, "utf8").split(" ");
  const drawn = async (): Promise<void> => {
    for (let then = -1; then < written.length; ) {
      then = written.length;
      await sleep(ON_ITS_WAY);
    }
  };
  return {
    screen,
    written: () => written,
    ended,
    type: (text) => void child.stdin.write(text),
    resize: async (columns, rows) => {
      await drawn();
      process.kill(Number(pid), "SIGSTOP");
      await drawn();
      await screen.resize(columns, rows);
      execFileSync("stty", ["-F", name, "rows", String(rows), "cols", String(columns)]);
      process.kill(Number(pid), "SIGCONT");
    },
  };
};
