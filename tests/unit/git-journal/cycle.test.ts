// Cycles against a model of git: whatever happens between any two effects, the branch ends as wanted, and nothing is there twice.
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import type { BranchName } from "../../../packages/git-journal/src/core/git/branch-name.ts";
import type { Commit } from "../../../packages/git-journal/src/core/git/commit.ts";
import {
  begin,
  effectOf,
  type Job,
  type Outcome,
  type Plan,
  type Start,
  type State,
} from "../../../packages/git-journal/src/core/git/cycle.ts";
import type { Effect, Results } from "../../../packages/git-journal/src/core/git/effect.ts";
import type { GitFailure } from "../../../packages/git-journal/src/core/git/git-answer.ts";
import { next } from "../../../packages/git-journal/src/core/git/next.ts";
import type { RecordedCommit } from "../../../packages/git-journal/src/core/git/pending.ts";
import type { Refs } from "../../../packages/git-journal/src/core/git/refs.ts";
import type { ObjectId } from "../../../packages/git-journal/src/core/git/object-id.ts";
import type { FilePath } from "../../../packages/git-journal/src/core/path.ts";
import type { Tree, TreeEntry } from "../../../packages/git-journal/src/core/tree.ts";

/** What happens at an effect. */
type Happening =
  /** Nothing. */
  | "-"
  | "killed before"
  | "killed after"
  /** The clone is damaged as well: the power failed. */
  | "killed, damaged"
  /** The server is not reached; or it is, but not heard of. */
  | "no network"
  | "no reply"
  /** The server refuses a push, whatever is in it. */
  | "refusal"
  /** Another one pushes a file of his, or one of ours, or drops the last commit. */
  | "other pushes"
  | "other edits"
  | "other sets back";

interface Stored {
  readonly parent: ObjectId | undefined;
  readonly tree: Tree;
  readonly author: string;
}

const idAt = (tree: Tree, path: string): ObjectId | undefined => tree.get(path)?.id as ObjectId | undefined;
const blob = (text: string): ObjectId => text as ObjectId;
const PLACE = {
  url: "https://git.example.com/live.git",
  host: "git.example.com",
  port: undefined,
  branch: "main" as BranchName,
  secret: undefined,
  scrub: (text: string) => text,
};

const left = (stderr: string, stdout = "", code = 128): E.Either<GitFailure, never> =>
  E.left({ ended: { by: "exit", code }, stderr, stdout });
const UNHEARD = left("fatal: the remote end hung up unexpectedly\n");

class Killed extends Error {}

/** The server, the clone on the disk, and what happens. */
const newWorld = (happenings: readonly Happening[]) => {
  const objects = new Map<ObjectId, Stored>();
  const add = (commit: Stored): ObjectId => {
    const id = `c${objects.size}` as ObjectId;
    objects.set(id, commit);
    return id;
  };
  const server: { tip: ObjectId | undefined } = { tip: undefined };
  const disk: { clone: "absent" | "damaged" | "whole"; refs: Refs; depth: number } = {
    clone: "absent",
    refs: {},
    depth: 0,
  };
  const ahead = [...happenings];
  const others = { commits: 0, dropped: new Set<ObjectId>() };
  /** By whom changes were committed on this disk. */
  const committed = new Map<string, string>();

  const history = (from: ObjectId | undefined, depth = Number.POSITIVE_INFINITY): readonly ObjectId[] => {
    const all: ObjectId[] = [];
    for (let at = from; at !== undefined && all.length < depth; at = objects.get(at)?.parent) all.push(at);
    return all;
  };
  const treeOf = (id: ObjectId | undefined): Tree =>
    (id === undefined ? undefined : objects.get(id)?.tree) ?? new Map();
  const otherCommits = (path: string, text: string): void => {
    const tree = new Map(treeOf(server.tip)).set(path, { kind: "file", id: blob(text) });
    server.tip = add({ parent: server.tip, tree, author: "other" });
    others.commits += 1;
  };
  const happens = (what: Happening): void => {
    if (what === "other pushes") otherCommits("other", `other ${objects.size}`);
    if (what === "other edits") otherCommits("prod/a", `edited ${objects.size}`);
    if (what === "other sets back" && server.tip !== undefined) {
      others.dropped.add(server.tip);
      server.tip = objects.get(server.tip)?.parent;
    }
  };

  const imported = (base: ObjectId | undefined, commits: readonly Commit[]): readonly ObjectId[] => {
    let parent = base;
    return commits.map(({ author, changes }) => {
      const tree = new Map<string, TreeEntry>(treeOf(parent));
      for (const change of changes)
        if (change.to === "absent") tree.delete(change.path);
        else
          tree.set(change.path, {
            kind: "file",
            id: change.to === "blob" ? change.blob : blob(Buffer.from(change.content).toString()),
          });
      parent = add({ parent, tree, author: author.name });
      return parent;
    });
  };

  const recorded = (base: ObjectId | undefined, head: ObjectId): readonly RecordedCommit[] => {
    const all = history(head);
    const ours = all.slice(0, base === undefined ? all.length : all.indexOf(base)).toReversed();
    return ours.map((id) => {
      const { parent, tree, author } = objects.get(id) ?? { parent: undefined, tree: new Map(), author: "" };
      const from = treeOf(parent);
      const paths = [...new Set([...from.keys(), ...tree.keys()])];
      return {
        author: { name: author, email: "" },
        at: 0,
        message: "",
        changes: paths
          .map((path) => ({ path: path as FilePath, from: idAt(from, path), to: idAt(tree, path) }))
          .filter((change) => change.from !== change.to),
      };
    });
  };

  const perform = (
    effect: Effect<unknown>,
    what: Happening,
  ): E.Either<GitFailure, Results<unknown>[keyof Results<unknown>]> => {
    if (disk.clone === "damaged" && !["prepare", "check", "make", "discard", "wait"].includes(effect.do))
      return left("fatal: not a git repository: '/work/1.git'\n");
    switch (effect.do) {
      case "prepare":
        return E.right(disk.clone === "absent" ? "absent" : "present");
      case "check":
        return disk.clone === "whole" ? E.right(null) : left("error: broken link\n", "", 2);
      case "make":
        Object.assign(disk, { clone: "whole", refs: {}, depth: 0 });
        return E.right(null);
      case "discard":
        Object.assign(disk, { clone: "absent", refs: {} });
        return E.right(null);
      case "fetch":
        if (what === "no network" || what === "no reply") return UNHEARD;
        if (server.tip === undefined) return left("fatal: couldn't find remote ref refs/heads/main\n");
        disk.refs = { ...disk.refs, fetched: server.tip };
        disk.depth = effect.depth;
        return E.right(null);
      case "readRefs":
        return E.right(disk.refs);
      case "isAncestor":
        return E.right(history(disk.refs.fetched, disk.depth).includes(effect.commit));
      case "readPending":
        return E.right(recorded(effect.pending.base, effect.pending.head));
      case "list":
        return E.right(treeOf(effect.commit));
      case "import": {
        const ids = imported(effect.base, effect.commits);
        for (const { author, changes } of effect.commits)
          for (const { path } of changes) if (author.name !== "bot") committed.set(path, author.name);
        const head = ids.at(-1);
        if (head !== undefined) disk.refs = { ...disk.refs, pending: { head, base: effect.base } };
        return E.right(ids);
      }
      case "push": {
        if (what === "no network") return UNHEARD;
        if (what === "refusal")
          return left("", `!\t${effect.head}:refs/heads/main\t[remote rejected] (pre-receive hook declined)\n`, 1);
        const isFirst = server.tip === effect.base;
        if (isFirst && effect.base !== undefined && !history(effect.head).includes(effect.base))
          throw new Error("not on the tip that it replaces");
        if (isFirst) server.tip = effect.head;
        if (what === "no reply") return UNHEARD;
        return isFirst
          ? E.right("accepted")
          : left("", `!\t${effect.head}:refs/heads/main\t[rejected] (stale info)\n`, 1);
      }
      case "settle": {
        const { pending: _, tip: __, ...others } = disk.refs;
        disk.refs = effect.tip === undefined ? {} : { ...others, tip: effect.tip };
        return E.right(null);
      }
      case "locate":
        return E.right(undefined);
      case "readBlobs":
      case "wait":
      case "repack":
      case "prune":
        return E.right(null);
    }
  };

  /** One effect, with what happens before and after it. */
  const act = (effect: Effect<unknown>): ReturnType<typeof perform> => {
    const what = ahead.shift() ?? "-";
    if (what === "killed before") throw new Killed();
    happens(what);
    const answer = perform(effect, what);
    if (what === "killed, damaged" && disk.clone === "whole") disk.clone = "damaged";
    if (what.startsWith("killed")) throw new Killed();
    return answer;
  };
  return { server, disk, others, committed, objects, history, treeOf, act, isQuiet: () => ahead.length === 0 };
};

type World = ReturnType<typeof newWorld>;

const run = (world: World, job: Job<unknown>, start: Start): Outcome => {
  let state: State<unknown> = begin(job, start);
  for (let n = 0; n < 500; n++) {
    const following = next(state, world.act(effectOf(state)));
    if (following.at === "end") return following.outcome;
    state = following;
  }
  throw new Error(`no end, at ${state.at}`);
};

const WANTED = new Map([
  ["prod/a", { text: "new a", by: "alice" }],
  ["prod/b", { text: "new b", by: "alice" }],
  ["prod/c", { text: "new c", by: "bob" }],
]);

/** One commit for each author; `by` says who that is. */
const planOf = (by: (path: string) => string, forget: () => void): Plan<unknown> => ({
  folders: ["prod"],
  blobsToRead: () => [],
  read: () => null,
  commits: (tree, _, landed) => {
    if (landed !== undefined) forget();
    const changed = [...WANTED].filter(([path, { text }]) => tree.get(path)?.id !== text);
    const authors = [...new Set(changed.map(([path]) => by(path)))];
    return authors.map((author) => ({
      author: { name: author, email: "" },
      at: 0,
      message: "",
      changes: changed
        .filter(([path]) => by(path) === author)
        .map(([path, { text }]) => ({ path: path as FilePath, to: "content", content: Buffer.from(text) })),
    }));
  },
});

/** Processes, one after the other, until nothing happens any more and the branch is as wanted. */
const lastUntilQuiet = (world: World): void => {
  const memory = { isForgotten: false };
  const forget = (): void => void (memory.isForgotten = true);
  const plan = planOf((path) => (memory.isForgotten ? "bot" : (WANTED.get(path)?.by ?? "bot")), forget);
  for (let lives = 0; lives < 100; lives++) {
    try {
      let start: Start = "disk";
      for (let isRecovered = false; !isRecovered; ) {
        const outcome: Outcome = run(world, { place: PLACE, plan: "recover", repack: false }, start);
        isRecovered = outcome.is !== "failed";
        start = outcome.next;
      }
      for (let cycles = 0; cycles < 100; cycles++) {
        const wasQuiet = world.isQuiet();
        const outcome: Outcome = run(world, { place: PLACE, plan, repack: false }, start);
        if (outcome.is === "failed") {
          start = outcome.next;
          continue;
        }
        // Who it was is said once.
        forget();
        if (wasQuiet && outcome.is === "current" && start === "clone") return;
        // Now and then the tip is looked at again.
        start = world.isQuiet() ? "clone" : outcome.next;
      }
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      forget();
    }
  }
  throw new Error("it does not come to rest");
};

const HAPPENINGS: readonly Happening[] = [
  "killed before",
  "killed after",
  "killed, damaged",
  "no network",
  "no reply",
  "refusal",
  "other pushes",
  "other edits",
  "other sets back",
];

/** What is not as it should be. */
const problemsOf = (world: World, happenings: readonly Happening[]): readonly string[] => {
  const { server, disk, others, committed, history, treeOf, objects } = world;
  const tree = treeOf(server.tip);
  const commits = history(server.tip);
  const authorsOf = (path: string): readonly string[] =>
    commits.flatMap((id) => {
      const commit = objects.get(id);
      const isOurs = commit !== undefined && commit.author !== "other";
      return isOurs && commit.tree.get(path)?.id !== treeOf(commit.parent).get(path)?.id ? [commit.author] : [];
    });
  const isSetBack = happenings.includes("other sets back");
  const isEdited = happenings.includes("other edits");
  const problems = [...WANTED].flatMap(([path, { text, by }]) => {
    const authors = authorsOf(path);
    const named = authors.filter((author) => author !== "bot");
    const isDisturbed = isSetBack || (isEdited && path === "prod/a");
    // Who it was is known once it is committed, unless the disk is lost, or the server does not take it after a restart.
    const isLost = happenings.includes("killed, damaged") || happenings.includes("refusal");
    const expected = isLost ? authors[0] : (committed.get(path) ?? "bot");
    return [
      ...(tree.get(path)?.id === text ? [] : [`${path} is not as wanted`]),
      ...(named.every((author) => author === by)
        ? []
        : [`${path}: named for a change of another one: ${named.join()}`]),
      ...(named.length <= 1 ? [] : [`${path}: named twice, though the bot puts right what others do: ${named.join()}`]),
      ...(isDisturbed || (authors.length === 1 && authors[0] === expected)
        ? []
        : [`${path}: ${authors.join()} in place of ${expected}`]),
    ];
  });
  const left = commits.filter((id) => objects.get(id)?.author === "other").length;
  return [
    ...problems,
    ...(isSetBack || left === others.commits ? [] : [`${left} of ${others.commits} commits of others are left`]),
    ...(commits.some((id) => others.dropped.has(id)) ? ["what another one has dropped is there again"] : []),
    ...(disk.refs.tip === server.tip && disk.refs.pending === undefined ? [] : ["the clone does not know"]),
  ];
};

const nothings = (n: number): readonly Happening[] => Array.from({ length: n }, () => "-");

describe("a branch", () => {
  it.each(HAPPENINGS)("is as wanted in the end, with %s at each effect, and with all else soon after it", (what) => {
    const cases = nothings(24).flatMap((_, n) =>
      HAPPENINGS.flatMap((then) => nothings(6).map((__, m) => [...nothings(n), what, ...nothings(m), then])),
    );
    const failures = cases.flatMap((happenings) => {
      const world = newWorld(happenings);
      lastUntilQuiet(world);
      return problemsOf(world, happenings).map((problem) => `${happenings.join(", ")}: ${problem}`);
    });
    expect(failures).toEqual([]);
  });

  it("is as wanted in the end, whatever happens at whichever effects, and no change is there twice", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 3, arbitrary: fc.constant("-" as const) }, fc.constantFrom(...HAPPENINGS)), {
          maxLength: 60,
          size: "max",
        }),
        (happenings) => {
          const world = newWorld(happenings);
          lastUntilQuiet(world);
          expect(problemsOf(world, happenings)).toEqual([]);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
