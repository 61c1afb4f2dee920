// Tests the scripts that run restic, with one that only plays it: a backup is made once, and one that is not complete does not stay.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type ResticCommand, resticWords } from "../../../packages/blueprints/src/core/data/restic-commands.ts";
import { readBackup } from "../../../packages/blueprints/src/core/data/restic-output.ts";

/** Its snapshots are lines of a file: tag and ID. It fails as its environment says. */
const RESTIC = `#!/bin/sh
cd "$STATE" && touch snapshots
if [ "$1" = --insecure-tls ]; then shift; fi
echo "$*" >> calls
echo "$RESTIC_REPOSITORY" >> repositories
if [ -n "$GOOGLE_APPLICATION_CREDENTIALS" ]; then
  cat "$GOOGLE_APPLICATION_CREDENTIALS" > key; stat -c %a "$GOOGLE_APPLICATION_CREDENTIALS" > mode
  echo "$GOOGLE_APPLICATION_CREDENTIALS" > at; env > variables; fi
case $1 in
cat) if [ -n "$ABSENT" ] && [ ! -e made ]; then
  printf 'Fatal: repository does not exist\nIs there a repository at the following location?\n' >&2; exit 1; fi;;
init) touch made;;
snapshots) printf '['; sed -n "s/^$3 \\(.*\\)/{\\"id\\":\\"\\1aa\\",\\"short_id\\":\\"\\1\\"}/p" snapshots | paste -sd, - | tr -d '\n'; printf ']\n';;
backup) echo "$3 c0ffee01" >> snapshots; printf 'processed 2 files, 6 B in 0:00\nsnapshot c0ffee01 saved\n'; exit "\${CODE:-0}";;
stats) printf '   Total File Count:   5\n         Total Size:   6 B  \n';;
ls) printf '{"type":"dir"}\n{"type":"file"}\n{"type":"file"}\n';;
forget) if [ -n "$LOCKED" ] && [ ! -e unlocked ]; then echo 'repository is already locked by PID 1' >&2; exit 1; fi
  if [ -n "$REFUSED" ]; then echo 'Access Denied' >&2; exit 1; fi
  shift; for id; do sed -i "/ $id$/d" snapshots; done;;
unlock) touch unlocked;;
prune) echo "this frees 1 B";;
esac
`;

const SLEEP = `#!/bin/sh
echo "$1" >> "$STATE/slept"
exec /bin/sleep 0.05
`;

const BACKUP: ResticCommand = { script: "backup", words: ["tagtagtag2", "/data"], insecureTls: false };

const place = (env: Readonly<Record<string, string>> = {}) => {
  const state = mkdtempSync(path.join(os.tmpdir(), "restic-"));
  writeFileSync(path.join(state, "restic"), RESTIC);
  writeFileSync(path.join(state, "sleep"), SLEEP);
  for (const program of ["restic", "sleep"]) chmodSync(path.join(state, program), 0o755);
  const options = { env: { PATH: `${state}:${process.env["PATH"] ?? ""}`, STATE: state, ...env }, cwd: state };
  const linesOf = (name: string): readonly string[] =>
    existsSync(path.join(state, name)) ? readFileSync(path.join(state, name), "utf8").trim().split("\n") : [];
  const run = (command: ResticCommand) => {
    const [file = "", ...words] = resticWords(command);
    const { status, stdout, stderr } = spawnSync(file, words, options);
    return { status, lines: stdout.toString().split("\n"), stderr: stderr.toString() };
  };
  return { options, run, linesOf };
};

describe("a backup", () => {
  it("makes the repository where there is none", () => {
    const { run, linesOf } = place({ ABSENT: "1" });
    expect(run(BACKUP).status).toBe(0);
    expect(linesOf("calls").filter((call) => /^init|^backup/u.test(call))).toEqual([
      "init",
      "backup --tag tagtagtag2 /data",
    ]);
  });

  it("that is tried again finds the first one, and tells the same of it", () => {
    const { run, linesOf } = place();
    const first = readBackup(run(BACKUP).lines);
    expect(first).toEqual({ backupID: "c0ffee01", fileCount: "2", size: "6 B", phySize: "" });
    expect(readBackup(run(BACKUP).lines)).toEqual(first);
    expect(linesOf("calls").filter((call) => call.startsWith("backup"))).toHaveLength(1);
  });

  it("that could not read all fails, and leaves none that a later try would find, once it may delete it", () => {
    const { run, linesOf } = place({ CODE: "3", LOCKED: "1" });
    const { status, stderr } = run(BACKUP);
    expect(status).toBe(3);
    expect(stderr).toContain("snapshot c0ffee01 saved");
    expect(linesOf("snapshots")).toEqual([""]);
    expect(linesOf("calls").filter((call) => call.startsWith("unlock"))).toHaveLength(1);
  });

  it("says so when an incomplete one cannot be deleted", () => {
    const { run, linesOf } = place({ CODE: "3", REFUSED: "1" });
    const { status, stderr } = run(BACKUP);
    expect(status).toBe(3);
    expect(stderr).toContain("the incomplete backup is left: Access Denied");
    expect(linesOf("snapshots")).toEqual(["tagtagtag2 c0ffee01"]);
  });

  it.runIf(process.platform === "linux")("waits for an earlier try that still runs in the container", async () => {
    const { options, linesOf } = place();
    const earlier = spawn("sh", ["-c", "read -r _", "sh", "tagtagtag2"], options);
    const [file = "", ...words] = resticWords(BACKUP);
    const later = spawn(file, words, options);
    await vi.waitUntil(() => linesOf("slept").length > 0, { timeout: 300_000 });
    expect(linesOf("calls")).toEqual([]);
    earlier.stdin.end("\n");
    await once(later, "exit");
    expect(linesOf("snapshots")).toEqual(["tagtagtag2 c0ffee01"]);
  });
});

describe("backups that are deleted", () => {
  it("are each of a repository of its own, below that of the environment; their space is freed if it shall be", () => {
    const { run, linesOf } = place({ RESTIC_REPOSITORY: "s3:host/bucket" });
    const command = { script: "forgetEach", words: ["db-0", "1", "db-1", "2"], insecureTls: true } as const;
    expect(run({ ...command, prunes: true }).status).toBe(0);
    expect(linesOf("calls")).toEqual(["forget 1", "prune", "forget 2", "prune"]);
    expect([...new Set(linesOf("repositories"))]).toEqual(["s3:host/bucket/db-0", "s3:host/bucket/db-1"]);
    expect(run(command).status).toBe(0);
    expect(linesOf("calls").slice(4)).toEqual(["forget 1", "forget 2"]);
  });
});

it("the key of a service account of Google is in a file of its own, as long as restic runs", () => {
  const { run, linesOf } = place({ GOOGLE_SERVICE_KEY: '{"private_key":"$x \\n"}' });
  expect(run(BACKUP).status).toBe(0);
  expect(linesOf("key")).toEqual(['{"private_key":"$x \\n"}']);
  expect(linesOf("mode")).toEqual(["600"]);
  expect(linesOf("variables").join("\n")).not.toContain("private_key");
  expect(existsSync(linesOf("at")[0] ?? "")).toBe(false);
});
