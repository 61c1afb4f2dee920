// Tests that every object has a path of its own, which git, Windows and all file systems take, and which leads nowhere else.
import * as fc from "fast-check";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it } from "vitest";
import {
  type BaseFolder,
  baseFolder,
  filePath,
  isFileOf,
  isWithin,
  layoutOf,
  markerPath,
  objectPath,
  type ObjectIdentity,
  relativeTo,
  ROOT,
} from "../../../packages/git-journal/src/core/path.ts";
import { anyCharacter } from "../core/arbitrary-text.ts";

const part = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 8 }),
  fc.string({ unit: fc.constantFrom(...Array.from("aA.%/~-_ \0\\:")), maxLength: 6 }),
  fc.constantFrom(
    "",
    ".",
    "..",
    ".git",
    ".GIT",
    ".git.",
    "git~1",
    "core",
    "%63ore",
    "v1",
    "v1beta1",
    "apps",
    "a".repeat(253),
    `${"a".repeat(253)}b`,
    "con",
  ),
);
const identity: fc.Arbitrary<ObjectIdentity> = fc
  .record({ group: part, version: part, resource: part, namespace: fc.option(part, { nil: undefined }), name: part })
  .map(({ namespace, ...rest }) => ({ ...rest, ...(namespace === undefined ? {} : { namespace }) }));

const folder = (text: string): BaseFolder => {
  const checked = baseFolder(text);
  if (E.isLeft(checked)) throw new Error(checked.left);
  return checked.right;
};
const PROD = folder("clusters/prod");

describe("paths of objects", () => {
  it("two objects never have the same path", () => {
    fc.assert(
      fc.property(identity, identity, (a, b) => {
        const same = [a, b].map(({ group, version, resource, namespace, name }) =>
          JSON.stringify([group, version, resource, namespace ?? null, name]),
        );
        expect(objectPath(ROOT, a) === objectPath(ROOT, b)).toBe(same[0] === same[1]);
      }),
      { numRuns: 2000 },
    );
  });

  it("a path leads nowhere but into its folder, whatever the names are", () => {
    fc.assert(
      fc.property(identity, (one) => {
        const path = objectPath(PROD, one);
        expect(filePath(path)).toBe(path);
        expect(isWithin(PROD, path)).toBe(true);
        expect(relativeTo(PROD, path)).toBe(objectPath(ROOT, one));
        expect(path).toMatch(/^[A-Za-z0-9._%~/-]+\.yaml$/u);
        expect(Math.max(...path.split("/").map(({ length }) => length))).toBeLessThanOrEqual(205);
      }),
      { numRuns: 2000 },
    );
  });

  it("the layout of a path is that of its object", () => {
    const legal = identity.filter(
      ({ version, resource, namespace = "x", group }) =>
        [version, resource, namespace, group].every((one) => one.length < 60 && one !== "") && !/^v\d/u.test(group),
    );
    fc.assert(
      fc.property(legal, ({ name, ...rest }) => {
        const path = objectPath(ROOT, { name, ...rest });
        expect(layoutOf(path)).toEqual(rest);
        expect(isFileOf(path, name)).toBe(true);
        expect(isFileOf(path, `${name}x`)).toBe(false);
      }),
    );
  });

  it.each<readonly [Partial<ObjectIdentity>, string]>([
    [{}, "core/v1/configmaps/shop/app.yaml"],
    [{ group: "apps", resource: "deployments" }, "apps/v1/deployments/shop/app.yaml"],
    [{ group: "core" }, "%63ore/v1/configmaps/shop/app.yaml"],
    [{ name: "system:node" }, "core/v1/configmaps/shop/system%3Anode.yaml"],
    [{ name: "50%" }, "core/v1/configmaps/shop/50%25.yaml"],
    [{ name: ".git" }, "core/v1/configmaps/shop/.git.yaml"],
    [{ name: ".." }, "core/v1/configmaps/shop/...yaml"],
    [{ namespace: ".." }, "core/v1/configmaps/%2E./app.yaml"],
    [{ namespace: ".Git" }, "core/v1/configmaps/%2EGit/app.yaml"],
    [{ resource: "a/../b" }, "core/v1/a%2F..%2Fb/shop/app.yaml"],
    [{ name: "é" }, "core/v1/configmaps/shop/%C3%A9.yaml"],
    [{ name: "n".repeat(200) }, `core/v1/configmaps/shop/${"n".repeat(200)}.yaml`],
    [{ name: "n".repeat(201) }, `core/v1/configmaps/shop/${"n".repeat(180)}~291c4194382c6bd5.yaml`],
  ])("%o", (more, expected) => {
    expect(
      objectPath(ROOT, { group: "", version: "v1", resource: "configmaps", namespace: "shop", name: "app", ...more }),
    ).toBe(expected);
  });

  it("an object of the cluster has no folder of a namespace", () => {
    expect(objectPath(PROD, { group: "", version: "v1", resource: "namespaces", name: "shop" })).toBe(
      "clusters/prod/core/v1/namespaces/shop.yaml",
    );
  });
});

describe("folders", () => {
  it.each(["", "/a", "a/", "a//b", ".", "a/..", "..", ".git", "a/.gIt/b", ".git.", "a b", "a\\b", "a\nb", "é"])(
    "%j is refused",
    (text) => {
      expect(baseFolder(text)).toEqual(E.left('baseFolder must not have the segments ".", ".." or ".git"'));
    },
  );

  it.each(["a.yaml", "prod/core/v1/configmaps/shop/app.yaml", "prod/.configbutler/owner.yaml/x"])(
    "%s is refused: it may be where a file of another destination is",
    (text) => {
      expect(baseFolder(text)).toEqual(E.left(expect.stringContaining('ends in ".yaml"')));
    },
  );

  it.each(["a", "a/b", ".github", "...", "a.git", ".gitignore", "a.yaml.d"])("%s is a folder", (text) => {
    expect(baseFolder(text)).toEqual(E.right(text));
  });

  it("a folder does not contain what only begins like it", () => {
    expect(isWithin(PROD, "clusters/production/x")).toBe(false);
    expect(isWithin(PROD, markerPath(PROD))).toBe(true);
    expect(markerPath(ROOT)).toBe(".configbutler/owner.yaml");
  });
});

describe("files that are there", () => {
  it.each([
    "README.md",
    "core/v1/configmaps/shop/app.yml",
    "core/v1/configmaps.yaml",
    "a/core/v1/configmaps/shop/app.yaml",
    ".configbutler/owner.yaml",
    "core/v1/%GG/shop/app.yaml",
    "core/%GG/configmaps/shop/app.yaml",
    "%GG/v1/configmaps/shop/app.yaml",
    "core/v1/configmaps/%GG/app.yaml",
  ])("%s has not the layout of objects", (path) => {
    expect(layoutOf(path)).toBeUndefined();
  });

  it("upstream leaves out core", () => {
    const core = { group: "", version: "v1" };
    expect(layoutOf("v1/configmaps/shop/app.yaml")).toEqual({ ...core, resource: "configmaps", namespace: "shop" });
    expect(layoutOf("v1/namespaces/shop.yaml")).toEqual({ ...core, resource: "namespaces" });
  });

  it.each(["../x", "a/../b", "./x", ".git/hooks/x", "a/.GIT/x", "a//b", "/a", "a\0b"])(
    "%j is no path of a file",
    (path) => {
      expect(filePath(path)).toBeUndefined();
    },
  );
});
