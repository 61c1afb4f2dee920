// One branch on a real server, further: refusals, lost replies, deleted and rewritten branches, clones that grow or are damaged.
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Plan } from "../../packages/git-journal/src/core/git/cycle.ts";
import { gitOf } from "../fixtures/git-server.ts";
import { commitsElsewhere, world } from "./server-world.ts";
import { type Live, live, planOf } from "./world.ts";

/** Without comments. */
const meant = (content: Uint8Array): string =>
  Buffer.from(content)
    .toString()
    .replaceAll(/^#.*\n/gmu, "");

describe("a branch", () => {
  it("keeps its history, and what others have in it, with a clone that has only its tip", async () => {
    const { side, files, log, git } = await world();
    commitsElsewhere(git, "README.md", "one");
    commitsElsewhere(git, "README.md", "two");
    await side.cycle({ wanted: live({ "prod/a.yaml": "1" }) });
    await side.cycle({ wanted: live({ "prod/a.yaml": "2" }), start: "clone" });
    expect(files()).toEqual({ "README.md": "two", "prod/a.yaml": "2" });
    expect(log()).toHaveLength(4);
    expect(git(["fsck", "--strict"])).toBe("");
  });

  it("gets no commit where nothing differs, and from a tip that is known the server is not even asked", async () => {
    const { side, server, log } = await world();
    const wanted = live({ "prod/a.yaml": "1" });
    const first = await side.cycle({ wanted });
    expect(await side.cycle({ wanted, start: "clone" })).toMatchObject({ is: "current" });
    const asked = server.requests.length;
    const tip = first.is === "pushed" ? first.tip : undefined;
    if (tip === undefined) throw new Error("nothing was pushed");
    expect(await side.cycle({ wanted, start: { tip } })).toMatchObject({ is: "current", tip });
    expect(server.requests).toHaveLength(asked);
    expect(log()).toHaveLength(1);
  });

  it("has no commit where a file says the same in other words: those that differ are read, and left as they are", async () => {
    const { side, files, git } = await world();
    commitsElsewhere(git, "prod/a.yaml", "# why\na: 1\n");
    commitsElsewhere(git, "prod/b.yaml", "# why\nb: 1\n");
    const read: number[] = [];
    const wanting = (wanted: Live): Plan<unknown> => {
      const plan = planOf(() => wanted);
      return {
        ...plan,
        blobsToRead: (tree) => [...tree.values()].map(({ id }) => id),
        read: meant,
        commits: (tree, blobs, landed, tipDate) => {
          read.push(blobs.size);
          const isMeant = (path: string): boolean => blobs.get(tree.get(path)?.id ?? "") === wanted[path]?.text;
          return plan
            .commits(tree, blobs, landed, tipDate)
            .map((commit) => ({ ...commit, changes: commit.changes.filter(({ path }) => !isMeant(path)) }))
            .filter(({ changes }) => changes.length > 0);
        },
      };
    };
    const first = await side.cycle({ plan: wanting(live({ "prod/a.yaml": "a: 1\n", "prod/b.yaml": "b: 1\n" })) });
    expect(first).toMatchObject({ is: "current" });
    const wanted = live({ "prod/a.yaml": "a: 1\n", "prod/b.yaml": "b: 2\n" });
    expect(await side.cycle({ plan: wanting(wanted), start: first.next })).toMatchObject({ is: "pushed" });
    expect(files()).toEqual({ "prod/a.yaml": "# why\na: 1", "prod/b.yaml": "b: 2" });
    expect(read).toEqual([2, 2]);
  });

  it("that others have moved on is not said to be rewritten", async () => {
    const { side, git } = await world();
    await side.cycle({ wanted: live({ "prod/a.yaml": "1" }) });
    commitsElsewhere(git, "README.md", "one");
    commitsElsewhere(git, "README.md", "two");
    const again = await side.cycle({ wanted: live({ "prod/a.yaml": "1" }), start: "clone" });
    expect(again).toMatchObject({ is: "current", rewritten: false });
  });

  it("that is deleted is made again", async () => {
    const { side, files, log, git } = await world();
    commitsElsewhere(git, "README.md", "one");
    const wanted = live({ "prod/a.yaml": "1" });
    await side.cycle({ wanted });
    git(["update-ref", "-d", "refs/heads/main"]);
    expect(await side.cycle({ wanted, start: "clone" })).toMatchObject({ is: "pushed", rewritten: true });
    expect(files()).toEqual({ "prod/a.yaml": "1" });
    expect(log()).toHaveLength(1);
  });

  it("has objects with names of sha256 where the repository has", async () => {
    const { side, files } = await world({ objectFormat: "sha256" });
    expect(await side.cycle({ wanted: live({ "prod/a.yaml": "1" }) })).toMatchObject({ is: "pushed" });
    expect(files()).toEqual({ "prod/a.yaml": "1" });
  });
});

describe("a push", () => {
  it("that the server refuses is told with its words, and does not get through another way", async () => {
    const { side, server, git } = await world();
    const hook = path.join(server.directory, "hooks", "pre-receive");
    writeFileSync(hook, "#!/bin/sh\necho 'GH006: Protected branch update failed'\necho 'ask an owner' >&2\nexit 1\n", {
      mode: 0o755,
    });
    const outcome = await side.cycle({ wanted: live({ "prod/a.yaml": "1" }) });
    expect(outcome).toMatchObject({
      is: "failed",
      trouble: {
        reason: "PushRefused",
        lasts: true,
        message:
          "127.0.0.1 refuses pushes to main (pre-receive hook declined): GH006: Protected branch update failed ask an owner",
      },
    });
    expect(git(["for-each-ref"])).toBe("");
  });

  it("of commits of before that the server refuses does not keep those of now from it", async () => {
    const { side, server, log } = await world();
    const hook = path.join(server.directory, "hooks", "pre-receive");
    const refuses = '#!/bin/sh\nwhile read -r _ new _; do git grep -q leaked "$new" && exit 1; done; exit 0\n';
    writeFileSync(hook, refuses, { mode: 0o755 });
    expect(await side.cycle({ wanted: live({ "prod/a.yaml": "leaked" }) })).toMatchObject({
      is: "failed",
      trouble: { reason: "PushRefused" },
    });
    expect(await side.cycle({ plan: "recover" })).toMatchObject({ is: "current" });
    expect(await side.cycle({ wanted: live({ "prod/a.yaml": "fine" }), start: "clone" })).toMatchObject({
      is: "pushed",
    });
    expect(log()).toHaveLength(1);
  });

  it("is not sent if it could last longer than the process may write", async () => {
    const { side, server } = await world();
    const outcome = await side.cycle({ wanted: live({ "prod/a.yaml": "1" }), mayPushFor: () => 0 });
    expect(outcome).toMatchObject({ is: "failed", trouble: { reason: "LeaseHeld", lasts: false } });
    expect(server.requests.some(({ path }) => path.includes("receive-pack"))).toBe(false);
  });

  it("that libcurl sends again, since the first answer was lost, is not taken for one of others", async () => {
    const lost = { left: 1 };
    const { side, log } = await world({
      fault: ({ isPush }) => (isPush && lost.left-- > 0 ? "loses reply" : undefined),
    });
    const outcome = await side.cycle({ wanted: live({ "prod/a.yaml": "1" }) });
    expect(outcome).toMatchObject({ is: "current", landed: expect.any(String) });
    expect(log()).toHaveLength(1);
  });

  it("whose reply is lost is found below what others have pushed since, and their change is not put right in its name", async () => {
    const network = { isBad: true };
    const { side, log, git } = await world({
      fault: ({ isPush }) => (isPush && network.isBad ? "loses reply" : undefined),
    });
    commitsElsewhere(git, "README.md", "one");
    await side.cycle({ wanted: live({ "prod/a.yaml": "1" }) });
    network.isBad = false;
    commitsElsewhere(git, "prod/a.yaml", "foreign");
    expect(await side.cycle({ plan: "recover" })).toMatchObject({ is: "current", rewritten: false });
    expect(log()).toEqual(["Eve: else", "alice: Update 1 objects by user/alice", "Eve: else"]);
  });

  it("that is cut in the middle of its pack changes nothing, and goes through with the next try", async () => {
    const network = { isBad: true };
    const { side, files, git } = await world({
      fault: ({ isPush }) => (isPush && network.isBad ? { cutsRequestAfter: 300 } : undefined),
    });
    const wanted = live(
      Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`prod/${n}.yaml`, `${n}`.repeat(99)])),
    );
    expect(await side.cycle({ wanted })).toMatchObject({ is: "failed", trouble: { reason: "ConnectionFailed" } });
    network.isBad = false;
    expect(git(["for-each-ref"])).toBe("");
    expect(await side.cycle({ wanted, start: "clone" })).toMatchObject({ is: "pushed" });
    expect(Object.keys(files())).toHaveLength(50);
  });
});

const texts = (n: number) =>
  live(Object.fromEntries(Array.from({ length: 150 }, (_, m) => [`prod/${m}.yaml`, `${n} ${m}`])));

describe("a clone", () => {
  it("stays small however many pushes there were", async () => {
    const { side } = await world();
    const clone = gitOf(side.clone);
    const count = (what: string): number =>
      Number(new RegExp(`^${what}: (\\d+)$`, "mu").exec(clone(["count-objects", "-v"]))?.[1]);
    // More than a hundred objects are kept as a pack.
    for (const n of [1, 2, 3]) await side.cycle({ wanted: texts(n), start: n === 1 ? "disk" : "clone" });
    await side.cycle({ wanted: { ...texts(3), ...live({ "prod/a.yaml": "1" }) }, start: "clone" });
    expect(count("packs")).toBeGreaterThan(2);
    const wanted = { ...texts(3), ...live({ "prod/a.yaml": "2" }) };
    await side.cycle({ wanted, start: "clone", repack: true });
    // What was pushed last is there as well as what it was pushed on: two commits, four folders, 150 files, and two of one.
    expect([count("packs"), count("in-pack"), count("count")]).toEqual([1, 158, 0]);
    await side.cycle({ wanted, start: "clone", repack: true });
    expect([count("packs"), count("in-pack"), count("count")]).toEqual([1, 154, 0]);
  });

  it("that is damaged is made anew", async () => {
    const { side, files } = await world();
    await side.cycle({ wanted: live({ "prod/a.yaml": "1" }) });
    const tree = gitOf(side.clone)(["rev-parse", "refs/journal/tip^{tree}"]);
    writeFileSync(path.join(side.clone, "objects", tree.slice(0, 2), tree.slice(2)), "");
    const wanted = live({ "prod/a.yaml": "2" });
    expect(await side.cycle({ wanted, start: "clone" })).toMatchObject({ is: "pushed" });
    expect(files()).toEqual({ "prod/a.yaml": "2" });
    writeFileSync(path.join(side.clone, "HEAD"), "");
    expect(await side.cycle({ wanted, start: "disk" })).toMatchObject({ is: "current" });
  });

  it("has nothing of a git process that was killed at its deadline, once the next cycle has begun where this one says", async () => {
    const network = { isBad: true };
    const { side, git } = await world({
      fault: ({ path: at, method }) =>
        network.isBad && method === "POST" && at.endsWith("upload-pack") ? "silence" : undefined,
    });
    commitsElsewhere(git, "README.md", "one");
    const first = await side.cycle({ wanted: live({ "prod/a.yaml": "1" }), deadlines: { fetch: 1 } });
    expect(first).toMatchObject({ is: "failed", next: "disk" });
    writeFileSync(path.join(side.clone, "shallow.lock"), "");
    writeFileSync(path.join(side.clone, "objects", "pack", "tmp_pack_abc"), "half");
    network.isBad = false;
    expect(await side.cycle({ wanted: live({ "prod/a.yaml": "1" }), start: first.next })).toMatchObject({
      is: "pushed",
    });
    expect(existsSync(path.join(side.clone, "shallow.lock"))).toBe(false);
    expect(readdirSync(path.join(side.clone, "objects", "pack")).filter((name) => name.startsWith("tmp"))).toEqual([]);
  });

  it("with a lock file that nobody holds is mended in the same cycle", async () => {
    const { side } = await world();
    await side.cycle({ wanted: live({ "prod/a.yaml": "1" }) });
    writeFileSync(path.join(side.clone, "shallow.lock"), "");
    const outcome = await side.cycle({ wanted: live({ "prod/a.yaml": "2" }), start: "clone" });
    expect(outcome).toMatchObject({ is: "pushed" });
  });
});
