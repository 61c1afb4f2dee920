import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { startControlPlane } from "./control-plane.ts";
import { findRunning } from "./running.ts";
import { type Facts, readFacts } from "./state.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly controlPlane: Facts;
    /** Every namespace that this test run makes begins with it. */
    readonly namespacePrefix: string;
  }
}

/** Not waited for: the control plane runs on. */
const deleteNamespaces = async ({ binaries, kubeconfig }: Facts, prefix: string): Promise<void> => {
  const kubectl = (...args: readonly string[]) =>
    promisify(execFile)(binaries.kubectl, ["--kubeconfig", kubeconfig, ...args], { maxBuffer: 1 << 24 });
  const { stdout } = await kubectl("get", "namespaces", "-o", "name");
  const ours = stdout.split("\n").filter((name) => name.startsWith(`namespace/${prefix}`));
  if (ours.length > 0) await kubectl("delete", "--wait=false", ...ours);
};

/**
 * Gives all test files of a run one control plane: the one that is kept running, else one of its own. Each project is set
 * up by itself, one after the other; what the first one has started, the root project passes on to the others.
 */
const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const root = project.vitest.getRootProject();
  if (root.getProvidedContext().controlPlane !== undefined) return async () => {};
  const prefix = `t-${randomBytes(3).toString("hex")}`;
  root.provide("namespacePrefix", prefix);
  const running = await findRunning();
  if (running !== undefined) {
    console.log(`Using the control plane that is kept running (${running.directory})`);
    root.provide("controlPlane", running);
    return () => deleteNamespaces(running, prefix);
  }
  // Its namespaces end with it: to delete them one by one, each of all kinds, was two thirds of all that the API server did.
  const { directory, stop } = await startControlPlane({ log: console.log });
  root.provide("controlPlane", await readFacts(directory));
  return stop;
};

export default setup;
