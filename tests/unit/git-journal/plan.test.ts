// Tests what is written and deleted in a branch so that its files say what is live: all of it, and nothing else.
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OPERATIONS } from "../../../packages/git-journal/src/api/watch-rule.ts";
import { canonicalYaml } from "../../../packages/git-journal/src/core/canonical.ts";
import { contentOf, type FileContent } from "../../../packages/git-journal/src/core/file-content.ts";
import { baseFolder, type FilePath, layoutOf, objectPath, ROOT } from "../../../packages/git-journal/src/core/path.ts";
import {
  type Compared,
  type IndexedObject,
  mayDelete,
  type Plan,
  planned,
} from "../../../packages/git-journal/src/core/plan.ts";
import { pendingFiles } from "../../../packages/git-journal/src/core/pending-files.ts";
import {
  rulesOfClusterWatchRule,
  rulesOfWatchRule,
  type SelectionRule,
} from "../../../packages/git-journal/src/core/selection.ts";
import type { Tree } from "../../../packages/git-journal/src/core/tree.ts";
import { right } from "./right.ts";

/** A text stands for its blob, and is its id. */
const treeOf = (files: Readonly<Record<string, string>>): Tree =>
  new Map(Object.entries(files).map(([path, id]) => [path, { kind: "file", id }]));

const readAll = (tree: Tree): ReadonlyMap<string, FileContent | undefined> =>
  new Map([...tree.values()].map(({ id }) => [id, contentOf(id)]));

const textOf = (name: string, value: string): string =>
  canonicalYaml({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "shop" }, data: { value } });
const pathOf = (name: string): FilePath =>
  objectPath(ROOT, { group: "", version: "v1", resource: "configmaps", namespace: "shop", name });
const indexed = (
  name: string,
  value: string,
  operations: IndexedObject["operations"] = new Set(OPERATIONS),
): IndexedObject => {
  const blob = textOf(name, value);
  return { operations, blob, fingerprint: contentOf(blob)?.fingerprint ?? "", bytes: blob.length };
};

const compared = (more: Partial<Compared>): Compared => {
  const tree = more.tree ?? new Map();
  return {
    folder: ROOT,
    otherFolders: [],
    spared: new Set(),
    index: new Map(),
    tree,
    read: readAll(tree),
    mayDelete: () => true,
    isWritten: ({ version }) => version === "v1",
    ...more,
  };
};
const changes = (more: Partial<Compared>): readonly string[] =>
  planned(compared(more)).changes.map(({ operation, path }) => `${operation} ${path}`);

const applied = (tree: Tree, { changes }: Plan, index: Compared["index"]): Tree => {
  const after = new Map(tree);
  for (const { operation, path } of changes)
    if (operation === "DELETE") after.delete(path);
    else after.set(path, { kind: "file", id: index.get(path)?.blob ?? "" });
  return after;
};

const name = fc.constantFrom("a", "b", "c:d", "e");
const value = fc.constantFrom("1", "2");
const operations = fc.subarray([...OPERATIONS], { minLength: 0 }).map((some) => new Set(some));
const index = fc
  .array(fc.tuple(name, value, operations), { maxLength: 4 })
  .map((all) => new Map(all.map(([name, value, some]) => [pathOf(name), indexed(name, value, some)] as const)));
const file = fc.oneof(
  fc.tuple(name, name, value).map(([path, name, value]) => [pathOf(path), textOf(name, value)] as const),
  fc.tuple(name, value).map(([name, value]) => [pathOf(name), `# why\n${textOf(name, value)}`] as const),
  fc.constantFrom<readonly [string, string]>(
    ["README.md", "hello"],
    ["core/v1/configmaps/shop/kustomization.yaml", "kind: Kustomization\napiVersion: k/v1\n"],
    [".configbutler/owner.yaml", "kind: Owner"],
    ["v1/configmaps/shop/a.yaml", textOf("a", "1")],
  ),
);
const tree = fc.array(file, { maxLength: 6 }).map((all) => treeOf(Object.fromEntries(all)));

describe("a plan", () => {
  it("made of its changes, the tree needs no other, and says what is live as far as the operations go", () => {
    fc.assert(
      fc.property(index, tree, fc.boolean(), (index, tree, deletes) => {
        const all = compared({ index, tree, mayDelete: () => deletes });
        const after = applied(tree, planned(all), index);
        expect(planned({ ...all, tree: after, read: readAll(after) }).changes).toEqual([]);
        const complete = [...index].filter(([, { operations }]) => operations.size === OPERATIONS.length);
        expect(complete.map(([path]) => contentOf(after.get(path)?.id ?? "")?.fingerprint)).toEqual(
          complete.map(([, { fingerprint }]) => fingerprint),
        );
      }),
      { numRuns: 500 },
    );
  });

  it("what it says does not depend on how much was read before, once nothing is left to read", () => {
    fc.assert(
      fc.property(index, tree, (index, tree) => {
        const all = readAll(tree);
        const read = new Map<string, FileContent | undefined>();
        for (;;) {
          const plan = planned(compared({ index, tree, read }));
          if (plan.toRead.length === 0) break;
          for (const id of plan.toRead) {
            expect(read.has(id)).toBe(false);
            read.set(id, all.get(id));
          }
        }
        expect(planned(compared({ index, tree, read }))).toEqual(planned(compared({ index, tree, read: all })));
      }),
    );
  });

  it("leaves alone what is none of its files", () => {
    fc.assert(
      fc.property(index, tree, (index, tree) => {
        for (const { path } of planned(compared({ index, tree })).changes)
          expect(path).toMatch(/^(?:core\/)?v1\/configmaps\/shop\/(?:[abe]|c%3Ad)\.yaml$/u);
      }),
    );
  });
});

describe("one file", () => {
  const index = new Map([[pathOf("a"), indexed("a", "1")]]);
  const path = pathOf("a");

  it.each<readonly [string, Partial<Compared>, readonly string[]]>([
    ["created", { index }, [`CREATE ${path}`]],
    ["updated", { index, tree: treeOf({ [path]: textOf("a", "2") }) }, [`UPDATE ${path}`]],
    ["put right after a foreign edit", { index, tree: treeOf({ [path]: "nonsense" }) }, [`UPDATE ${path}`]],
    ["the same", { index, tree: treeOf({ [path]: textOf("a", "1") }) }, []],
    ["left with its comments", { index, tree: treeOf({ [path]: `# why\n${textOf("a", "1")}` }) }, []],
    ["deleted", { tree: treeOf({ [path]: textOf("a", "1") }) }, [`DELETE ${path}`]],
    ["left while it cannot be written", { spared: new Set([path]), tree: treeOf({ [path]: textOf("a", "1") }) }, []],
    ["not deleted without a complete list", { tree: treeOf({ [path]: textOf("a", "1") }), mayDelete: () => false }, []],
    [
      "deleted, with another object than its path promises",
      { tree: treeOf({ [path]: textOf("b", "1") }) },
      [`DELETE ${path}`],
    ],
    [
      "deleted, with another version than its path promises",
      { tree: treeOf({ [path]: textOf("a", "1").replace("v1", "v2") }) },
      [`DELETE ${path}`],
    ],
    [
      "deleted, with another namespace than its path promises",
      { tree: treeOf({ [path]: textOf("a", "1").replace("shop", "x") }) },
      [`DELETE ${path}`],
    ],
    [
      "with another object, not deleted without a complete list",
      { tree: treeOf({ [path]: textOf("b", "1") }), mayDelete: () => false },
      [],
    ],
    [
      "with another object, left where nothing of it is written",
      { tree: treeOf({ [path]: textOf("b", "1") }), isWritten: () => false },
      [],
    ],
    [
      "with another object, left where no object has this path",
      {
        tree: treeOf({
          "v1/configmaps/shop/a.yaml": textOf("b", "1"),
          "core/v1/configmaps/shop/a b.yaml": textOf("b", "1"),
        }),
      },
      [],
    ],
    [
      "of a tool, left although it has a name",
      { tree: treeOf({ "core/v1/configmaps/shop/kustomization.yaml": textOf("b", "1") }) },
      [],
    ],
    [
      "of several objects, left as it is",
      { tree: treeOf({ [path]: `${textOf("b", "1")}---\n${textOf("c", "1")}` }) },
      [],
    ],
    [
      "renamed, as upstream has it without core",
      { index, tree: treeOf({ "v1/configmaps/shop/a.yaml": textOf("a", "1") }) },
      [`CREATE ${path}`, "DELETE v1/configmaps/shop/a.yaml"],
    ],
    [
      "in a folder within that of another destination",
      {
        folder: right(baseFolder("prod")),
        otherFolders: [ROOT],
        tree: treeOf({ [`prod/${path}`]: textOf("a", "1") }),
      },
      [`DELETE prod/${path}`],
    ],
    [
      "what is that of a destination around it, and would be upstream's here",
      {
        folder: right(baseFolder("prod/core")),
        otherFolders: [right(baseFolder("prod"))],
        tree: treeOf({ [`prod/${path}`]: textOf("a", "1") }),
      },
      [],
    ],
    [
      "what upstream has written here, if nothing is around it",
      { folder: right(baseFolder("prod/core")), tree: treeOf({ [`prod/${path}`]: textOf("a", "1") }) },
      [`DELETE prod/${path}`],
    ],
    ["outside of the folder", { folder: right(baseFolder("prod")), tree: treeOf({ [path]: textOf("a", "1") }) }, []],
  ])("%s", (_, more, expected) => {
    expect(changes(more)).toEqual(expected);
  });

  it("pending files say what the tip says, whatever that is", () => {
    const of = (text: string | undefined, live = index) => {
      const all = compared({ index: live, tree: text === undefined ? new Map() : treeOf({ [path]: text }) });
      return pendingFiles(planned(all), all, new Set()).map(({ tip, live }) => [tip?.fingerprint, live?.fingerprint]);
    };
    const [one, two] = ["1", "2"].map((value) => contentOf(textOf("a", value))?.fingerprint);
    expect(of(undefined)).toEqual([[undefined, one]]);
    expect(of(textOf("a", "2"))).toEqual([[two, one]]);
    expect(of("nonsense")).toEqual([["nonsense", one]]);
    expect(of(textOf("a", "2"), new Map())).toEqual([[two, undefined]]);
    const all = compared({ index });
    expect(pendingFiles(planned(all), all, new Set([path]))).toEqual([]);
  });

  it("a blob is read only where the ids do not tell", () => {
    const tree = treeOf({ [path]: "x", "core/v1/configmaps/shop/b.yaml": "y", "README.md": "z" });
    expect(planned(compared({ index, tree, read: new Map() })).toRead).toEqual(["x", "y"]);
    expect(planned(compared({ index, tree: treeOf({ [path]: textOf("a", "1") }), read: new Map() })).toRead).toEqual(
      [],
    );
  });

  it("what is encrypted has no id, and is compared by what it says", () => {
    const { blob: _, ...secret } = indexed("a", "1");
    const index = new Map([[path, secret]]);
    expect(changes({ index, tree: treeOf({ [path]: textOf("a", "1") }) })).toEqual([]);
    expect(changes({ index, tree: treeOf({ [path]: textOf("a", "2") }) })).toEqual([`UPDATE ${path}`]);
  });

  it.each([
    ["a symlink", path, "symlink", `${path} is a symlink`],
    ["a submodule", "core/v1", "submodule", "core/v1 is a submodule"],
    ["a symlink to a folder", "core", "symlink", "core is a symlink"],
    ["a file", "core/v1/configmaps", "file", "core/v1/configmaps is a file"],
    ["a folder", `${path}/x`, "file", `${path} is a folder`],
  ] as const)("nothing is written through or over %s", (_, inTheWay, kind, because) => {
    const tree = new Map([[inTheWay, { kind, id: "x" }]]);
    expect(planned(compared({ index, tree, read: new Map() }))).toEqual({
      changes: [],
      toRead: [],
      conflicts: [{ path, because }],
    });
  });

  it("a symlink that looks like the file of an object is not deleted", () => {
    expect(changes({ tree: new Map([[path, { kind: "symlink", id: textOf("a", "1") }]]) })).toEqual([]);
  });

  it("a file that git should not have taken is not deleted", () => {
    expect(changes({ tree: treeOf({ "core/v1/configmaps/../a.yaml": textOf("a", "1") }) })).toEqual([]);
  });
});

const settings = { watchAll: false, excludes: [], secrets: true };
const rules = (
  operations: readonly ("CREATE" | "DELETE")[] = ["DELETE"],
  resources = ["configmaps"],
): readonly SelectionRule[] => right(rulesOfWatchRule({ rules: [{ resources, operations }] }, "shop"));

describe("what may be deleted", () => {
  const may = (
    more: Partial<Parameters<typeof mayDelete>[0]>,
    path = "core/v1/configmaps/shop/a.yaml",
    kind?: string,
  ): boolean => {
    const present = more.rules ?? rules();
    const selected = [
      { group: "", plural: "configmaps", kind: "ConfigMap", namespaced: true, version: "v1", rules: present },
    ];
    const coverage = {
      rules: present,
      formerRules: [],
      selected,
      complete: new Set(["configmaps."]),
      gone: new Set<string>(),
      settings,
      ...more,
    };
    const layout = layoutOf(path);
    return layout !== undefined && mayDelete(coverage)(layout, kind);
  };

  const all = { watchAll: true, excludes: [], secrets: true };
  const goneAll = { has: () => true };
  it.each<readonly [string, string, string, boolean]>([
    ["of a resource that is gone", "example.com/v1/widgets/shop/a.yaml", "Widget", true],
    ["of one with another plural", "example.com/v1/indices/shop/a.yaml", "Index", true],
    ["of one without", "example.com/v1/k8slabels/shop/a.yaml", "K8sLabels", true],
    ["not in a folder that only looks like a resource", "apps/v1/base/shop/a.yaml", "Deployment", false],
    ["of a resource that is selected", "core/v1/configmaps/shop/a.yaml", "ConfigMap", true],
    ["not of another kind", "core/v1/configmaps/shop/a.yaml", "Service", false],
  ])("only if it is of the kind of its resource: %s", (_, path, kind, expected) => {
    expect(may({ rules: rules(["DELETE"], ["*"]), settings: all, gone: goneAll }, path, kind)).toBe(expected);
  });

  it.each<readonly [string, Partial<Parameters<typeof mayDelete>[0]>, string | undefined, boolean]>([
    ["after a complete list", {}, undefined, true],
    ["not after a list that failed", { complete: new Set() }, undefined, false],
    ["not after a list of another resource", { complete: new Set(["configmaps.apps"]) }, undefined, false],
    ["in another version", {}, "core/v1beta1/configmaps/shop/a.yaml", true],
    ["not in another namespace", {}, "core/v1/configmaps/other/a.yaml", false],
    ["not of another scope", {}, "core/v1/configmaps/a.yaml", false],
    ["not of another resource", {}, "core/v1/secrets/shop/a.yaml", false],
    ["not without the operation", { rules: rules(["CREATE"]) }, undefined, false],
    [
      "not without the operation, although a former rule had it",
      { rules: rules(["CREATE"]), formerRules: rules() },
      undefined,
      false,
    ],
    ["not of a destination without rules", { rules: [], formerRules: rules() }, undefined, false],
    [
      "of a resource that is gone",
      { selected: [], complete: new Set(), gone: new Set(["configmaps."]) },
      undefined,
      true,
    ],
    ["not of a resource of which nobody can tell", { selected: [], complete: new Set() }, undefined, false],
    [
      "of a rule that was removed",
      { rules: rules(["DELETE"], ["widgets"]), formerRules: rules(), selected: [] },
      undefined,
      true,
    ],
    [
      "of a rule that was removed, not before the complete list for another",
      {
        rules: right(rulesOfWatchRule({ rules: [{ resources: ["configmaps"] }] }, "other")),
        formerRules: rules(),
        complete: new Set(),
      },
      undefined,
      false,
    ],
    [
      "of a rule for all namespaces, in one that is gone",
      {
        rules: right(
          rulesOfClusterWatchRule({
            rules: [{ resources: ["configmaps"], scope: "Namespaced", namespaceSelector: { matchLabels: { a: "b" } } }],
          }),
        ),
      },
      "core/v1/configmaps/gone/a.yaml",
      true,
    ],
  ])("%s", (_, more, path, expected) => {
    expect(may(more, path)).toBe(expected);
  });
});
