import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { programs } from "./programs.ts";

const root = path.resolve(import.meta.dirname, "../..");
const bin = (tool: string): string => path.join(root, "node_modules/.bin", tool);

const toldAll = (error: { readonly stdout: string; readonly stderr: string; readonly message: string }) => {
  throw new Error(`${error.message}\n${error.stdout}\n${error.stderr}`);
};

/** Rejects with all that it printed, unless its exit code is 0. */
const run = async (cwd: string, program: string, ...args: readonly string[]): Promise<string> =>
  (await promisify(execFile)(program, args, { cwd, maxBuffer: 1 << 26 }).catch(toldAll)).stdout;

let directory: string;
let tarballs: readonly string[];
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), "janus-packed-"));
  const printed = await run(root, "npm", "run", "-s", "pack", "--", directory);
  tarballs = printed.trim().split("\n");
});
afterAll(() => rm(directory, { recursive: true }));

const tarballOf = (name: string): string =>
  tarballs.find((file) => file.includes(`/${name.slice(1).replace("/", "-")}-`)) ?? "";
const names = Object.keys(programs);
const programTarball = (): string => tarballs.find((file) => file.includes("/kubectl-janus-")) ?? "";

it("packs exactly the packages that are tried here", () => {
  const all = [...names.map(tarballOf), programTarball()];
  expect(tarballs.toSorted()).toEqual(all.toSorted());
});

it("packs the program as publint wants it, as one file with its completion, and it runs where it is installed", async () => {
  expect(await run(root, bin("publint"), "--strict", programTarball())).toContain("All good!");
  const project = await mkdtemp(path.join(directory, "program-"));
  await writeFile(path.join(project, "package.json"), JSON.stringify({ name: "app", private: true }));
  await run(project, "npm", "install", "--no-audit", "--no-fund", programTarball());
  expect(await run(project, "npm", "ls", "--all", "--parseable")).not.toContain(
    "node_modules/kubectl-janus/node_modules",
  );
  const installed = path.join(project, "node_modules/.bin/kubectl-janus");
  expect(await run(project, process.execPath, installed, "version", "--client")).toBe("client: 0.1.0\n");
  const files = await run(directory, "tar", "tzf", programTarball());
  expect(files.trim().split("\n").toSorted()).toEqual([
    "package/LICENSE",
    "package/README.md",
    "package/THIRD-PARTY-LICENSES",
    "package/bin/kubectl_complete-janus",
    "package/dist/kubectl-janus.js",
    "package/package.json",
  ]);
});

it.each(names)("packs %s as publint and arethetypeswrong want it", async (name) => {
  expect(await run(root, bin("publint"), "--strict", tarballOf(name))).toContain("All good!");
  expect(await run(root, bin("attw"), tarballOf(name))).toContain("No problems found");
});

it.each(names)("packs no sources, tests or internal packages with %s, and no types of fp-ts or io-ts", async (name) => {
  const unpacked = await mkdtemp(path.join(directory, "unpacked-"));
  const files = await run(unpacked, "tar", "xzvf", tarballOf(name), "--strip-components=1");
  expect(files.trim().split("\n").toSorted()).toEqual([
    "package/LICENSE",
    "package/README.md",
    "package/THIRD-PARTY-LICENSES",
    "package/dist/index.cjs",
    "package/dist/index.d.cts",
    "package/dist/index.d.ts",
    "package/dist/index.js",
    "package/package.json",
  ]);
  const read = (file: string) => readFile(path.join(unpacked, file), "utf8");
  for (const types of ["dist/index.d.ts", "dist/index.d.cts"])
    expect(await read(types)).not.toMatch(/\b(?:fp|io)-ts\b/u);
  expect(await read("package.json")).not.toMatch(/workspace:|devDependencies|scripts|@janus\/(?:api|authoring|types)/u);
  const internal = /(?:from|require\() ?"@janus\/(?:api|authoring|types|kube|controller)"/u;
  for (const code of ["dist/index.js", "dist/index.cjs"]) expect(await read(code)).not.toMatch(internal);
});

it.each(names.flatMap((name) => ["module", "commonjs"].map((type) => [name, type] as const)))(
  "lets an empty project that installs %s as %s compile strictly and run",
  async (name, type) => {
    const project = await mkdtemp(path.join(directory, "project-"));
    const { peers = [], imports = [], body = "", prints } = programs[name] ?? {};
    await writeFile(path.join(project, "package.json"), JSON.stringify({ name: "app", private: true, type }));
    await run(project, "npm", "install", "--no-audit", "--no-fund", tarballOf(name), ...peers);
    await writeFile(path.join(project, "main.ts"), `${imports.join("\n")}\n${body}`);
    const readme = await readFile(path.join(project, "node_modules", name, "README.md"), "utf8");
    await writeFile(path.join(project, "readme.ts"), /^```ts\n(.*?)^```$/msu.exec(readme)?.[1] ?? "");
    const flags = ["--strict", "--skipLibCheck", "false", "--module", "nodenext", "--target", "es2022"];
    const node = path.join(root, "node_modules/@types");
    await run(project, bin("tsc"), ...flags, "--typeRoots", node, "--types", "node", "main.ts", "readme.ts");
    await run(project, process.execPath, "readme.js");
    expect(await run(project, process.execPath, "main.js")).toBe(prints);
  },
);

const isSource = (file: string): boolean => !file.endsWith("node_modules");

it("lets the tests of examples/ci pass where they are installed as its README says", async () => {
  const project = await mkdtemp(path.join(directory, "project-"));
  await cp(path.join(root, "examples/ci"), project, { recursive: true, filter: isSource });
  const tarball = tarballOf("@janus/testing");
  await run(project, "npm", "install", "--no-audit", "--no-fund", "--save-dev", tarball);
  const printed = stripVTControlCharacters(await run(project, "npm", "test"));
  expect(printed).toMatch(/Tests\D+6 passed/u);
  expect(printed).toMatch(/pass 3\b/u);
});
