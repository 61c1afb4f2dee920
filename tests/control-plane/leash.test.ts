import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { isRunning } from "../fixtures/running.ts";

const source = new URL("./leash.ts", import.meta.url).href;

/** A process that holds another one (and its child) and a directory, and then does `next`. */
const holder = async (next: string) => {
  const directory = await mkdtemp(path.join(os.tmpdir(), "janus-leash-"));
  const script = `
    import { spawn } from "node:child_process";
    import { leash } from "${source}";
    const held = leash(${JSON.stringify(directory)});
    const sleeper = (command) => spawn("/bin/sh", ["-c", command], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
    const one = sleeper("sleep 1000 & echo $!; wait");
    held.hold(one.pid);
    const free = sleeper("exec sleep 30");
    held.hold(free.pid);
    held.release(free.pid);
    const child = await new Promise((resolve) => one.stdout.once("data", (text) => resolve(Number(text))));
    console.log(JSON.stringify({ held: [one.pid, child], free: free.pid }));
    one.unref(); one.stdout.unref(); free.unref(); free.stdout.unref();
    const forever = () => setInterval(() => {}, 1000);
    ${next}
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["pipe", "pipe", "ignore"] });
  const line = await new Promise<string>((resolve) => child.stdout.once("data", (text) => resolve(String(text))));
  const pids = JSON.parse(line) as { readonly held: readonly number[]; readonly free: number };
  onTestFinished(() => {
    child.kill("SIGKILL");
    process.kill(pids.free);
  });
  return { ...pids, directory, child };
};

it.each([
  ["has ended it", "await held.end(); forever();"],
  ["exits", "process.exit(0);"],
  ["crashes", "throw new Error('crash');"],
  ["is killed", "process.kill(process.pid, 'SIGKILL');"],
  ["is interrupted", "process.kill(process.pid, 'SIGINT'); forever();"],
  [
    "is killed while what it holds is stopped",
    "process.kill(one.pid, 'SIGSTOP'); process.kill(process.pid, 'SIGKILL');",
  ],
])("leaves no process and no directory when its owner %s", async (_, next) => {
  const { held, free, directory } = await holder(next);
  await expect.poll(() => held.filter(isRunning)).toEqual([]);
  await expect.poll(() => existsSync(directory)).toBe(false);
  expect(isRunning(free)).toBe(true);
});

it("holds on as long as its owner lives", async () => {
  const { held, directory, child } = await holder("forever();");
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(held.every(isRunning)).toBe(true);
  expect(existsSync(directory)).toBe(true);
  child.kill("SIGKILL");
  await expect.poll(() => existsSync(directory)).toBe(false);
});
