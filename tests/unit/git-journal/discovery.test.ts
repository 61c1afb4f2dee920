// Tests that resources are not forgotten while their group cannot be asked.
import { expect, it } from "vitest";
import { discovered, type GroupAnswer, type ServedResource } from "../../../packages/git-journal/src/core/discovery.ts";

const served = (group: string, plural: string, namespaced = true, versions = ["v1"]): ServedResource => ({
  group,
  plural,
  kind: plural,
  namespaced,
  versions,
});

const before = [served("", "configmaps"), served("apps", "deployments"), served("example.com", "widgets")];

it("of a group that fails all stays known", () => {
  expect(
    discovered(
      before,
      new Map<string, GroupAnswer>([
        ["", [served("", "configmaps")]],
        ["apps", "failed"],
        ["example.com", "failed"],
      ]),
    ),
  ).toEqual({ served: before, gone: [] });
});

it("a resource is gone when its group answers without it, or is gone itself", () => {
  const { served: now, gone } = discovered(
    before,
    new Map<string, GroupAnswer>([
      ["", [served("", "configmaps")]],
      ["apps", []],
    ]),
  );
  expect(now).toEqual([served("", "configmaps")]);
  expect(gone).toEqual(before.slice(1));
});

it("a new version does not make a resource go", () => {
  expect(
    discovered(
      before,
      new Map<string, GroupAnswer>([
        ["", "failed"],
        ["apps", [served("apps", "deployments", true, ["v2"])]],
        ["example.com", "failed"],
      ]),
    ).gone,
  ).toEqual([]);
});
