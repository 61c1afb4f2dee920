// Tests how the worker of a branch keeps what belongs to a Transaction together: held until its end, then one commit.
import { decodeTransaction, fieldManager, type Phase, type Transaction } from "@janus/api";
import type { JsonObject, KubeObject } from "@janus/types";
import { describe, expect, it } from "vitest";
import { canonicalYaml } from "../../../packages/git-journal/src/core/canonical.ts";
import { sanitised } from "../../../packages/git-journal/src/core/sanitise.ts";
import {
  type BranchWorld,
  configMap,
  fileOf,
  fold,
  gone,
  later,
  listed,
  newWorld,
  pathOf,
  seen,
  transaction,
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

const SUBJECT = "alice: Transaction shop/deploy: Committed, 2 changes";
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
    const world = newWorld(
      new Map([
        [pathOf("a"), textOf("a")],
        [pathOf("b"), textOf("b")],
      ]),
      false,
    );
    world.tipDate = Date.parse("2026-01-01T00:00:00Z");
    transaction(world, inPhase("Committed"));
    fold(world, { type: "transactionsKnown" });
    listed(world, [marked("a", "2")]);
    work(world);
    expect(subjects(world)).toEqual([SUBJECT]);
  });
});
