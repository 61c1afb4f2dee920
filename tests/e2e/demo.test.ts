import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { runningWith } from "../fixtures/running.ts";

const root = path.resolve(import.meta.dirname, "../..");

/** What `npm run demo` starts, without a terminal. Everything that it makes is below `temporary`, and names it. */
const demo = async () => {
  const temporary = await mkdtemp(path.join(os.tmpdir(), "janus-demo-"));
  onTestFinished(() => rm(temporary, { recursive: true, force: true }));
  const { FORCE_COLOR: _, ...env } = process.env;
  const child = spawn(process.execPath, [path.join(root, "scripts/run.mjs"), "tests/demo/main.ts"], {
    cwd: root,
    env: { ...env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill());
  return { child, temporary, said: text(child.stdout), exited: once(child, "exit") };
};

it("commits, rolls back and survives a kill, and leaves nothing behind", { timeout: 180_000 }, async () => {
  const { temporary, said, exited } = await demo();
  const [code] = await exited;
  const output = await said;
  expect(output).toMatch(/\(a\)[^]* Committed [^]*Secret old-api-key +there → gone/);
  expect(output).toMatch(/\(b\)[^]* refused\n[^]* RolledBack [^]*Secret api-key +same/);
  expect(output).toMatch(/\(c\)[^]* SIGKILL [^]* Started [^]* Committed [^]*written again afterwards: 0/);
  expect(output).toContain("Everything was as promised.");
  expect(output).not.toContain("\u001B");
  expect(code).toBe(0);
  expect(await readdir(temporary)).toEqual([]);
  expect(runningWith(temporary)).toEqual([]);
});

it("leaves nothing behind when it is interrupted while it boots", async () => {
  const { child, temporary, said, exited } = await demo();
  await expect.poll(() => runningWith(temporary)).not.toEqual([]);
  child.kill("SIGINT");
  const [[code], output] = await Promise.all([exited, said]);
  expect(code).toBe(130);
  expect(output).toContain("Stopping");
  expect(output).not.toContain("NOT MET");
  await expect.poll(() => readdir(temporary)).toEqual([]);
  await expect.poll(() => runningWith(temporary)).toEqual([]);
});
