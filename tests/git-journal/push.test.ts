// One branch on a real server: what is wanted gets there, once, on top of what others push, and never over it.
import { describe, expect, it } from "vitest";
import { commitsElsewhere, world } from "./server-world.ts";
import { live } from "./world.ts";

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
    const first = await side.cycle({ wanted: live({ "prod/a.yaml": "1" }) });
    const second = await side.cycle({ wanted: live({ "prod/a.yaml": "dropped" }), start: first.next });
    git(["update-ref", "refs/heads/main", "main~1"]);
    // Even if the tip is believed to be known: a plain push would succeed, and bring the dropped commit back.
    const third = await side.cycle({ wanted: live({ "prod/a.yaml": "3" }), start: second.next });
    expect(third).toMatchObject({ is: "pushed", rewritten: true, replays: 1 });
    expect(log()).toEqual([
      "alice: Update 1 objects by user/alice",
      "alice: Update 1 objects by user/alice",
      "Eve: else",
    ]);
    expect(git(["log", "-S", "dropped", "--format=%h", "main"])).toBe("");
  });
});

describe("a push", () => {
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
});
