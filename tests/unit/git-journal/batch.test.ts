// Tests how pending changes become commits: when, of which author each, in which order, and how large.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Operation, OPERATIONS } from "../../../packages/git-journal/src/api/watch-rule.ts";
import {
  type BatchLimits,
  commitsOf,
  dueAt,
  hitsAndMisses,
  limitsFor,
  type PendingFile,
  type PlannedCommit,
} from "../../../packages/git-journal/src/core/batch.ts";
import {
  authorKey,
  type By,
  type History,
  NO_HISTORY,
  recorded,
  settled,
  UNKNOWN,
  type Version,
  withoutPushed,
} from "../../../packages/git-journal/src/core/history.ts";
import { type FilePath, objectPath, ROOT } from "../../../packages/git-journal/src/core/path.ts";

const LIMITS: BatchLimits = { maxFiles: 200, maxBytes: 1_000, maxWait: 20_000 };
const ALL: ReadonlySet<Operation> = new Set(OPERATIONS);

const pathOf = (name: string): FilePath =>
  objectPath(ROOT, { group: "", version: "v1", resource: "configmaps", namespace: "shop", name });
const versionOf = (fingerprint: string | undefined, bytes = 10): Version | undefined =>
  fingerprint === undefined ? undefined : { fingerprint, bytes };
const user = (name: string): By => ({ type: "user", name });
const transaction = (uid: string): By => ({ type: "transaction", uid });

/** One touch: the name of a file, its author, what it says then. */
type Event = readonly [name: string, by: By, fingerprint: string | undefined];

const historyOf = (events: readonly Event[]): History =>
  events.reduce(
    (history, [name, by, fingerprint], at) =>
      recorded(history, { path: pathOf(name), by, version: versionOf(fingerprint), operations: ALL, at }),
    NO_HISTORY,
  );

/** What differs between a tip and what is live after all events. */
const pendingOf = (
  tip: ReadonlyMap<string, string>,
  live: ReadonlyMap<string, string | undefined>,
): readonly PendingFile[] =>
  [...new Set([...tip.keys(), ...live.keys()])]
    .filter((name) => tip.get(name) !== live.get(name))
    .map((name) => ({
      path: pathOf(name),
      tip: versionOf(tip.get(name)),
      live: versionOf(live.get(name)),
      operations: ALL,
    }));

const liveAfter = (
  tip: ReadonlyMap<string, string>,
  events: readonly Event[],
): ReadonlyMap<string, string | undefined> =>
  new Map<string, string | undefined>([...tip, ...events.map(([name, , fingerprint]) => [name, fingerprint] as const)]);

const shown = ({ by, files }: PlannedCommit): string =>
  `${authorKey(by)}: ${files.map(({ operation, path, version }) => `${operation} ${path.split("/").at(-1)} ${version?.fingerprint ?? ""}`.trim()).join(", ")}`;

const commits = (
  events: readonly Event[],
  tip: Readonly<Record<string, string>> = {},
  limits = LIMITS,
): readonly string[] => {
  const before = new Map(Object.entries(tip));
  return commitsOf(pendingOf(before, liveAfter(before, events)), historyOf(events), limits).map(shown);
};

const ALICE = user("alice");
const BOB = user("bob");
const T = transaction("t");

const sized = (name: string, by: By, bytes: number, at: number) => ({
  path: pathOf(name),
  by,
  version: versionOf("1", bytes),
  operations: ALL,
  at,
});

describe("commits", () => {
  it.each<readonly [string, readonly Event[], Readonly<Record<string, string>>, readonly string[]]>([
    [
      "changes of one author are one commit",
      [
        ["a", ALICE, "1"],
        ["b", ALICE, "1"],
      ],
      {},
      ["user alice: CREATE a.yaml 1, CREATE b.yaml 1"],
    ],
    [
      "of two authors two",
      [
        ["a", ALICE, "1"],
        ["b", BOB, "1"],
        ["c", ALICE, "1"],
      ],
      {},
      ["user alice: CREATE a.yaml 1, CREATE c.yaml 1", "user bob: CREATE b.yaml 1"],
    ],
    [
      "versions of one author are one change",
      [
        ["a", ALICE, "1"],
        ["a", ALICE, "2"],
      ],
      { a: "0" },
      ["user alice: UPDATE a.yaml 2"],
    ],
    [
      "a change does not join a commit before one with its file",
      [
        ["a", ALICE, "1"],
        ["a", BOB, "2"],
        ["a", ALICE, "3"],
      ],
      {},
      ["user alice: CREATE a.yaml 1", "user bob: UPDATE a.yaml 2", "user alice: UPDATE a.yaml 3"],
    ],
    [
      "what another one has sent in vain is not in between",
      [
        ["a", ALICE, "1"],
        ["a", BOB, "1"],
        ["a", ALICE, "2"],
      ],
      {},
      ["user alice: CREATE a.yaml 2"],
    ],
    [
      "deleted and created again by another",
      [
        ["a", ALICE, undefined],
        ["a", BOB, "2"],
      ],
      { a: "1" },
      ["user alice: DELETE a.yaml", "user bob: CREATE a.yaml 2"],
    ],
    [
      "what changes nothing in the end is in none",
      [
        ["a", ALICE, "1"],
        ["a", BOB, "0"],
      ],
      { a: "0" },
      [],
    ],
    [
      "a Transaction has one commit, with none of others",
      [
        ["a", T, "1"],
        ["c", ALICE, "1"],
        ["b", T, "1"],
      ],
      {},
      ["transaction t: CREATE a.yaml 1, CREATE b.yaml 1", "user alice: CREATE c.yaml 1"],
    ],
    [
      "what others do to its files afterwards comes after it",
      [
        ["a", T, "1"],
        ["a", ALICE, "2"],
        ["b", T, "1"],
      ],
      {},
      ["transaction t: CREATE a.yaml 1, CREATE b.yaml 1", "user alice: UPDATE a.yaml 2"],
    ],
    [
      "what others did before comes before it",
      [
        ["a", ALICE, "1"],
        ["a", T, "2"],
      ],
      {},
      ["user alice: CREATE a.yaml 1", "transaction t: UPDATE a.yaml 2"],
    ],
    [
      "one commit even if others were in between",
      [
        ["a", T, "1"],
        ["a", ALICE, "2"],
        ["a", T, "3"],
      ],
      {},
      ["user alice: CREATE a.yaml 2", "transaction t: UPDATE a.yaml 3"],
    ],
    [
      "a rollback that leaves nothing is none",
      [
        ["a", T, "1"],
        ["a", T, "0"],
      ],
      { a: "0" },
      [],
    ],
    [
      "two Transactions one after the other",
      [
        ["a", T, "1"],
        ["a", transaction("u"), "2"],
        ["b", transaction("u"), "2"],
      ],
      {},
      ["transaction t: CREATE a.yaml 1", "transaction u: UPDATE a.yaml 2, CREATE b.yaml 2"],
    ],
  ])("%s", (_, events, tip, expected) => {
    expect(commits(events, tip)).toEqual(expected);
  });

  it("what no touch tells of is the bot's: before all others, or after what it was missed after", () => {
    const files = pendingOf(
      new Map([["a", "0"]]),
      new Map([
        ["a", "2"],
        ["b", "1"],
      ]),
    );
    expect(commitsOf(files, historyOf([["a", ALICE, "1"]]), LIMITS).map(shown)).toEqual([
      "unknown: CREATE b.yaml 1",
      "user alice: UPDATE a.yaml 1",
      "unknown: UPDATE a.yaml 2",
    ]);
    const [, , missed] = commitsOf(files, historyOf([["a", ALICE, "1"]]), LIMITS);
    expect(missed?.files.map(({ touch }) => touch)).toEqual([1]);
  });

  it("are hits and misses of what a watch has shown: what the first list has shown is neither", () => {
    const files = pendingOf(
      new Map(),
      new Map([
        ["a", "1"],
        ["b", "1"],
        ["c", "1"],
      ]),
    );
    const seen = historyOf([
      ["a", ALICE, "1"],
      ["b", UNKNOWN, "1"],
    ]);
    expect(hitsAndMisses(commitsOf(files, seen, LIMITS))).toEqual({ hits: 1, misses: 1 });
    expect(hitsAndMisses(commitsOf(files, NO_HISTORY, LIMITS))).toEqual({ hits: 0, misses: 0 });
  });

  it("a version that the rules do not write is left out", () => {
    const history = recorded(historyOf([["a", ALICE, "1"]]), {
      path: pathOf("a"),
      by: BOB,
      version: versionOf("2"),
      operations: new Set(["CREATE"]),
      at: 9,
    });
    const files: readonly PendingFile[] = [
      { path: pathOf("a"), tip: undefined, live: versionOf("2"), operations: new Set(["CREATE"]) },
    ];
    expect(commitsOf(files, history, LIMITS).map(shown)).toEqual(["user alice: CREATE a.yaml 1"]);
  });

  it("of a Transaction are one, however large its files are", () => {
    const names = Array.from({ length: 5 }, (_, n) => `${n}`);
    const bytes = 6 * 2 ** 20;
    const history = names.reduce((all, name, at) => recorded(all, sized(name, T, bytes, at)), NO_HISTORY);
    const files = names.map((name) => ({
      path: pathOf(name),
      tip: undefined,
      live: versionOf("1", bytes),
      operations: ALL,
    }));
    expect(commitsOf(files, history, LIMITS).map((commit) => commit.files.length)).toEqual([5]);
  });

  it("are no larger than the limits; a larger object is alone, a Transaction is whole", () => {
    const sizes = [
      ["a", ALICE, 400],
      ["b", ALICE, 400],
      ["c", ALICE, 400],
      ["d", ALICE, 5_000],
      ["e", T, 900],
      ["f", T, 900],
    ] as const;
    const history = sizes.reduce((all, [name, by, bytes], at) => recorded(all, sized(name, by, bytes, at)), NO_HISTORY);
    const files = sizes.map(([name, , bytes]) => ({
      path: pathOf(name),
      tip: undefined,
      live: versionOf("1", bytes),
      operations: ALL,
    }));
    const names = (limits: BatchLimits) =>
      commitsOf(files, history, limits).map(({ files }) =>
        files.map(({ path }) => path.split("/").at(-1)?.[0]).join(""),
      );
    expect(names(LIMITS)).toEqual(["ef", "ab", "c", "d"]);
    expect(names({ ...LIMITS, maxFiles: 2, maxBytes: 10_000 })).toEqual(["ef", "ab", "cd"]);
    expect(names({ ...LIMITS, maxFiles: 1 })).toEqual(["ef", "a", "b", "c", "d"]);
  });
});

const name = fc.constantFrom("a", "b", "c");
const by = fc.constantFrom(ALICE, BOB, UNKNOWN, T);
const fingerprint = fc.option(fc.constantFrom("1", "2", "3"), { nil: undefined });
const events = fc.array(fc.tuple(name, by, fingerprint), { maxLength: 12 });
const tips = fc.dictionary(name, fc.constantFrom("1", "2", "3"), { maxKeys: 3 });
const limits = fc.record({
  maxFiles: fc.integer({ min: 1, max: 3 }),
  maxBytes: fc.integer({ min: 5, max: 40 }),
  maxWait: fc.constant(0),
});

/** What each file says. */
type Files = Readonly<Record<string, string>>;

/** The tip after so many commits. */
const applied = (tip: ReadonlyMap<string, string>, all: readonly PlannedCommit[]): Files => {
  const after = new Map<string, string | undefined>([...tip].map(([name, value]) => [pathOf(name), value]));
  for (const { path, version } of all.flatMap(({ files }) => files)) after.set(path, version?.fingerprint);
  return filesOf(after);
};

const filesOf = (files: ReadonlyMap<string, string | undefined>): Files =>
  Object.fromEntries([...files].flatMap(([path, value]) => (value === undefined ? [] : [[path, value] as const])));

const filesAfter = (tip: ReadonlyMap<string, string>, events: readonly Event[]): Files =>
  filesOf(new Map([...liveAfter(tip, events)].map(([name, value]) => [pathOf(name), value])));

const bytesOf = ({ files }: PlannedCommit): number =>
  files.reduce((sum, { version }) => sum + (version?.bytes ?? 0), 0);

const check = (
  test: (
    tip: ReadonlyMap<string, string>,
    events: readonly Event[],
    all: readonly PlannedCommit[],
    limits: BatchLimits,
  ) => void,
): void =>
  fc.assert(
    fc.property(tips, events, limits, (some, events, limits) => {
      const tip = new Map(Object.entries(some));
      test(tip, events, commitsOf(pendingOf(tip, liveAfter(tip, events)), historyOf(events), limits), limits);
    }),
    { numRuns: 1000 },
  );

describe("whatever happens", () => {
  it("after the last commit each file says what is live", () => {
    check((tip, events, all) => {
      expect(applied(tip, all)).toEqual(filesAfter(tip, events));
    });
  });

  it("versions of a file are committed in their order, each by who made it", () => {
    check((_, events, all) => {
      for (const name of ["a", "b", "c"]) {
        const made = events.flatMap(([file, by, value]) => (file === name ? [`${authorKey(by)} ${value}`] : []));
        let at = -1;
        for (const { by, files } of all.filter(({ by }) => by.type !== "transaction"))
          for (const { version } of files.filter(({ path }) => path === pathOf(name))) {
            at = made.indexOf(`${authorKey(by)} ${version?.fingerprint}`, at + 1);
            expect(at).toBeGreaterThanOrEqual(0);
          }
      }
    });
  });

  it("a Transaction has at most one commit, and no commit is empty or too large", () => {
    check((_, __, all, { maxFiles, maxBytes }) => {
      expect(all.filter(({ by }) => by.type === "transaction").length).toBeLessThanOrEqual(1);
      const others = all.filter(({ by }) => by.type !== "transaction");
      expect(others.filter(({ files }) => files.length > maxFiles)).toEqual([]);
      expect(others.filter((one) => one.files.length > 1 && bytesOf(one) > maxBytes)).toEqual([]);
      expect(all.filter(({ files }) => files.length === 0)).toEqual([]);
    });
  });

  it("a push that ends after some commits is continued by the others", () => {
    check((tip, events, all, limits) => {
      const done = all.slice(0, Math.ceil(all.length / 2));
      const half = applied(tip, done);
      const names = new Map(
        ["a", "b", "c"].flatMap((name) => {
          const value = half[pathOf(name)];
          return value === undefined ? [] : [[name, value] as const];
        }),
      );
      const left = withoutPushed(
        historyOf(events),
        done.flatMap(({ files }) => files),
      );
      const rest = commitsOf(pendingOf(names, liveAfter(tip, events)), left, limits);
      expect(applied(names, rest)).toEqual(filesAfter(tip, events));
      expect(rest.length).toBeLessThanOrEqual(all.length - done.length + 1);
    });
  });
});

describe("history", () => {
  it("has bounds: beyond them all users are named, and Transactions stay apart", () => {
    let history = historyOf([["t", T, "1"]]);
    for (let at = 0; at < 10_000; at += 1)
      history = recorded(history, {
        path: pathOf(`${at}`),
        by: user(`u${at % 3}`),
        version: versionOf("1"),
        operations: ALL,
        at,
      });
    expect(history.touches.map(({ by }) => by)).toEqual([T]);
    expect([...history.others]).toEqual(["u0", "u1", "u2"]);
  });

  it("keeps the time of the first of versions that it takes for one", () => {
    const { touches } = historyOf([
      ["a", ALICE, "1"],
      ["b", BOB, "1"],
      ["a", ALICE, "2"],
    ]);
    expect(touches.map(({ path, at, number }) => [path, at, number])).toEqual([
      [pathOf("b"), 1, 2],
      [pathOf("a"), 0, 3],
    ]);
  });

  it("what was pushed is forgotten, and the rest once nothing is due", () => {
    const history = historyOf([
      ["a", ALICE, "1"],
      ["b", BOB, "1"],
      ["c", T, "1"],
    ]);
    expect(withoutPushed(history, [{ path: pathOf("b"), touch: 2 }]).touches.map(({ number }) => number)).toEqual([
      1, 3,
    ]);
    expect(settled(history, 3, (path) => path === pathOf("c")).touches.map(({ number }) => number)).toEqual([3]);
    expect(settled(history, 2, () => false).touches.map(({ number }) => number)).toEqual([3]);
  });
});

describe("when a batch is due", () => {
  const pending = { files: 1, bytes: 10, since: 5, isFirst: false };
  it.each([
    ["nothing is pending", { files: 0 }, Number.POSITIVE_INFINITY],
    ["some time after the first change", {}, 20_005],
    ["at once: the first sync", { isFirst: true }, 5],
    ["at once: so many files", { files: 200 }, 5],
    ["at once: so many bytes", { bytes: 1_000 }, 5],
  ])("%s", (_, more, expected) => {
    expect(dueAt({ ...pending, ...more }, LIMITS)).toBe(expected);
  });
});

describe("limits", () => {
  it.each([
    ["those of the flags", {}, 20_000, 20],
    ["those of the repository stand above them", { push: { interval: "1m", maxCommits: 5 } }, 60_000, 5],
    ["what is no duration does not count", { push: { interval: "soon", maxCommits: 0 } }, 20_000, 1],
    ["nor digits without end", { push: { interval: `${"1".repeat(100)}ns`, maxCommits: 20 } }, 20_000, 20],
    ["none: at once", { push: { interval: "0s", maxCommits: 20 } }, 0, 20],
    ["nor does a negative one", { push: { interval: "-1m", maxCommits: 20 } }, 20_000, 20],
  ])("%s", (_, spec, maxWait, maxCommits) => {
    expect(limitsFor(LIMITS, spec)).toEqual({ ...LIMITS, maxWait, maxCommits });
  });
});
