// Tests how the worker of a branch keeps what belongs to a Transaction together: held until its end, then one commit.
import { decodeTransaction, fieldManager, type Phase, type Transaction } from "@janus/api";
import type { JsonObject, KubeObject } from "@janus/types";
import { describe, expect, it } from "vitest";
import { canonicalYaml } from "../../../packages/git-journal/src/core/canonical.ts";
import { marker } from "../../../packages/git-journal/src/core/ownership.ts";
import { markerPath } from "../../../packages/git-journal/src/core/path.ts";
import { rulesOfWatchRule } from "../../../packages/git-journal/src/core/selection.ts";
import { sanitised } from "../../../packages/git-journal/src/core/sanitise.ts";
import {
  branchOf,
  type BranchWorld,
  CONFIG_MAPS,
  configMap,
  fileOf,
  FOLDER,
  fold,
  gone,
  later,
  listed,
  newWorld,
  pathOf,
  SECRETS,
  seen,
  transaction,
  want,
  work,
} from "./branch-world.ts";
import { right } from "./right.ts";

const UID = "11111111-2222-3333-4444-555555555555";
const TARGET = { apiVersion: "v1", kind: "ConfigMap" };
const CHANGES = [
  { type: "Patch", target: { ...TARGET, name: "a" }, content: { data: { value: "2" } } },
  { type: "Delete", target: { ...TARGET, name: "b" } },
];
const DONE = [
  { prepared: true, committed: true, uid: "uid-a", resourceVersion: "1" },
  { prepared: true, committed: true, uid: "uid-b", resourceVersion: "1" },
];

const inPhase = (phase: Phase, items: readonly JsonObject[] = DONE): Transaction =>
  right(
    decodeTransaction({
      metadata: { name: "deploy", namespace: "shop", uid: UID, resourceVersion: "1", generation: 1 },
      spec: { serviceAccountName: "sa", changes: CHANGES },
      status: { phase, items: items as JsonObject[], requestedBy: "alice", completedAt: "2026-01-01T00:00:10Z" },
    }),
  );

const marked = (name: string, value: string): KubeObject =>
  configMap(name, value, {
    managedFields: [
      { manager: fieldManager({ name: "deploy", uid: UID }), operation: "Update", time: "2026-01-01T00:00:09Z" },
    ],
  });

const OTHER = "99999999-2222-3333-4444-555555555555";

const markedBy = (uid: string, name: string, value: string, time = "2026-01-01T00:00:20Z"): KubeObject =>
  configMap(name, value, { managedFields: [{ manager: fieldManager({ name: "deploy", uid }), time }] });

/** Another one, of bob, which patches only `a`. */
const next = (phase: Phase): Transaction =>
  right(
    decodeTransaction({
      metadata: { name: "next", namespace: "shop", uid: OTHER, resourceVersion: "1", generation: 1 },
      spec: { serviceAccountName: "sa", changes: CHANGES.slice(0, 1) },
      status: { phase, items: DONE.slice(0, 1), requestedBy: "bob", completedAt: "2026-01-01T00:00:21Z" },
    }),
  );

const MARKER = [markerPath(FOLDER), marker({ clusterUid: "u1", destination: "shop/prod" })] as const;

const textOf = (name: string): string => canonicalYaml(sanitised(configMap(name, "1")));

const subjects = ({ commits }: BranchWorld): readonly string[] =>
  commits.map(({ author, message }) => `${author.name}: ${message.split("\n")[0]}`);
const steps = (world: BranchWorld): readonly string[] => work(world).map((step) => step.do);

/** Of two ConfigMaps, which are in the branch. */
const begun = (): BranchWorld => {
  const world = newWorld();
  listed(world, [configMap("a", "1"), configMap("b", "1")]);
  work(world);
  transaction(world, inPhase("Committing"));
  return world;
};

/** Of a process that begins when the Transaction has ended; the branch has what was there before it. */
const restarted = (tip: string, markers: readonly (readonly [string, string])[] = [MARKER]): BranchWorld => {
  const files = ["a", "b"].map((name) => [pathOf(name), textOf(name)] as const);
  const world = newWorld(new Map([...files, ...markers]), false);
  world.tipDate = Date.parse(tip);
  transaction(world, inPhase("Committed"));
  fold(world, { type: "transactionsKnown" });
  return world;
};

const SUBJECT = "alice: Transaction shop/deploy: Committed, 2 changes";
const NEXT = "bob: Transaction shop/next: Committed, 1 change";
const FIRST = "GitOps Reverser: Create 2 objects";

describe("the files of a Transaction", () => {
  it("are held until its end, while others go on, and are then one commit of who requested it", () => {
    const world = begun();
    seen(world, marked("a", "2"));
    seen(world, configMap("c", "1"), { type: "user", name: "bob" });
    later(world);
    work(world);
    expect(subjects(world).slice(1)).toEqual(["bob: [CREATE] core/v1/configmaps/shop/c by user/bob"]);
    gone(world, "b");
    transaction(world, inPhase("Committed"));
    later(world, 200);
    work(world);
    expect(subjects(world).slice(2)).toEqual([SUBJECT]);
    expect(world.commits.at(-1)?.message).toContain(`Transaction-UID: ${UID}\nTransaction-Phase: Committed\n`);
    later(world);
    work(world);
    expect(world.commits).toHaveLength(3);
  });

  it("wait for what the watch has not shown yet, and are read live after 2 s", () => {
    const world = begun();
    transaction(world, inPhase("Committed"));
    seen(world, marked("a", "2"));
    later(world, 200);
    expect(steps(world)).toEqual(["wait"]);
    later(world, 2_000);
    const [step] = work(world);
    expect(step).toMatchObject({ do: "readTargets", uid: UID, targets: [{ name: "b", path: pathOf("b") }] });
    const file = { ...fileOf(world, configMap("b", "1")), ingested: { type: "unselected" } as const };
    fold(world, { type: "targetRead", uid: UID, file });
    work(world);
    expect(subjects(world)).toEqual([FIRST, SUBJECT]);
  });

  it("are committed all the same when they can neither be seen nor read, which the commit says", () => {
    const world = begun();
    transaction(world, inPhase("Committed"));
    seen(world, marked("a", "2"));
    later(world, 2_000);
    work(world);
    later(world, 60_000);
    work(world);
    expect(world.commits.at(-1)?.message).toContain("Transaction-Incomplete: true");
  });

  it("of one that was rolled back are no commit, if nothing differs", () => {
    const world = begun();
    seen(world, marked("a", "2"));
    seen(world, marked("a", "1"));
    transaction(
      world,
      inPhase("RolledBack", [
        { prepared: true, committed: true, rolledBack: true, uid: "uid-a", resourceVersion: "1" },
        {},
      ]),
    );
    later(world, 3_000);
    const [step] = work(world);
    expect(step).toMatchObject({ do: "readTargets", targets: [{ name: "a" }] });
    fold(world, { type: "targetRead", uid: UID, file: fileOf(world, marked("a", "1")) });
    work(world);
    expect(world.commits).toHaveLength(1);
    expect(world.state.history.touches).toEqual([]);
  });

  it("are committed when it is gone, by a commit that names it", () => {
    const world = begun();
    seen(world, marked("a", "2"));
    fold(world, { type: "transactionGone", uid: UID });
    later(world, 200);
    work(world);
    expect(world.commits.at(-1)?.message).toContain("Transaction: shop/deploy\n");
    expect(world.commits.at(-1)?.message).toContain("Transaction-Incomplete: true");
    expect(world.state.transactions.size).toBe(0);
  });

  it("are its commit, too, where another one has changed them before anything could be pushed", () => {
    const world = begun();
    seen(world, marked("a", "2"));
    gone(world, "b");
    transaction(world, inPhase("Committed"));
    transaction(world, next("Committing"));
    // All fields are the other one's now, and so is the only mark.
    seen(world, markedBy(OTHER, "a", "3"));
    transaction(world, next("Committed"));
    later(world, 500);
    work(world);
    expect(subjects(world).slice(1)).toEqual([SUBJECT, NEXT]);
  });

  it("are never the commit of another one that holds them", () => {
    const world = begun();
    seen(world, marked("a", "2"));
    transaction(world, inPhase("Committed"));
    transaction(world, next("Committing"));
    seen(world, markedBy(OTHER, "a", "3"));
    transaction(world, next("Committed"));
    seen(world, configMap("c", "1"));
    later(world, 200);
    work(world, [{ arrives: false, isHeard: false }]);
    later(world, 1_200);
    // The first one waits for the end of `b`: only others are committed, and neither of both is done.
    work(world);
    expect(subjects(world).slice(1)).toEqual(["GitOps Reverser: [CREATE] core/v1/configmaps/shop/c"]);
    gone(world, "b");
    later(world);
    work(world);
    expect(subjects(world).slice(2)).toEqual([SUBJECT, NEXT]);
  });

  it("are held for a moment when only its mark is known: its own watch may be behind", () => {
    const world = newWorld();
    listed(world, [configMap("a", "1"), configMap("b", "1")]);
    work(world);
    seen(world, marked("a", "2"));
    later(world, 1_000);
    expect(steps(world)).toEqual(["wait"]);
    transaction(world, inPhase("Committing"));
    later(world, 5_000);
    work(world);
    expect(world.commits).toHaveLength(1);
    gone(world, "b");
    transaction(world, inPhase("Committed"));
    later(world, 200);
    work(world);
    expect(subjects(world)).toEqual([FIRST, SUBJECT]);
  });

  it("are its commit after a restart, too, by the marks on the objects and what it has deleted", () => {
    const world = restarted("2026-01-01T00:00:00Z");
    listed(world, [marked("a", "2")]);
    work(world);
    expect(subjects(world)).toEqual([SUBJECT]);
  });

  it("are nobody's after a restart if its commit may be in the branch already, or there was no sync before", () => {
    // Somebody may have taken a field of it away: that leaves no newer mark.
    const late = restarted("2026-01-01T00:00:11Z");
    listed(late, [marked("a", "2"), configMap("b", "1")]);
    work(late);
    expect(subjects(late)).toEqual(["GitOps Reverser: [UPDATE] core/v1/configmaps/shop/a"]);
    const first = restarted("2026-01-01T00:00:00Z", []);
    listed(first, [marked("a", "2"), configMap("b", "1")]);
    work(first);
    expect(subjects(first)).toEqual(["GitOps Reverser: [UPDATE] core/v1/configmaps/shop/a"]);
  });
});

describe("a list that fails at first after a restart", () => {
  const because = "500 not now";
  const listFails = (world: BranchWorld): void => fold(world, { type: "listFailed", resource: CONFIG_MAPS, because });
  const BOTH = right(rulesOfWatchRule({ rules: [{ resources: ["configmaps", "secrets"] }] }, "shop"));
  const begunAgain = (markers?: readonly (readonly [string, string])[]): BranchWorld => {
    const world = restarted("2026-01-01T00:00:00Z", markers);
    want(world, branchOf(BOTH));
    fold(world, { type: "listed", resource: SECRETS, version: "v1", files: [] });
    return world;
  };

  it("is awaited once, so that what belongs together is one commit", () => {
    const world = begunAgain();
    listFails(world);
    expect(steps(world)).toEqual(["wait"]);
    listed(world, [marked("a", "2")]);
    work(world);
    expect(subjects(world)).toEqual([SUBJECT]);
  });

  it("and fails again stops nothing, and what a Transaction has changed of it is its commit all the same", () => {
    const world = begunAgain();
    listFails(world);
    listFails(world);
    expect(steps(world)).toContain("sync");
    expect(world.state.hasSettled).toBe(true);
    // The tip is another one by then.
    world.tipDate = Date.parse("2026-01-01T00:01:00Z");
    listFails(world);
    later(world);
    work(world);
    listed(world, [marked("a", "2")]);
    work(world);
    expect(subjects(world)).toEqual([SUBJECT]);
  });

  it("tells no author of what is written for the first time, nor of what others make of a file afterwards", () => {
    const first = begunAgain([]);
    listFails(first);
    listFails(first);
    work(first);
    listed(first, [marked("a", "2"), configMap("b", "1")]);
    work(first);
    expect(subjects(first)).toEqual(["GitOps Reverser: [UPDATE] core/v1/configmaps/shop/a"]);
    const second = begunAgain();
    listFails(second);
    listFails(second);
    work(second);
    listed(second, [marked("a", "2")]);
    work(second);
    second.tree = new Map([...second.tree, [pathOf("a"), textOf("a")]]);
    later(second, 2_000_000);
    work(second);
    expect(subjects(second)).toEqual([SUBJECT, "GitOps Reverser: [UPDATE] core/v1/configmaps/shop/a"]);
  });

  it("and fails again is missing in the commit of a Transaction, which says that it is not all", () => {
    const world = restarted("2026-01-01T00:00:00Z");
    want(world, branchOf(BOTH));
    listed(world, [marked("a", "2")]);
    for (let n = 0; n < 2; n += 1) fold(world, { type: "listFailed", resource: SECRETS, because });
    transaction(
      world,
      right(
        decodeTransaction({
          metadata: { name: "deploy", namespace: "shop", uid: UID, resourceVersion: "1", generation: 1 },
          spec: {
            serviceAccountName: "sa",
            changes: [...CHANGES, { type: "Delete", target: { apiVersion: "v1", kind: "Secret", name: "s" } }],
          },
          status: {
            phase: "Committed",
            items: [...DONE, ...DONE.slice(1)],
            requestedBy: "alice",
            completedAt: "2026-01-01T00:00:10Z",
          },
        }),
      ),
    );
    work(world);
    expect(subjects(world)).toEqual([SUBJECT]);
    expect(world.commits.at(-1)?.message).toContain("Transaction-Incomplete: true");
  });
});

const lastSubject = (world: BranchWorld): string | undefined => {
  later(world);
  work(world);
  return subjects(world).at(-1);
};

/** Its commit is made. */
const committed = (): BranchWorld => {
  const world = begun();
  seen(world, marked("a", "2"));
  gone(world, "b");
  transaction(world, inPhase("Committed"));
  expect(lastSubject(world)).toBe(SUBJECT);
  return world;
};

describe("whose a change is", () => {
  const BOB = { type: "user", name: "bob" } as const;
  it("is not told by the mark of a Transaction that does not change the object", () => {
    const world = begun();
    listed(world, [configMap("a", "1"), configMap("b", "1"), configMap("x", "1")]);
    work(world);
    transaction(world, inPhase("Failed", []));
    seen(world, markedBy(UID, "x", "2"));
    expect(lastSubject(world)).toBe("GitOps Reverser: [UPDATE] core/v1/configmaps/shop/x");
  });

  it("is not told by the mark of a Transaction whose commit is made", () => {
    const world = committed();
    seen(world, markedBy(UID, "a", "3"));
    expect(lastSubject(world)).toBe("GitOps Reverser: [UPDATE] core/v1/configmaps/shop/a");
  });

  it("is not told by the mark of one that has not begun, which does not hold the file either", () => {
    const world = newWorld();
    listed(world, [configMap("a", "1"), configMap("b", "1")]);
    work(world);
    transaction(world, inPhase("Pending", []));
    seen(world, markedBy(UID, "a", "3"));
    expect(lastSubject(world)).toBe("GitOps Reverser: [UPDATE] core/v1/configmaps/shop/a");
  });

  it("is that of the Transaction that is rolled back, where it gives back the mark of another", () => {
    const world = committed();
    const second = (phase: Phase, item: JsonObject): Transaction =>
      right(
        decodeTransaction({
          metadata: { name: "second", namespace: "shop", uid: OTHER, resourceVersion: "1", generation: 1 },
          spec: { serviceAccountName: "sa", changes: CHANGES.slice(0, 1) },
          status: { phase, items: [item], requestedBy: "carol" },
        }),
      );
    const applied = { prepared: true, committed: true, uid: "uid-a", resourceVersion: "1" };
    transaction(world, second("Committing", applied));
    seen(world, markedBy(OTHER, "a", "3"));
    transaction(world, second("Committed", applied));
    expect(lastSubject(world)).toBe("carol: Transaction shop/second: Committed, 1 change");
    seen(world, marked("a", "2"));
    transaction(world, second("RollingBack", applied));
    transaction(world, second("RolledBack", { ...applied, rolledBack: true }));
    later(world, 3_000);
    work(world);
    fold(world, { type: "targetRead", uid: OTHER, file: fileOf(world, marked("a", "2")) });
    expect(lastSubject(world)).toBe("carol: Transaction shop/second: RolledBack, 1 change");
  });

  it("is who has deleted an object that a Transaction was to delete, and has left alone", () => {
    const world = begun();
    transaction(world, inPhase("Failed", [{}, { prepared: true, uid: "uid-b", resourceVersion: "1" }]));
    gone(world, "b", BOB);
    expect(lastSubject(world)).toBe("bob: [DELETE] core/v1/configmaps/shop/b by user/bob");
  });
});
