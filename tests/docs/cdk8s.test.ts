import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import * as authoring from "@janus/cdk8s";
import * as installing from "@janus/deploy";
import { describe, expect, it, onTestFinished } from "vitest";
import { parseAllDocuments } from "yaml";
import type { Manifest } from "../fixtures/administrator.ts";
import { kubectl } from "../fixtures/cluster.ts";
import { configMap } from "../fixtures/manifests.ts";
import { workspace } from "../fixtures/workspace.ts";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/cdk8s.md", root), "utf8");

/** The program of a section. */
const program = (heading: string): string => {
  const [, section = ""] = page.split(new RegExp(`^#+ ${heading}$`, "mu"));
  return /^```ts\n(.*?)^```$/msu.exec(section)?.[1] ?? "";
};

/** What a program of the page prints. It is run where it finds the packages that it imports. */
const run = async (code: string, env: Readonly<Record<string, string>> = {}): Promise<string> => {
  const child = spawn(process.execPath, ["--conditions=source", "--input-type=module-typescript", "-"], {
    cwd: fileURLToPath(new URL("tests", root)),
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  child.stdin.end(code);
  return text(child.stdout);
};
const printed = async (code: string): Promise<readonly Manifest[]> =>
  parseAllDocuments(await run(code)).flatMap((document) => document.toJS() as Manifest);

const names = (manifests: readonly Manifest[]) => manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
const constructsOf = (exported: object): readonly string[] =>
  Object.entries(exported).flatMap(([name, value]) =>
    typeof value === "function" && /^[A-Z]/u.test(name) ? [name] : [],
  );

describe("docs/cdk8s.md", () => {
  it("makes a first Transaction of a chart, and what must be there before", async () => {
    const place = await workspace();
    await place.janus();
    const outdir = await mkdtemp(path.join(os.tmpdir(), "janus-page-"));
    onTestFinished(() => rm(outdir, { recursive: true }));
    const code = program("A first Transaction").replaceAll(
      /(namespace: |\{ name: )"shop"(?= \}\);$)/gmu,
      `$1"${place.namespace}"`,
    );
    await run(code, { CDK8S_OUTDIR: outdir });
    expect(await readdir(outdir)).toEqual(["0000-access.k8s.yaml", "0001-shop.k8s.yaml"]);
    for (const file of ["0000-access.k8s.yaml", "0001-shop.k8s.yaml"])
      expect(await kubectl("apply", "-f", path.join(outdir, file))).toMatchObject({ code: 0 });
    const [, name = ""] =
      /name: (shop-release-[0-9a-f]{8})/u.exec(await readFile(path.join(outdir, "0001-shop.k8s.yaml"), "utf8")) ?? [];
    expect((await place.over(name)).status).toMatchObject({ phase: "Committed", progress: "2/2" });
    expect(await place.read(configMap("shop"))).toMatchObject({ data: { version: "1.0" } });
  });

  it("makes single changes", async () => {
    const manifests = await printed(program("Single changes"));
    expect(manifests.map((manifest) => authoring.parse(manifest).ok)).toEqual([true]);
    expect(manifests).toMatchObject([
      { spec: { timeout: "10m", changes: ["Create", "Update", "Patch", "Delete"].map((type) => ({ type })) } },
    ]);
  });

  it("tells what is wrong with a Transaction", async () => {
    expect(await run(program("Errors"))).toContain("spec: ");
  });

  it("has every prop of a Transaction", () => {
    const source = readFileSync(new URL("packages/cdk8s/src/transaction-props.ts", root), "utf8");
    const props = [...source.matchAll(/^ {2}readonly (\w+)\??: /gmu)].flatMap(([, name = ""]) => name);
    expect(props.length).toBeGreaterThan(10);
    const rows = [...page.matchAll(/^\| `(\w+)` \|/gmu)].map(([, name = ""]) => name);
    expect(props.filter((name) => !rows.includes(name))).toEqual(["changes"]);
  });

  it("installs it all", async () => {
    const manifests = await printed(program("The installation"));
    expect(names(manifests)).toContain("Deployment janus-controller");
    expect(manifests.length).toBe(
      names(installing.installation({ actsAs: [{ namespace: "shop" }], monitoring: true })).length,
    );
  });

  it("composes parts, with no rights in the whole cluster but for the fence", async () => {
    const manifests = await printed(program("The parts"));
    expect(names(manifests).filter((name) => name.startsWith("ClusterRoleBinding"))).toEqual([
      "ClusterRoleBinding janus-controller-fence",
    ]);
    expect(names(manifests)).toContain("Deployment janus-controller");
  });

  it("has every construct", () => {
    const all = [authoring, installing].flatMap(constructsOf);
    expect(all.length).toBeGreaterThan(17);
    expect(all.filter((name) => !page.includes(`\`${name}\``) && !page.includes(`new ${name}(`))).toEqual([]);
  });
});
