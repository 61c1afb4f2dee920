import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { isRunning } from "../fixtures/running.ts";

const runner = path.join(import.meta.dirname, "../../scripts/run.mjs");

const run = (...args: readonly string[]): ChildProcessByStdio<null, Readable, Readable> =>
  spawn(process.execPath, [runner, ...args], { stdio: ["ignore", "pipe", "pipe"] });

const script = async (content: string): Promise<string> => {
  const directory = await mkdtemp(path.join(os.tmpdir(), "janus-run-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = path.join(directory, "script.ts");
  await writeFile(file, content);
  return file;
};

const firstLine = async ({ stdout }: { readonly stdout: Readable }): Promise<string> =>
  String((await once(stdout, "data"))[0]).trim();

it("passes on arguments, output and exit code, and adds nothing to stdout", async () => {
  const file = await script(`
    const [first, second]: string[] = process.argv.slice(2);
    console.log(JSON.stringify({ first, second }));
    process.exitCode = 7;
  `);
  const child = run(file, "a b", "--c");
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(JSON.parse(stdout)).toEqual({ first: "a b", second: "--c" });
  expect(code).toBe(7);
});

it.each(["SIGINT", "SIGTERM"] as const)(
  "forwards a %s once, however often it comes at the same time",
  async (signal) => {
    const file = await script(`
    let times = 0;
    process.on("${signal}", () => {
      times++;
      setTimeout(() => process.exit(times), 300);
    });
    setInterval(() => {}, 1000);
    console.log("ready");
  `);
    const child = run(file);
    const exited = once(child, "exit");
    expect(await firstLine(child)).toBe("ready");
    child.kill(signal);
    await setTimeout(50);
    child.kill(signal);
    expect(await exited).toEqual([1, null]);
  },
);

it("takes what it runs along when it is killed", async () => {
  const child = run(await script("console.log(process.pid); setInterval(() => {}, 1000);"));
  const pid = Number(await firstLine(child));
  expect(isRunning(pid)).toBe(true);
  child.kill("SIGKILL");
  await expect.poll(() => isRunning(pid)).toBe(false);
});

it("says so when there is no such tool", async () => {
  const child = run("no-such-tool");
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(stderr).toContain("There is no tool called no-such-tool in node_modules/.bin.");
  expect(code).toBe(1);
});
