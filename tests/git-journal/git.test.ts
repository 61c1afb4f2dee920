// Git processes: what they are started with, and that none is left behind.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished } from "vitest";
import { gitIn, printed } from "../../packages/git-journal/src/shell/git.ts";
import { storedTexts } from "../../packages/git-journal/src/shell/stored-texts.ts";
import { gitEnvironment } from "../../packages/git-journal/src/shell/git-environment.ts";
import { gitOf, newRepository, startGitServer } from "../fixtures/git-server.ts";
import { branch, newDirectory } from "./world.ts";

const environment = (directory: string, env: Record<string, string | undefined> = process.env) =>
  gitEnvironment({
    directory,
    home: "/nonexistent",
    url: "https://git.example.com/live.git",
    access: { protocol: "https", config: [["http.extraHeader", "Authorization: Bearer marked"]], env: {} },
    env,
  });

const file = (relative: string): string => JSON.stringify(new URL(relative, import.meta.url).href);

/** The processes that were started with this in their environment. */
const startedWith = (text: string): readonly string[] =>
  readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/u.test(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").includes(text);
    } catch {
      return false;
    }
  });

it("a git process has this environment, whatever that of the controller is, and no settings of the machine", async () => {
  const directory = newDirectory();
  writeFileSync(path.join(directory, "git"), '#!/bin/sh\ntr "\\0" "\\n" </proc/$$/environ\n', { mode: 0o755 });
  const env = {
    PATH: `${directory}:${process.env["PATH"]}`,
    NO_PROXY: "10.0.0.0/8",
    GIT_DIR: "/elsewhere",
    GIT_CONFIG_PARAMETERS: "'core.hooksPath=/evil'",
    GIT_SSH_COMMAND: "evil",
    GIT_TRACE_CURL: "1",
    SSH_AUTH_SOCK: "/agent",
    AWS_SECRET_ACCESS_KEY: "marked",
  };
  const shown = await gitIn(environment("/clone", env))({ args: [], deadline: 10, read: printed });
  const variables = E.isRight(shown) ? shown.right.split("\n").filter((line) => !/^(?:|PWD=.*|_=.*)$/u.test(line)) : [];
  expect(variables.toSorted()).toEqual(
    Object.entries({
      PATH: env.PATH,
      NO_PROXY: "10.0.0.0/8",
      GIT_DIR: "/clone",
      HOME: "/nonexistent",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_ATTR_NOSYSTEM: "1",
      GIT_TERMINAL_PROMPT: "0",
      GIT_ALLOW_PROTOCOL: "https",
      LC_ALL: "C",
      GIT_CONFIG_COUNT: "12",
      ...Object.fromEntries(
        [
          ["core.hooksPath", "/dev/null"],
          ["core.fsmonitor", "false"],
          ["credential.helper", ""],
          ["http.followRedirects", "false"],
          ["http.postBuffer", "16777216"],
          ["transfer.fsckObjects", "true"],
          ["core.bigFileThreshold", "16m"],
          ["protocol.version", "2"],
          ["gc.auto", "0"],
          ["maintenance.auto", "false"],
          ["remote.origin.url", "https://git.example.com/live.git"],
          ["http.extraHeader", "Authorization: Bearer marked"],
        ].flatMap(([key = "", value = ""], n) => [
          [`GIT_CONFIG_KEY_${n}`, key],
          [`GIT_CONFIG_VALUE_${n}`, value],
        ]),
      ),
    })
      .map(([name, value]) => `${name}=${value}`)
      .toSorted(),
  );
});

it("what it reads and prints is a stream, in whatever pieces, and its exit code is told with its last words", async () => {
  const git = gitIn(environment(newDirectory()));
  const megabyte = Buffer.alloc(1024 * 1024, "x");
  const input = [megabyte, megabyte, megabyte];
  const hashed = await git({ args: ["hash-object", "--stdin"], deadline: 60, input, read: printed });
  expect(hashed).toEqual(E.right(expect.stringMatching(/^[0-9a-f]{40}\n$/u)));
  // It ends before it has read all of its input.
  const failed = await git({ args: ["cat-file", "nonsense"], deadline: 60, input, read: printed });
  expect(failed).toMatchObject({
    left: { ended: { by: "exit", code: 128 }, stderr: expect.stringContaining("not a git repository") },
  });
});

it("of long last words only whole lines are kept, so that none begins with half a credential, which nobody would recognize", async () => {
  const directory = newDirectory();
  writeFileSync(
    path.join(directory, "git"),
    `#!/bin/sh\nfor n in $(seq 3000); do echo "remote: the token is marked-4711-secret, and more words"; done >&2\nexit 1\n`,
    { mode: 0o755 },
  );
  const env = environment(directory, { PATH: `${directory}:${process.env["PATH"]}` });
  const answer = await gitIn(env)({ args: [], deadline: 60, read: printed });
  const stderr = E.isLeft(answer) ? answer.left.stderr : "";
  expect(new Set(stderr.trim().split("\n"))).toEqual(
    new Set(["remote: the token is marked-4711-secret, and more words"]),
  );
});

it("a git that is not there is told", async () => {
  const empty = newDirectory();
  writeFileSync(path.join(empty, "sh"), '#!/bin/sh\nexec /bin/sh "$@"\n', { mode: 0o755 });
  const git = gitIn(environment(empty, { PATH: empty }));
  expect(await git({ args: ["version"], deadline: 60, read: printed })).toMatchObject({
    left: { ended: { by: "exit", code: 127 }, stderr: expect.stringContaining("git: not found") },
  });
  const nothing = gitIn(environment(empty, { PATH: "/nonexistent" }));
  expect(await nothing({ args: ["version"], deadline: 60, read: printed })).toMatchObject({
    left: { ended: { by: "error", message: "open sh: no such file or directory" } },
  });
});

it("neither git nor what it has started outlives a process that is killed", async () => {
  const server = await startGitServer({ tls: false, fault: () => "silence" });
  onTestFinished(server.stop);
  const directory = newDirectory();
  const program = `
    import { gitIn, printed } from ${file("../../packages/git-journal/src/shell/git.ts")};
    const env = ${JSON.stringify({ ...environment(directory), GIT_ALLOW_PROTOCOL: "http" })};
    await gitIn(env)({ args: ["ls-remote", "${server.url}"], deadline: 600, read: printed });`;
  const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", program], {
    cwd: import.meta.dirname,
    stdio: "inherit",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  // Git, its helper for http, and the watcher.
  await expect.poll(() => server.requests.length).toBe(1);
  expect(startedWith(directory).length).toBeGreaterThanOrEqual(3);
  child.kill("SIGKILL");
  await expect.poll(() => startedWith(directory)).toEqual([]);
});

it("texts of files are blobs of the clone before there is a commit of them, whatever they say", async () => {
  const clone = newRepository();
  const where = { url: "https://git.example.com/live.git", host: "git.example.com", port: undefined };
  const place = { ...where, branch: branch("main") };
  const stored = storedTexts({ clone: () => clone, home: "/nonexistent" }, "live", place, process.env);
  const said = new Map([
    ["one", "a: 1"],
    ["two", "data 3\nget-mark :1\ndone"],
    ["three", ""],
  ]);
  const { signal } = new AbortController();
  const texts = new Map([...said].map(([name, text]) => [name, Buffer.from(text)] as const));
  expect(await stored.store(texts, signal)).toBeUndefined();
  const read = [...said.keys()].map((name) => [name, gitOf(clone)(["cat-file", "blob", stored.blobOf(name) ?? ""])]);
  expect(new Map(read as [string, string][])).toEqual(said);
  expect(gitOf(clone)(["for-each-ref"])).toBe("");
  stored.forget();
  expect(stored.blobOf("one")).toBeUndefined();

  const none = storedTexts({ clone: () => "/nonexistent", home: "/nonexistent" }, "live", place, process.env);
  expect(await none.store(texts, signal)).toMatchObject({ reason: "ConnectionFailed" });
  expect(none.blobOf("one")).toBeUndefined();
});
