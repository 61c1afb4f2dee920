// Tests what the worker of a branch does next: that in the end the branch says what is live, whatever has happened in between.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalYaml } from "../../../packages/git-journal/src/core/canonical.ts";
import { compared, comparedFolders } from "../../../packages/git-journal/src/core/branch-comparison.ts";
import type { SeenFile } from "../../../packages/git-journal/src/core/branch-event.ts";
import { reportOf } from "../../../packages/git-journal/src/core/branch-report.ts";
import { UNKNOWN } from "../../../packages/git-journal/src/core/history.ts";
import { placeOf } from "../../../packages/git-journal/src/core/journaled-branch.ts";
import { marker } from "../../../packages/git-journal/src/core/ownership.ts";
import { ROOT } from "../../../packages/git-journal/src/core/path.ts";
import { sanitised } from "../../../packages/git-journal/src/core/sanitise.ts";
import {
  ALL,
  branchOf,
  type BranchWorld,
  configMap,
  CONFIG_MAPS,
  type Fate,
  fileOf,
  FOLDER,
  fold,
  gone,
  later,
  listed,
  newWorld,
  pathOf,
  seen,
  want,
  work,
} from "./branch-world.ts";

const MARKER = "prod/.configbutler/owner.yaml";
const textOf = (name: string, value: string): string => canonicalYaml(sanitised(configMap(name, value)));
const objects = ({ tree }: BranchWorld): Readonly<Record<string, string>> =>
  Object.fromEntries([...tree].filter(([path]) => path !== MARKER));
const subjects = ({ commits }: BranchWorld): readonly string[] =>
  commits.map(({ author, message }) => `${author.name}: ${message.split("\n")[0]}`);
const alice = { type: "user", name: "alice" } as const;
const bob = { type: "user", name: "bob" } as const;
const steps = (world: BranchWorld): readonly string[] => work(world).map((step) => step.do);
const report = (world: BranchWorld) => {
  const [destination] = [...world.state.destinations.values()];
  if (destination === undefined) throw new Error("no destination");
  return reportOf(world.state, destination);
};

describe("the worker of a branch", () => {
  it("waits for all lists, then syncs all at once, with the marker in the first commit", () => {
    const world = newWorld();
    expect(steps(world)).toEqual(["wait"]);
    listed(world, [configMap("a", "1"), configMap("b", "1"), configMap("c", "1")]);
    expect(steps(world)).toEqual(["acquire", "sync", "wait"]);
    expect(objects(world)).toEqual({
      [pathOf("a")]: textOf("a", "1"),
      [pathOf("b")]: textOf("b", "1"),
      [pathOf("c")]: textOf("c", "1"),
    });
    expect(world.commits.map(({ changes }) => changes.map(({ path }) => path))).toEqual([
      [MARKER, pathOf("a"), pathOf("b")],
      [pathOf("c")],
    ]);
    expect(report(world)).toMatchObject({
      readiness: { type: "ready" },
      objects: 3,
      pending: 0,
      pushed: { commits: 2, files: 3 },
    });
  });

  it("pushes no more commits at once than maxCommits, and goes on with the rest", () => {
    const world = newWorld();
    listed(
      world,
      Array.from({ length: 9 }, (_, n) => configMap(`m${n}`, "1")),
    );
    expect(steps(world)).toEqual(["acquire", "sync", "sync", "sync", "wait"]);
    expect(world.commits).toHaveLength(5);
    expect(report(world).pending).toBe(0);
  });

  it("commits nothing, and reads on, where a list has come to its end while files were being read", () => {
    const world = newWorld();
    listed(world, [configMap("a", "2")]);
    const tree = new Map([["prod/core/v1/configmaps/shop/b.yaml", { kind: "file", id: "b".repeat(40) } as const]]);
    const { comparison, commits } = compared(world.state, {
      tree,
      folders: new Set(comparedFolders(world.state)),
      read: new Map(),
      textOf: (fingerprint) => world.texts.get(fingerprint),
      installation: { clusterUid: "u1", namespace: "janus", name: "journal", instance: "i" },
      tipDate: undefined,
      now: world.now,
    });
    expect(commits).toEqual([]);
    expect(comparison.isAll).toBe(false);
  });

  it("pushes no more at once than fits into memory, but what is too large alone", () => {
    const world = newWorld();
    const large = (name: string): SeenFile => {
      const file = fileOf(world, configMap(name, "1"));
      const { ingested } = file;
      if (ingested.type !== "kept") throw new Error(ingested.type);
      return { ...file, ingested: { ...ingested, object: { ...ingested.object, bytes: 20 * 2 ** 20 } } };
    };
    fold(world, { type: "listed", resource: CONFIG_MAPS, version: "v1", files: ["a", "b", "c"].map(large) });
    expect(steps(world).filter((step) => step === "sync")).toHaveLength(3);
    expect(subjects(world)).toHaveLength(3);
  });

  it("commits a change after maxWait, by its author; what nobody is known for by the bot", () => {
    const world = newWorld();
    listed(world, [configMap("a", "1")]);
    work(world);
    seen(world, configMap("a", "2"), alice);
    seen(world, configMap("b", "1"));
    expect(steps(world)).toEqual(["sync", "wait"]);
    seen(world, configMap("c", "1"), bob);
    expect(steps(world)).toEqual(["wait"]);
    later(world, 100);
    expect(steps(world)).toEqual(["sync", "wait"]);
    gone(world, "c", alice);
    later(world, 100);
    work(world);
    expect(subjects(world)).toEqual([
      "GitOps Reverser: [CREATE] core/v1/configmaps/shop/a",
      "alice: [UPDATE] core/v1/configmaps/shop/a by user/alice",
      "GitOps Reverser: [CREATE] core/v1/configmaps/shop/b",
      "bob: [CREATE] core/v1/configmaps/shop/c by user/bob",
      "alice: [DELETE] core/v1/configmaps/shop/c by user/alice",
    ]);
  });

  it("goes on where a younger destination with the same folder has come, for which nothing is listed", () => {
    const world = newWorld();
    listed(world, [configMap("a", "1")]);
    work(world);
    const younger = branchOf(ALL, { name: "shop/same" }).destinations.map((one) => ({ ...one, isBlocked: true }));
    want(world, { ...branchOf(), destinations: [...branchOf().destinations, ...younger] });
    seen(world, configMap("a", "2"), alice);
    later(world, 100);
    expect(steps(world)).toEqual(["sync", "wait"]);
    expect(subjects(world).at(-1)).toBe("alice: [UPDATE] core/v1/configmaps/shop/a by user/alice");
  });

  it("tells each destination of what it has asked for itself, and marks a folder with its own first file", () => {
    const world = newWorld();
    const [own] = branchOf().destinations;
    const [outer] = branchOf(ALL, { name: "shop/outer", folder: ROOT }).destinations;
    const [same] = branchOf(ALL, { name: "shop/same" }).destinations;
    if (own === undefined || outer === undefined || same === undefined) throw new Error("no destination");
    want(world, {
      ...branchOf(),
      destinations: [own, { ...outer, otherFolders: [FOLDER] }, { ...same, isBlocked: true }],
    });
    listed(world, [configMap("a", "1"), configMap("b", "1"), configMap("c", "1")]);
    work(world);
    const reports = [...world.state.destinations.values()].map((one) => reportOf(world.state, one));
    expect(reports.map(({ pushed, lastCommit }) => [pushed.commits, pushed.files, lastCommit !== undefined])).toEqual([
      [2, 3, true],
      [0, 0, false],
      [0, 0, false],
    ]);
    expect([...world.tree.keys()].filter((path) => path.endsWith("owner.yaml"))).toEqual([MARKER]);
  });

  it("makes no commit where nothing differs", () => {
    const world = newWorld(new Map([[pathOf("a"), `# kept\n${textOf("a", "1")}`]]));
    listed(world, [configMap("a", "1")]);
    work(world);
    expect(world.commits).toEqual([]);
  });

  it("deletes a file only after a complete list, and touches none of a resource whose list failed", () => {
    const before = new Map([
      [pathOf("a"), textOf("a", "1")],
      [pathOf("old"), textOf("old", "1")],
      ["prod/README.md", "hello"],
    ]);
    const world = newWorld(before);
    for (let n = 0; n < 2; n += 1) fold(world, { type: "listFailed", resource: CONFIG_MAPS, because: "403 no" });
    expect(steps(world)).toEqual(["acquire", "sync", "wait"]);
    expect(world.tree).toEqual(before);
    expect(report(world)).toMatchObject({
      readiness: { type: "failed", reason: "ListIncomplete", message: "configmaps: 403 no" },
    });
    listed(world, [configMap("a", "1")]);
    work(world);
    expect(Object.keys(objects(world))).toEqual([pathOf("a"), "prod/README.md"]);
  });

  it("says nothing of files that the spec of the destination keeps from being written: its condition does", () => {
    const world = newWorld();
    listed(world, [configMap("a", "1")]);
    const path = pathOf("b");
    const spared = (because: string | undefined) => ({ type: "spared", path, because }) as const;
    const file = (because: string | undefined) =>
      ({ destination: "shop/prod", resource: CONFIG_MAPS, path, ingested: spared(because) }) as const;
    fold(world, { type: "seen", file: file(undefined), by: UNKNOWN });
    work(world);
    expect(report(world)).toMatchObject({ readiness: { type: "ready" } });
    fold(world, { type: "seen", file: file("it is too large"), by: UNKNOWN });
    expect(report(world)).toMatchObject({
      readiness: { reason: "ListIncomplete", message: "configmaps: it is too large" },
    });
  });

  it("leaves the files of a resource as they are while its list fails, whatever others make of them", () => {
    const world = newWorld();
    listed(world, [configMap("a", "1")]);
    work(world);
    fold(world, { type: "listFailed", resource: CONFIG_MAPS, because: "503" });
    world.tree = new Map([...world.tree, [pathOf("a"), "meddled"]]);
    later(world, 2_000_000);
    work(world);
    expect(objects(world)).toEqual({ [pathOf("a")]: "meddled" });
    fold(world, { type: "complete", resource: CONFIG_MAPS });
    later(world);
    work(world);
    expect(objects(world)).toEqual({ [pathOf("a")]: textOf("a", "1") });
  });

  it("does not make who changes an object before the first sync the author of what was there before", () => {
    const world = newWorld();
    listed(world, [configMap("a", "1")]);
    seen(world, configMap("a", "2"), alice);
    work(world);
    expect(subjects(world)).toEqual([
      "GitOps Reverser: [CREATE] core/v1/configmaps/shop/a",
      "alice: [UPDATE] core/v1/configmaps/shop/a by user/alice",
    ]);
  });

  it("keeps what was seen while a list fails, with its author", () => {
    const world = newWorld();
    listed(world, [configMap("a", "1")]);
    work(world);
    seen(world, configMap("a", "2"), alice);
    fold(world, { type: "listFailed", resource: CONFIG_MAPS, because: "503" });
    later(world);
    work(world);
    expect(world.commits).toHaveLength(1);
    fold(world, { type: "complete", resource: CONFIG_MAPS });
    later(world);
    work(world);
    expect(subjects(world).at(-1)).toBe("alice: [UPDATE] core/v1/configmaps/shop/a by user/alice");
  });

  it("does nothing while another holds the Lease, and asks for the tip once it has it", () => {
    const world = newWorld();
    listed(world, [configMap("a", "1")]);
    fold(world, { type: "lease", is: "awaited" });
    expect(steps(world)).toEqual(["wait"]);
    expect(report(world).readiness).toMatchObject({ type: "progressing" });
    fold(world, { type: "lease", is: "held" });
    expect(work(world)).toMatchObject([{ do: "sync", isFresh: true }, { do: "wait" }]);
  });

  it("says that another holds the Lease only where one does, and not while it asks for it", () => {
    const world = newWorld();
    listed(world, [configMap("a", "1")]);
    work(world);
    seen(world, configMap("a", "2"));
    fold(world, { type: "lease", is: "awaited" });
    expect(report(world)).toMatchObject({ pending: 1, readiness: { type: "ready" } });
    fold(world, { type: "lease", is: "anothers" });
    later(world, 100);
    expect(steps(world)).toEqual(["wait"]);
    expect(report(world).readiness).toMatchObject({ type: "failed", reason: "LeaseHeld" });
  });

  it("gives the Lease back once it had nothing to write for a while", () => {
    const world = newWorld();
    listed(world, [configMap("a", "1")]);
    work(world);
    later(world, 5_000);
    expect(steps(world)).toEqual(["release", "wait"]);
  });

  it("writes nothing into a folder of another in exclusive mode, and tells whose it is", () => {
    const other = marker({ clusterUid: "u2", destination: "shop/prod" });
    const world = newWorld(new Map([[MARKER, other]]));
    want(world, branchOf(undefined, { exclusiveMode: true }));
    listed(world, [configMap("a", "1")]);
    work(world);
    expect(world.commits).toEqual([]);
    expect(report(world).readiness).toMatchObject({
      reason: "OwnershipConflict",
      message: expect.stringContaining("u2"),
    });
    want(world, branchOf());
    work(world);
    expect(Object.keys(objects(world))).toEqual([pathOf("a")]);
    expect(world.tree.get(MARKER)).toBe(other);
    expect(report(world)).toMatchObject({ readiness: { type: "ready" }, conflict: expect.stringContaining("u2") });
  });

  it("tells that the marker is its own when it has pushed it, and finds that of a rival", () => {
    const world = newWorld();
    listed(world, [configMap("a", "1")]);
    expect(report(world).owns).toBeUndefined();
    work(world);
    expect(report(world).owns).toBe(placeOf(branchOf().key, FOLDER));
    const other = marker({ clusterUid: "u1", destination: "evil/old" });
    world.tree = new Map([...world.tree, [MARKER, other]]);
    const branch = branchOf();
    const [own] = branch.destinations;
    if (own === undefined) throw new Error("there is none");
    want(world, { ...branch, destinations: [{ ...own, contest: { rivals: ["evil/old"], yields: false } }] });
    seen(world, configMap("a", "2"));
    later(world, 2_000_000);
    work(world);
    expect(world.commits).toHaveLength(1);
    expect(report(world)).toMatchObject({ readiness: { reason: "OwnershipConflict" } });
    expect(report(world).owns).toBeUndefined();
  });

  it("names nobody for a version of which the text is lost, but says who was there", () => {
    const world = newWorld();
    listed(world, [configMap("a", "1")]);
    work(world);
    seen(world, configMap("a", "2"), alice);
    world.texts.clear();
    seen(world, configMap("a", "3"), bob);
    later(world);
    work(world);
    expect(subjects(world).at(-1)).toBe("GitOps Reverser: [UPDATE] core/v1/configmaps/shop/a");
    expect(world.commits.at(-1)?.message).toContain("Changed-by: alice\nChanged-by: bob");
  });
});

type Command =
  | {
      readonly do: "change";
      readonly name: string;
      readonly value: string | undefined;
      readonly by: "alice" | "bob" | undefined;
    }
  | { readonly do: "meddle"; readonly name: string; readonly text: string | undefined }
  | { readonly do: "work"; readonly fates: readonly Fate[] }
  | { readonly do: "fails" }
  | { readonly do: "relist" }
  | { readonly do: "lease" }
  | { readonly do: "crash" };

const name = fc.constantFrom("a", "b", "c");
const value = fc.option(fc.constantFrom("1", "2", "3"), { nil: undefined });
const fate = fc.record({ arrives: fc.boolean(), isHeard: fc.boolean() });
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("change" as const),
      name,
      value,
      by: fc.constantFrom("alice" as const, "bob" as const, undefined),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("meddle" as const),
      name,
      text: fc.constantFrom(undefined, "x", textOf("a", "2")),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("work" as const), fates: fc.array(fate, { maxLength: 2 }) }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Command>({ do: "fails" }, { do: "relist" }, { do: "lease" }, { do: "crash" }),
  },
);

interface Lived {
  readonly world: BranchWorld;
  readonly live: ReadonlyMap<string, string>;
  /** Who has made which version of what. */
  readonly made: ReadonlySet<string>;
}

const live = (commands: readonly Command[]): Lived => {
  const objectsNow = new Map<string, string>();
  const made = new Set<string>();
  const list = (): readonly ReturnType<typeof configMap>[] =>
    [...objectsNow].map(([name, value]) => configMap(name, value));
  let world = newWorld();
  listed(world, []);
  for (const command of commands) {
    world.now += 10;
    switch (command.do) {
      case "change": {
        const { name, value, by } = command;
        const who = by === undefined ? undefined : ({ type: "user", name: by } as const);
        made.add(`${by} ${name} ${value}`);
        if (value === undefined) {
          objectsNow.delete(name);
          gone(world, name, who);
        } else {
          objectsNow.set(name, value);
          seen(world, configMap(name, value), who);
        }
        break;
      }
      case "meddle": {
        const tree = new Map(world.tree);
        if (command.text === undefined) tree.delete(pathOf(command.name));
        else tree.set(pathOf(command.name), command.text);
        world.tree = tree;
        break;
      }
      case "work":
        later(world, 200);
        work(world, command.fates);
        break;
      case "fails":
        fold(world, { type: "listFailed", resource: CONFIG_MAPS, because: "503" });
        break;
      case "relist":
        listed(world, list());
        break;
      case "lease":
        fold(world, { type: "lease", is: "none" });
        break;
      case "crash": {
        const { tree, commits } = world;
        world = newWorld(tree);
        world.commits = commits;
        listed(world, list());
      }
    }
  }
  listed(world, list());
  later(world);
  work(world);
  return { world, live: objectsNow, made };
};

describe("any interleaving of changes, pushes, lost answers, foreign commits and crashes", () => {
  it("ends with a branch that says what is live, with nothing left to do", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 20 }), (commands) => {
        const { world, live: now } = live(commands);
        const wanted = [...now].map(([name, value]) => [pathOf(name), textOf(name, value)]);
        // What is no object is nobody's business, as long as there is no object of its path.
        const found = Object.entries(objects(world)).filter(
          ([path, text]) => text !== "x" && path !== "" && !isOdd(path, text),
        );
        expect(Object.fromEntries(found)).toEqual(Object.fromEntries(wanted));
        const { length } = world.commits;
        later(world);
        work(world);
        expect(world.commits).toHaveLength(length);
        expect(world.state.history.touches).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it("never names anybody as the author of what somebody else has made", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 20 }), (commands) => {
        const { world, made } = live(commands);
        const claims = world.commits
          .filter(({ author }) => author.name !== "GitOps Reverser")
          .flatMap(({ author, changes }) =>
            changes
              .filter(({ path }) => path !== MARKER)
              .map((change) => {
                const name = /([abc])\.yaml$/u.exec(change.path)?.[1] ?? "";
                const text = change.to === "content" ? Buffer.from(change.content).toString() : "";
                const value = /value: "(\d)"/u.exec(text)?.[1];
                return `${author.name} ${name} ${value}`;
              }),
          );
        expect(claims.filter((claim) => !made.has(claim))).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});

/** A file with another object than its path promises. */
const isOdd = (path: string, text: string): boolean => path !== pathOf("a") && text === textOf("a", "2");
