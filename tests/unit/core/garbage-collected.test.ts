import type { Change } from "@janus/api";
import { describe, expect, it } from "vitest";
import { change, examined, former } from "./underway.ts";
import type { KubeObject } from "@janus/types";

const reference = (owner: string) => ({ apiVersion: "v1", kind: "ConfigMap", name: owner, uid: `uid-of-${owner}` });
const owned = (name: string, ...owners: readonly string[]): KubeObject =>
  former("ConfigMap", name, { metadata: { ownerReferences: owners.map(reference) } });

const owning = (type: "Create" | "Update" | "Patch", name: string, ...owners: readonly string[]): Change => ({
  ...change(type, name),
  type,
  content: { metadata: { ownerReferences: owners.map(reference) } },
});

const [parent, other] = [owned("parent"), owned("other")];
const deletion = change("Delete", "parent");

describe("objects that are deleted with an owner that another change deletes", () => {
  it.each([
    ["a Patch before that", [change("Patch", "child"), deletion], [owned("child", "parent")]],
    ["a Patch after that", [deletion, change("Patch", "child")], [owned("child", "parent")]],
    ["an Update", [change("Update", "child"), deletion], [owned("child", "parent")]],
    [
      "an Update after that, which gives it another owner too late",
      [deletion, owning("Update", "child", "other")],
      [owned("child", "parent")],
    ],
    ["an Update that gives it away", [owning("Update", "child", "parent"), deletion], [owned("child", "other")]],
    ["a Create", [owning("Create", "child", "parent"), deletion], []],
    [
      "a Patch of what all owners go of",
      [change("Patch", "child"), deletion, change("Delete", "other")],
      [owned("child", "parent", "other")],
    ],
    [
      "a Patch of what goes with an object in between",
      [change("Patch", "child"), deletion],
      [owned("child", "between"), owned("between", "parent")],
    ],
    [
      "a Delete, after that, of what goes with an object in between",
      [deletion, change("Delete", "child")],
      [owned("child", "between"), owned("between", "parent")],
    ],
  ] as const)("is refused: %s", (_, changes, there) => {
    expect(examined(changes, parent, other, ...there)).toMatch(
      /ConfigMap shop\/child is garbage-collected with its owner, which changes\[\d\] deletes/,
    );
  });

  it.each([
    ["a Delete", [change("Delete", "child"), deletion], [owned("child", "parent")]],
    ["a Delete after that", [deletion, change("Delete", "child")], [owned("child", "parent")]],
    [
      "a Delete, before that, of what goes with an object in between",
      [change("Delete", "child"), deletion],
      [owned("child", "between"), owned("between", "parent")],
    ],
    [
      "a Delete of everything from above",
      [deletion, change("Delete", "between"), change("Delete", "child")],
      [owned("child", "between"), owned("between", "parent")],
    ],
    [
      "what an object in between keeps, which another one owns, too",
      [change("Patch", "child"), deletion],
      [owned("child", "between"), owned("between", "parent", "other")],
    ],
    ["what another owner keeps", [change("Patch", "child"), deletion], [owned("child", "parent", "other")]],
    ["an Update that takes it from its owner", [owning("Update", "child"), deletion], [owned("child", "parent")]],
    [
      "a Patch that gives it another owner first",
      [owning("Patch", "child", "other"), deletion],
      [owned("child", "parent")],
    ],
    ["what has no owners", [change("Patch", "child"), deletion], [owned("child")]],
  ] as const)("is no such thing: %s", (_, changes, there) => {
    const step = examined(changes, parent, other, ...there);
    expect(step).not.toContain("is garbage-collected with its owner");
    expect(step).toContain('"purpose":"store"');
  });
});
