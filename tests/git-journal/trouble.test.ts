// A disk that is full, a server that stalls, and several writers of one branch at the same time.
import { execFileSync, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { gitOf, startGitServer } from "../fixtures/git-server.ts";
import { live, newDirectory, planOf, sideOf } from "./world.ts";

/** A directory on a disk of this size; undefined where tests may not mount one. */
const smallDisk = (size: string): string | undefined => {
  const directory = newDirectory();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", directory], { stdio: "ignore" });
  } catch {
    console.log("no disk can be mounted here: that one is full is not tested");
    return undefined;
  }
  onTestFinished(() => void execFileSync("umount", [directory]));
  return directory;
};

it("a clone that the disk has no room for is removed, and made again once it has", async ({ skip }) => {
  const server = await startGitServer({ tls: false });
  onTestFinished(server.stop);
  const git = gitOf(server.directory);
  const commit = (size: number): string =>
    git(
      ["fast-import", "--quiet", "--force"],
      `commit refs/heads/main\ncommitter Eve <eve@example.com> 1700000000 +0000\ndata 4\nelse\nM 100644 inline large\ndata ${size}\n${randomBytes(
        size / 2,
      ).toString("hex")}\n`,
    );
  const directory = smallDisk("1m");
  if (directory === undefined) return skip();
  commit(8_000_000);
  const side = await sideOf({ url: server.url }, directory);
  expect(await side.cycle({ wanted: live({ "prod/a.yaml": "1" }) })).toMatchObject({
    is: "failed",
    trouble: {
      reason: "DiskFull",
      message: expect.stringMatching(/^the work directory is full: the clone is removed, and made again/u),
      lasts: false,
    },
  });
  expect(existsSync(side.clone)).toBe(false);
  commit(8000);
  expect(await side.cycle({ wanted: live({ "prod/a.yaml": "1" }) })).toMatchObject({ is: "pushed" });
  // It may be what is written that does not fit.
  const wanted = live({ "prod/a.yaml": randomBytes(1_000_000).toString("hex") });
  expect(await side.cycle({ wanted, start: "clone" })).toMatchObject({ trouble: { reason: "DiskFull" } });
  expect(existsSync(side.clone)).toBe(false);
  expect(await side.cycle({ wanted: live({ "prod/a.yaml": "2" }) })).toMatchObject({ is: "pushed" });
  expect(git(["cat-file", "blob", "main:prod/a.yaml"])).toBe("2");
});

const commitOf = (git: ReturnType<typeof gitOf>, at: string, size: number): string =>
  git(
    ["fast-import", "--quiet", "--force"],
    `commit refs/heads/main\ncommitter Eve <eve@example.com> 1700000000 +0000\ndata 4\nelse\nM 100644 inline ${at}\ndata ${size}\n${randomBytes(
      size / 2,
    ).toString("hex")}\n`,
  );

const TOO_LARGE = {
  is: "failed",
  trouble: {
    reason: "RepositoryTooLarge",
    message: expect.stringMatching(
      /^branch main of http:\S+ takes more room than a clone may \(--git-clone-max-mib\)/u,
    ),
    lasts: true,
  },
};

it("a clone that outgrows its limit is ended while it grows, and removed; with a smaller branch it goes on", async () => {
  const network = { isSlow: true };
  const server = await startGitServer({
    tls: false,
    fault: ({ method }) => (method === "POST" && network.isSlow ? { stallsReplyAfter: 2_000_000 } : undefined),
  });
  onTestFinished(server.stop);
  const git = gitOf(server.directory);
  commitOf(git, "large", 8_000_000);
  const side = await sideOf({ url: server.url });
  const options = { wanted: live({ "prod/a.yaml": "1" }), largest: 1_000_000 };
  // The rest would never come: it would end at its deadline, which is another trouble.
  expect(await side.cycle(options)).toMatchObject(TOO_LARGE);
  expect(existsSync(side.clone)).toBe(false);
  network.isSlow = false;
  expect(await side.cycle(options)).toMatchObject(TOO_LARGE);
  git(["update-ref", "-d", "refs/heads/main"]);
  commitOf(git, "small", 8000);
  expect(await side.cycle(options)).toMatchObject({ is: "pushed" });
});

it("a clone that has outgrown its limit by what was pushed before is made anew, which is no trouble", async () => {
  const server = await startGitServer({ tls: false });
  onTestFinished(server.stop);
  const side = await sideOf({ url: server.url });
  const large = live({ "prod/a.yaml": randomBytes(1_000_000).toString("hex") });
  expect(await side.cycle({ wanted: large })).toMatchObject({ is: "pushed" });
  const small = live({ "prod/a.yaml": "1" });
  expect(await side.cycle({ wanted: small, start: "clone" })).toMatchObject({ is: "pushed" });
  const again = live({ "prod/a.yaml": "2" });
  expect(await side.cycle({ wanted: again, start: "clone", largest: 500_000 })).toMatchObject({ is: "pushed" });
  expect(gitOf(server.directory)(["cat-file", "blob", "main:prod/a.yaml"])).toBe("2");
});

it("a push that stalls is given up at its deadline, or at that of the Lease, and the fetch decides", async () => {
  const network = { isBad: true };
  const server = await startGitServer({
    tls: false,
    fault: ({ isPush }) => (isPush && network.isBad ? "silence" : undefined),
  });
  onTestFinished(server.stop);
  const side = await sideOf({ url: server.url });
  const wanted = live({ "prod/a.yaml": "1" });
  for (const options of [{ deadlines: { push: 1 } }, { mayPushFor: () => 1 }])
    expect(await side.cycle({ wanted, ...options })).toMatchObject({
      is: "failed",
      trouble: { reason: "ConnectionFailed", message: expect.stringContaining("within 1 s"), lasts: false },
    });
  network.isBad = false;
  expect(await side.cycle({ wanted, start: "clone" })).toMatchObject({ is: "pushed" });
});

it("several writers of one branch all get through, and each commit of each is there once", async () => {
  const server = await startGitServer({ tls: false });
  onTestFinished(server.stop);
  const git = gitOf(server.directory);
  const rounds = 2;
  const writer = async (name: string): Promise<void> => {
    const side = await sideOf({ url: server.url });
    for (let round = 1; round <= rounds; round++) {
      const plan = planOf(() => live({ [`${name}/a.yaml`]: `${round}` }, name), name);
      await expect.poll(async () => (await side.cycle({ plan, start: "disk" })).is).not.toBe("failed");
    }
  };
  const names = ["one", "two", "three"];
  await Promise.all(names.map(writer));
  const authors = git(["log", "--format=%an", "main"]).split("\n");
  for (const name of names) {
    expect(authors.filter((author) => author === name)).toHaveLength(rounds);
    expect(git(["cat-file", "blob", `main:${name}/a.yaml`])).toBe(`${rounds}`);
  }
  expect(git(["rev-list", "--merges", "--count", "main"])).toBe("0");
  expect(git(["fsck", "--strict", "--no-dangling"])).toBe("");
});

/** In a container, Node is the first process, and becomes the parent of what others leave. */
const firstProcess = ["-pf", "--mount-proc", process.execPath, "--conditions=source", "--input-type=module", "-e"];

it("as the first process of a container, it is left with no zombie", ({ skip }) => {
  if (spawnSync("unshare", ["-pf", "--mount-proc", "true"]).status !== 0) return skip("no containers can be made here");
  const program = `
    import { readdirSync, readFileSync } from "node:fs";
    import { gitIn, printed } from ${JSON.stringify(new URL("../../packages/git-journal/src/shell/git.ts", import.meta.url).href)};
    const { _tag } = await gitIn({ PATH: process.env.PATH })({ args: ["version"], deadline: 60, read: printed });
    const isZombie = (pid) => / Z /.test(readFileSync("/proc/" + pid + "/stat", "utf8"));
    const zombies = readdirSync("/proc").filter((pid) => /^[0-9]+$/.test(pid) && isZombie(pid));
    console.log(JSON.stringify([process.pid, _tag, zombies]));`;
  const { stdout } = spawnSync("unshare", [...firstProcess, program], { cwd: import.meta.dirname, encoding: "utf8" });
  expect(JSON.parse(stdout)).toEqual([1, "Right", []]);
});
