import { globSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { page, root, section } from "./page.ts";

const index = section(page("CONTRIBUTING.md"), "## What to open first");

const paths = new Set(
  [...index.matchAll(/`((?:\.ci|\.github|charts|deploy|docs|packages|scripts|tests)\/[\w./-]+)`/gu)].flatMap(
    ([, path = ""]) => [path],
  ),
);

/** `FILE` (`name`, `other`) */
const names = [...index.matchAll(/`(packages\/[\w./-]+\.ts)` \(([^)]+)\)/gu)].flatMap(([, file = "", list = ""]) =>
  [...list.matchAll(/`([\w-]+)`/gu)].flatMap(([, name = ""]) => [{ file, name }]),
);

it("CONTRIBUTING.md names what the files have", () => {
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter(({ file, name }) => !page(file).includes(name))).toEqual([]);
});

/** Files that decide nothing that somebody would want to change: types, entry points, and what others are made of. */
const UNNAMED: readonly string[] = [
  "packages/api/src/rule.ts",
  "packages/cli/src/cluster/resources.ts",
  "packages/cli/src/reference/printed.ts",
  "packages/cli/src/reference/write.ts",
  "packages/controller/src/core/forward/turn-check.ts",
  "packages/controller/src/core/gates/gate-state.ts",
  "packages/controller/src/core/gates/syntax-mistake.ts",
  "packages/controller/src/core/gates/read-fields.ts",
  "packages/controller/src/core/kubernetes/base64.ts",
  "packages/controller/src/core/kubernetes/memoize.ts",
  "packages/controller/src/core/state/has-target.ts",
  "packages/controller/src/core/state/listings.ts",
  "packages/deploy/src/crd.ts",
  "packages/deploy/src/helm/value.ts",
  "packages/deploy/src/helm/write-chart.ts",
  "packages/deploy/src/installation.ts",
  "packages/deploy/src/json-schema.ts",
  "packages/deploy/src/manifests.ts",
  "packages/deploy/src/namespaced.ts",
  "packages/deploy/src/schema.ts",
  "packages/deploy/src/write-committed.ts",
  "packages/kube/src/api/clock.ts",
  "packages/kube/src/api/error-reason.ts",
  "packages/kube/src/api/lru-cache.ts",
  "packages/testing/src/api-server/world.ts",
  "packages/testing/src/controller/scenario.ts",
  "packages/testing/src/controller/state.ts",
  "packages/types/src/kube-object.ts",
  "packages/types/src/resource.ts",
];

it("CONTRIBUTING.md names every source file that decides something", () => {
  const files = globSync("packages/*/src/**/*.ts", { cwd: fileURLToPath(root) }).filter(
    (file) => !/\bindex\.ts$/u.test(file),
  );
  expect(files.filter((file) => !paths.has(file)).toSorted()).toEqual(UNNAMED.toSorted());
});
