import type { TestProject } from "vitest/node";
import { startControlPlane } from "./control-plane.ts";
import { findRunning } from "./running.ts";
import { type Facts, readFacts } from "./state.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly controlPlane: Facts;
    /** Whether it runs on after the tests. */
    readonly isKept: boolean;
  }
}

/** Gives all test files of a run one control plane: the one that is kept running, else one of its own. */
const setup = async (project: TestProject): Promise<(() => Promise<void>) | undefined> => {
  const running = await findRunning();
  project.provide("isKept", running !== undefined);
  if (running !== undefined) {
    console.log(`Using the control plane that is kept running (${running.directory})`);
    project.provide("controlPlane", running);
    return undefined;
  }
  const { directory, stop } = await startControlPlane({ log: console.log });
  project.provide("controlPlane", await readFacts(directory));
  return stop;
};

export default setup;
