// The work directory: of one process at a time, whatever became of the one before.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished } from "vitest";
import { takeWorkDirectory } from "../../packages/git-journal/src/shell/work-directory.ts";
import { newDirectory } from "./world.ts";

const taken = async (directory: string): Promise<string> => {
  const answer = await takeWorkDirectory(directory, path.join(directory, "memory"));
  return E.isRight(answer) ? "taken" : answer.left;
};

it("is refused to a second process as long as the first one lives, and taken once that was killed", async () => {
  const directory = newDirectory();
  const module = new URL("../../packages/git-journal/src/shell/work-directory.ts", import.meta.url).href;
  const program = `
    import { takeWorkDirectory } from ${JSON.stringify(module)};
    console.log((await takeWorkDirectory(${JSON.stringify(directory)}, ${JSON.stringify(`${directory}/memory`)}))._tag);
    setInterval(() => {}, 1000);`;
  const first = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", program], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void first.kill("SIGKILL"));
  const said = new Promise<string>((resolve) => first.stdout.once("data", (text) => resolve(String(text).trim())));
  expect(await said).toBe("Right");
  const refusal = `the work directory ${directory} is used by process ${first.pid}: give each process a directory of its own`;
  expect(await taken(directory)).toBe(refusal);
  // It has left nothing there that would keep others out.
  expect(await taken(directory)).toBe(refusal);
  const ended = new Promise((resolve) => first.once("exit", resolve));
  first.kill("SIGKILL");
  await ended;
  expect(await taken(directory)).toBe("taken");
});

it("is taken from a process whose number another one has got since, be it this one", async () => {
  const directory = newDirectory();
  for (const pid of [process.pid, 1]) writeFileSync(path.join(directory, `owner-${pid}-1-boot`), "");
  expect(await taken(directory)).toBe("taken");
  expect(readdirSync(directory).filter((name) => name.startsWith("owner-"))).toEqual([
    expect.stringMatching(new RegExp(`^owner-${process.pid}-\\d+-[0-9a-f-]{36}$`, "u")),
  ]);
});

it("has no credentials of the process before, and lets nobody else read those of this one", async () => {
  const directory = newDirectory();
  mkdirSync(path.join(directory, "memory", "git-abc"), { recursive: true });
  writeFileSync(path.join(directory, "memory", "git-abc", "identity"), "key");
  expect(await taken(directory)).toBe("taken");
  expect(readdirSync(path.join(directory, "memory"))).toEqual([]);
  expect(statSync(path.join(directory, "askpass")).mode & 0o777).toBe(0o700);
});

it("keeps the clones that are still needed, and no others", async () => {
  const directory = newDirectory();
  for (const name of ["a", "b"]) mkdirSync(path.join(directory, `${name}.git`, "refs"), { recursive: true });
  const answer = await takeWorkDirectory(directory, path.join(directory, "memory"));
  if (E.isRight(answer)) await answer.right.keepOnly(new Set(["b", "c"]));
  expect(readdirSync(directory).filter((name) => name.endsWith(".git"))).toEqual(["b.git"]);
});
