// Any instant may be the last: killed before, in or after each effect, or in any phase of a push, the next process loses nothing.
import { describe, expect, it, onTestFinished } from "vitest";
import type { Git } from "../../packages/git-journal/src/shell/git.ts";
import { gitOf, type Phase, startGitServer } from "../fixtures/git-server.ts";
import { sampled, share, showShare } from "../fixtures/sample.ts";
import { type CycleOptions, type Live, live, newDirectory, sideOf } from "./world.ts";

class Killed extends Error {}

const WANTED: Live = { ...live({ "prod/a.yaml": "new", "prod/b.yaml": "b" }), ...live({ "prod/c.yaml": "c" }, "bob") };
/** After a restart nobody knows who it was. */
const FORGOTTEN: Live = Object.fromEntries(Object.entries(WANTED).map(([at, { text }]) => [at, { text, by: "bot" }]));

const world = async (onPhase?: (phase: Phase) => unknown) => {
  const server = await startGitServer({
    tls: false,
    onPhase: ({ isPush }, phase) => (isPush ? onPhase?.(phase) : undefined),
  });
  onTestFinished(server.stop);
  const git = gitOf(server.directory);
  git(
    ["fast-import", "--quiet"],
    "commit refs/heads/main\ncommitter Eve <eve@example.com> 1700000000 +0000\ndata 4\nelse\nM 100644 inline README.md\ndata 1\nx\n",
  );
  const directory = newDirectory();
  return { git, directory, start: () => sideOf({ url: server.url }, directory) };
};

type World = Awaited<ReturnType<typeof world>>;

/** What a process does from its start on; what it does not survive ends it. Returns the effects that it began. */
const lives = async ({ start }: World, wanted: Live, options: CycleOptions = {}): Promise<readonly string[]> => {
  const side = await start();
  const effects: string[] = [];
  const onEffect: CycleOptions["onEffect"] = (what, when) => {
    if (when === "before") effects.push(what);
    return options.onEffect?.(what, when);
  };
  try {
    await side.cycle({ ...options, plan: "recover", onEffect });
    await side.cycle({ ...options, wanted, start: "clone", onEffect });
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
  return effects;
};

/** The n-th effect, before or after it. */
const killedAt = (n: number, at: "before" | "after"): CycleOptions => {
  const seen = { effects: 0 };
  return {
    onEffect: (_, when) => {
      if (when === "before") seen.effects += 1;
      if (seen.effects === n && when === at) throw new Killed();
    },
  };
};

/** The n-th git process ends with its parent, so many ms after it began. */
const killedIn = (n: number, after: number): CycleOptions => {
  const seen = { processes: 0 };
  const controller = new AbortController();
  return {
    signal: controller.signal,
    around:
      (git): Git =>
      async (process) => {
        seen.processes += 1;
        if (seen.processes !== n) return git(process);
        setTimeout(() => controller.abort(), after);
        await git(process);
        throw new Killed();
      },
  };
};

/** All is there, once; nothing of others is touched; and what was committed is of who did it. */
const found = ({ git }: World, before: number) => {
  const count = Number(git(["rev-list", "--count", "main"]));
  return {
    files: git(["ls-tree", "-r", "--name-only", "main"])
      .split("\n")
      .map((at) => [at, git(["cat-file", "blob", `main:${at}`])]),
    authors: git(["log", "--format=%an", `--max-count=${count - before}`, "main"]).split("\n"),
    problems: git(["fsck", "--strict", "--no-dangling"]),
  };
};

const NAMED = ["bob", "alice"];
const UNNAMED = ["bot"];
const whole = (...authors: readonly (readonly string[])[]) => ({
  files: [["README.md", "x"], ...Object.entries(WANTED).map(([at, { text }]) => [at, text])],
  authors: expect.toSatisfy((some: unknown) => authors.some((one) => one.join() === String(some))),
  problems: "",
});

/** A process that has pushed before, so that there is a clone. */
const withClone = async (onPhase?: (phase: Phase) => unknown): Promise<World> => {
  const before = await world(onPhase);
  await lives(before, live({ "prod/a.yaml": "old" }));
  return before;
};

const RECOVERY = ["prepare", "check", "fetch", "readRefs"];
const EFFECTS = [...RECOVERY, "fetch", "readRefs", "list", "import", "push", "settle"];
const IMPORT = EFFECTS.indexOf("import") + 1;
const points = EFFECTS.flatMap((what, n) => [[what, n + 1, "before"] as const, [what, n + 1, "after"] as const]);

const every = share({ npmTest: 6, ci: 6 });

describe(`a process that is killed${showShare("point", every)}`, () => {
  it("has these effects, so that the suite kills it at each", async () => {
    const one = await withClone();
    expect(await lives(one, WANTED)).toEqual(EFFECTS);
    expect(found(one, 2)).toEqual(whole(NAMED));
  });

  it.each(sampled(points, every))(
    "at %s (%d., %s it) loses nothing, and the next one does nothing twice",
    async (...at) => {
      const [, n, when] = at;
      const one = await withClone();
      await lives(one, WANTED, killedAt(n, when));
      await lives(one, FORGOTTEN);
      expect(found(one, 2)).toEqual(whole(n > IMPORT || (n === IMPORT && when === "after") ? NAMED : UNNAMED));
    },
  );

  it.each(
    sampled(
      points
        .flatMap(([what, n, when]) => [1, 5, 9].map((m) => [what, n, when, m] as const))
        .filter(([, n]) => n >= IMPORT),
      every,
    ),
  )("at %s (%d., %s it), and again at the %d. of the next process, loses nothing", async (_, n, when, m) => {
    const one = await withClone();
    await lives(one, WANTED, killedAt(n, when));
    await lives(one, FORGOTTEN, killedAt(m, "after"));
    await lives(one, FORGOTTEN);
    expect(found(one, 2)).toEqual(n > IMPORT || when === "after" ? whole(NAMED) : whole(NAMED, UNNAMED));
  });

  it.each(
    sampled(
      [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((n) => [0, 4, 12].map((ms) => [n, ms] as const)),
      every,
    ),
  )("in its %d. git process, %d ms after that began, loses nothing", async (n, ms) => {
    const one = await withClone();
    await lives(one, WANTED, killedIn(n, ms));
    await lives(one, FORGOTTEN);
    expect(found(one, 2)).toEqual(whole(NAMED, UNNAMED));
  });

  it.each<Phase>(["asked", "done", "answered"])("when the server is at %s in a push loses nothing", async (phase) => {
    const kill = { armed: false, controller: new AbortController() };
    const one = await withClone((at) => {
      if (kill.armed && at === phase) kill.controller.abort();
    });
    kill.armed = true;
    await lives(one, WANTED, { signal: kill.controller.signal });
    kill.armed = false;
    await lives(one, FORGOTTEN);
    expect(found(one, 2)).toEqual(whole(NAMED));
  });
});

describe(`a process that has no clone yet, and is killed${showShare("point", every)}`, () => {
  it.each(sampled([1, 2, 3, 4, 5, 6, 7, 8], every))("in its %d. git process loses nothing", async (n) => {
    const one = await world();
    await lives(one, WANTED, killedIn(n, 3));
    await lives(one, FORGOTTEN);
    expect(found(one, 1)).toEqual(whole(NAMED, UNNAMED));
  });
});
