// What the command line, as it is published, says in a Node that is too old for it.
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { root } from "../docs/page.ts";

const node = (args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> =>
  promisify(execFile)(process.execPath, args, { cwd: fileURLToPath(root) });

/** Makes this Node an old one: nothing that the program imports of it is there, but for createRequire, which Node 12 had. */
const AGED = `
import { isBuiltin, registerHooks } from "node:module";
Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });
registerHooks({
  resolve: (name, context, next) =>
    isBuiltin(name) && !name.endsWith("module") ? { url: "data:text/javascript,export default {}", shortCircuit: true } : next(name, context),
});
`;

let directory: string;
let program: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), "janus-old-node-"));
  program = path.join(directory, "kubectl-janus.mjs");
  await writeFile(path.join(directory, "aged.mjs"), AGED);
  await node(["--conditions=source", "scripts/pack/write-program.ts", program]);
});
afterAll(() => rm(directory, { recursive: true }));

it("says which Node it needs, and ends with 1, whatever else is missing there", async () => {
  const aged = node(["--import", path.join(directory, "aged.mjs"), program, "version", "--client"]);
  const { engines } = JSON.parse(await readFile(new URL("packages/cli/package.json", root), "utf8")) as {
    readonly engines: { readonly node: string };
  };
  const needed = engines.node.replace(/^>=/u, "");
  await expect(aged).rejects.toMatchObject({
    code: 1,
    stdout: "",
    stderr:
      `error: kubectl janus needs Node ${needed} or newer, and this is 20.20.2 (${process.execPath}): ` +
      "install a newer one, or put its directory first in $PATH\n",
  });
});

it("runs in this one", async () => {
  expect(await node([program, "version", "--client"])).toEqual({ stdout: "client: 0.1.0\n", stderr: "" });
});
