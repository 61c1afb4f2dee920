import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import path from "node:path";
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
  readonly resize: (columns: number, rows: number) => Promise<void>;
}

/** Runs a command line of the shell on a terminal of this size, which is that of a container where it is 0. */
export const onTerminal = async (
  commandLine: string,
  { columns = 80, rows = 24, kubeconfig = controlPlane.kubeconfig } = {},
): Promise<OnTerminal> => {
  const tty = path.join(mkdtempSync(path.join(directory, "tty-")), "name");
  const env = { ...process.env, PATH: `${directory}:${process.env["PATH"]}`, KUBECONFIG: kubeconfig };
  const sized = `stty rows ${rows} cols ${columns}; tty > ${tty}; ${commandLine}`;
  const child = spawn("script", ["-qec", sized, "/dev/null"], { env });
  onTestFinished(() => void child.kill("SIGKILL"));
  const screen = emulated(columns || 80, rows || 24);
  let written = "";
  child.stdout.on("data", (chunk: Buffer) => {
    written += chunk.toString();
    screen.write(chunk.toString());
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  await expect.poll(() => existsSync(tty) && readFileSync(tty, "utf8")).toContain("/dev/");
  const name = readFileSync(tty, "utf8").trim();
  return {
    screen,
    written: () => written,
    ended,
    type: (text) => void child.stdin.write(text),
    resize: async (columns, rows) => {
      await screen.resize(columns, rows);
      execFileSync("stty", ["-F", name, "rows", String(rows), "cols", String(columns)]);
    },
  };
};
