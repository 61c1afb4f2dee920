import { readFileSync } from "node:fs";
import path from "node:path";
import type { KubeObject } from "@janus/kube";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { directory as janusDirectory } from "../cli/command-line.ts";
import { commandsOf } from "../deploy/page-commands.ts";
import { type Installed, installed } from "../fixtures/installed.ts";
import { type Shell, shellOf } from "../fixtures/shell.ts";

const repository = path.resolve(import.meta.dirname, "../..");
const FOLDER = "examples/git-revert";
const read = (file: string): string => readFileSync(path.join(repository, FOLDER, file), "utf8");

/** The commands of the README: first those that prepare it, then those that take it back. */
const [prepare = "", takeBack = ""] = [...read("README.md").matchAll(/^```sh\n(.*?)^```$/gmsu)].map(
  ([, block = ""]) => block,
);

let cluster: Installed;
let shell: Shell;
beforeAll(async () => {
  cluster = await installed([]);
  await (await cluster.replica("janus")).start();
  shell = shellOf(cluster.controlPlane, { path: [janusDirectory] });
});
afterAll(() => cluster?.end());

const follow = async (command: string, expected = 0): Promise<string> => {
  const { code, stdout, stderr } = await shell(command);
  expect(code, `${command}\n${stdout}\n${stderr}`).toBe(expected);
  return stdout;
};

interface Expectation {
  readonly objects: readonly KubeObject[];
  readonly absent: readonly KubeObject[];
}

const get = (object: KubeObject, ...flags: readonly string[]): Promise<string> =>
  cluster.kubectl("get", `${object.kind}/${object.metadata.name}`, `-n=${object.metadata.namespace}`, ...flags);

/** All is as expect.yaml says. */
const isAsBefore = async (): Promise<void> => {
  const { objects, absent } = parse(read("expect.yaml")) as Expectation;
  for (const wanted of objects) {
    const live = JSON.parse(await get(wanted, "-o=json")) as KubeObject;
    expect(live).toMatchObject(wanted);
    // toMatchObject would not see a key that is too much.
    expect(live["data"]).toEqual(wanted["data"]);
  }
  for (const gone of absent) expect(await get(gone, "--ignore-not-found", "-o=name")).toBe("");
};

it("takes a bad change back in the five commands of docs/git-revert.md", async () => {
  await follow(prepare);
  await expect(isAsBefore()).rejects.toThrow("to match object");
  const [block = ""] = commandsOf("docs/git-revert.md", "Take a bad change back");
  const commands = block.trim().split("\n");
  expect(commands).toHaveLength(5);
  for (const command of commands) await follow(command, command.includes(" plan ") ? 1 : 0);
  await isAsBefore();
});

it("takes it back again by the commands of the README of the example", async () => {
  const [, journal = "", ...bad] = prepare.trim().split("\n");
  // The journal commits what the Transaction has made, too.
  for (const command of [journal, ...bad]) await follow(command);
  expect(await follow(takeBack)).toContain("Committed");
  await isAsBefore();
});
