// One branch on a real server: what is wanted gets there, once, on top of what others push, and never over it.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { gitOf, startGitServer } from "../fixtures/git-server.ts";
import { live, sideOf } from "./world.ts";

/** A server, one side, and git in the server's repository. */
const world = async (options: Parameters<typeof startGitServer>[0] = {}) => {
  const server = await startGitServer({ tls: false, ...options });
  onTestFinished(server.stop);
  const git = gitOf(server.directory);
  const files = (ref = "main"): Record<string, string> =>
    Object.fromEntries(
      git(["ls-tree", "-r", "--name-only", ref])
        .split("\n")
        .map((at) => [at, git(["cat-file", "blob", `${ref}:${at}`])]),
    );
  return {
    server,
    git,
    files,
    side: await sideOf({ url: server.url }),
    log: (format = "%an: %s") => git(["log", `--format=${format}`, "main"]).split("\n"),
  };
};

/** Another writer commits in the repository itself. */
const commitsElsewhere = (git: ReturnType<typeof gitOf>, at: string, text: string, parent = "main"): string => {
  const has = git(["for-each-ref", "refs/heads/main"]) !== "";
  git(
    ["fast-import", "--quiet", "--force"],
    `commit refs/heads/main\ncommitter Eve <eve@example.com> 1700000000 +0000\ndata 4\nelse${
      has ? `\nfrom ${git(["rev-parse", parent])}` : ""
    }\nM 100644 inline ${at}\ndata ${Buffer.byteLength(text)}\n${text}\n`,
  );
  return git(["rev-parse", "main"]);
};

describe("a branch", () => {
  it("is made where there is none, and has one commit for each author", async () => {
    const { side, files, log, git } = await world();
    const wanted = { ...live({ "prod/a.yaml": "a: 1\n" }), ...live({ "prod/b/c.yaml": "c: 1\n" }, "bob") };
    const outcome = await side.cycle({ wanted });
    expect(outcome).toMatchObject({ is: "pushed", conflicts: [], rewritten: false, replays: 0 });
    expect(files()).toEqual({ "prod/a.yaml": "a: 1", "prod/b/c.yaml": "c: 1" });
    expect(log("%an <%ae> %cn <%ce>")).toEqual([
      "bob <bob@example.com> GitOps Reverser <gitops-reverser@configbutler.ai>",
      "alice <alice@example.com> GitOps Reverser <gitops-reverser@configbutler.ai>",
    ]);
    expect(git(["fsck", "--strict"])).toBe("");
  });

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

  it("is written by two at a time without force, merge or loss: who comes second compares anew", async () => {
    const seen = { pushes: 0 };
    const { side, files, log, git } = await world({
      onPhase: ({ isPush }, phase) => {
        if (isPush && phase === "asked" && ++seen.pushes <= 2)
          commitsElsewhere(git, "prod/a.yaml", seen.pushes === 1 ? "foreign" : "1");
      },
    });
    const outcome = await side.cycle({
      wanted: { ...live({ "prod/a.yaml": "1" }), ...live({ "prod/b": "b" }, "bob") },
    });
    expect(outcome).toMatchObject({ is: "pushed", replays: 2 });
    expect(files()).toEqual({ "prod/a.yaml": "1", "prod/b": "b" });
    // What the other one has brought to the same is no commit any more.
    expect(log()).toEqual(["bob: Update 1 objects by user/bob", "Eve: else", "Eve: else"]);
  });

  it("that somebody has set back is not brought forward again: that it was rewritten is told, and written is what is there", async () => {
    const { side, log, git } = await world();
    commitsElsewhere(git, "README.md", "one");
    commitsElsewhere(git, "secret", "dropped");
    const first = await side.cycle({ wanted: live({ "prod/a.yaml": "1" }) });
    if (first.is !== "pushed") throw new Error("nothing was pushed");
    git(["update-ref", "refs/heads/main", "main~2"]);
    // Even if the tip is believed to be known: a plain push would succeed, and bring the dropped commits back.
    const again = await side.cycle({ wanted: live({ "prod/a.yaml": "2" }), start: { tip: first.tip } });
    expect(again).toMatchObject({ is: "pushed", rewritten: true, replays: 1 });
    expect(log()).toEqual(["alice: Update 1 objects by user/alice", "Eve: else"]);
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

  it("is not sent if it could last longer than the process may write", async () => {
    const { side, server } = await world();
    const outcome = await side.cycle({ wanted: live({ "prod/a.yaml": "1" }), mayPushFor: () => 0 });
    expect(outcome).toMatchObject({ is: "failed", trouble: { reason: "LeaseHeld", lasts: false } });
    expect(server.requests.some(({ path }) => path.includes("receive-pack"))).toBe(false);
  });

  it("whose reply is lost is found by the next fetch: nothing is pushed twice", async () => {
    const network = { isBad: true };
    const { side, log } = await world({
      fault: ({ isPush }) => (isPush && network.isBad ? "loses reply" : undefined),
    });
    const wanted = live({ "prod/a.yaml": "1" });
    const first = await side.cycle({ wanted });
    network.isBad = false;
    expect(first).toMatchObject({ is: "failed", trouble: { reason: "ConnectionFailed", lasts: false } });
    const second = await side.cycle({ wanted, start: "clone" });
    expect(second).toMatchObject({ is: "current", landed: expect.any(String), rewritten: false });
    expect(log()).toHaveLength(1);
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

describe("a clone", () => {
  it("stays small however many pushes there were", async () => {
    const { side } = await world();
    const clone = gitOf(side.clone);
    const objects = (): number =>
      clone(["count-objects", "-v"])
        .split("\n")
        .filter((line) => /^(?:count|in-pack)/u.test(line))
        .reduce((sum, line) => sum + Number(line.split(" ")[1]), 0);
    for (const n of [1, 2, 3, 4, 5])
      await side.cycle({ wanted: live({ "prod/a.yaml": `${n}` }), start: n === 1 ? "disk" : "clone" });
    const before = objects();
    await side.cycle({ wanted: live({ "prod/a.yaml": "5" }), start: "clone", repack: true });
    // A commit, two folders and a file.
    expect([before, objects()]).toEqual([25, 4]);
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
});
