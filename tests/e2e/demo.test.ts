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
  let soFar = "";
  child.stdout.on("data", (chunk: Buffer) => (soFar += chunk.toString()));
  return { child, temporary, soFar: () => soFar, said: text(child.stdout), exited: once(child, "exit") };
};

/** A line with these words, in this order. */
const line = (...words: readonly string[]): RegExp => new RegExp(`^ .*${words.join(".* ")}.*$`, "m");

it("commits, rolls back, waits for what is never ready, survives a kill, is written to Git, and leaves nothing behind", async () => {
  const { temporary, said, exited } = await demo();
  const [code] = await exited;
  const output = await said;
  expect(output).toMatch(/\(a\)[^]* Committed [^]*Secret old-api-key +there → gone/);
  expect(output).toMatch(/\(b\)[^]* refused\n[^]* RolledBack [^]*Secret api-key +same/);
  expect(output).toMatch(
    /\(c\)[^]* 2\/3  waiting for\n[^]*CrashLoopBackOff[^]* RolledBack [^]*True: all restored targets[^]*web-server +same/,
  );
  expect(output.split("(d)")[0]).not.toMatch(/3\/3 +Delete +Secret +api-key/);
  const act = /\(d\)[^]*$/.exec(output)?.[0] ?? "";
  const first = /(replica-.) \(pid \d+\) +true +1 +up /.exec(act)?.[1] ?? "nobody";
  const second = first === "replica-1" ? "replica-2" : "replica-1";
  expect(act).toMatch(line(second, "false", "1"));
  // Where the Transaction is faster than the kill, there is another one.
  const attempts = act.split("Once more:");
  const last = attempts.at(-1) ?? "";
  const [killed, next] = attempts.length % 2 === 1 ? [first, second] : [second, first];
  expect(last).toMatch(line("SIGKILL", killed));
  expect(last).toMatch(line("Leads", next));
  expect(last).toMatch(/ Leads [^]* Committed [^]*written again afterwards: 0/);
  expect(last).toMatch(line(next, "true", `${attempts.length + 1}`, "up"));
  expect(last).toMatch(line(killed, "no answer"));
  expect(last).toMatch(line(`term ${attempts.length}, sent now:`, "refused by the API server"));
  expect(last).toMatch(line(killed, "is started again", "stands by"));
  const journal = output.split("(f)").at(-1) ?? "";
  expect(journal).toMatch(
    /bob: Transaction shop\/deploy-v5: Committed, 2 changes\n[^]* by user\/alice\n[^]* by user\/bob\n[^]* by user\/alice\n/,
  );
  for (const changed of ["+  closed: sunday", "-  currency: EUR", "+  currency: CHF", '+  version: "5.0"'])
    expect(journal.split("\n").map((one) => one.trim())).toContain(changed);
  expect(journal).toMatch(/^ +- +- image: myapp:v2\.0\n +\+ +- image: myapp:v5\.0$/m);
  expect(output).toContain("Everything was as promised.");
  expect(output).not.toContain("\u001B");
  // A path is as long as the directory for temporary files makes it.
  expect(output.split("\n").filter((one) => one.length > 80 && !one.includes(temporary))).toEqual([]);
  expect(output).toMatch(/Logs:\n +\S+\/replica-1\.log\n +\S+\/replica-2\.log\n/);
  expect(code).toBe(0);
  expect(await readdir(temporary)).toEqual([]);
  expect(runningWith(temporary)).toEqual([]);
});

it.each([
  { when: "boots", comes: (_: string, running: number) => running > 0 },
  { when: "waits for the second controller to lead", comes: (said: string) => said.includes("Waiting") },
])("leaves nothing behind when it is interrupted while it $when", async ({ comes }) => {
  const { child, temporary, soFar, said, exited } = await demo();
  await expect.poll(() => comes(soFar(), runningWith(temporary).length)).toBe(true);
  child.kill("SIGINT");
  const [[code], output] = await Promise.all([exited, said]);
  expect(code).toBe(130);
  expect(output).toContain("Stopping");
  expect(output).not.toContain("NOT MET");
  await expect.poll(() => readdir(temporary)).toEqual([]);
  await expect.poll(() => runningWith(temporary)).toEqual([]);
});
