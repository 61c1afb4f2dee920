import type { TestProject } from "vitest/node";
import { startControlPlane } from "./control-plane.ts";
import { findRunning } from "./running.ts";
import type { Facts } from "./state.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly controlPlane: Facts;
  }
}

/** Gives all test files of a run one control plane: the one that is kept running, else one of its own. */
const setup = async (project: TestProject): Promise<(() => Promise<void>) | undefined> => {
  const running = await findRunning();
  if (running !== undefined) {
    project.provide("controlPlane", running);
    return undefined;
  }
  const { log } = console;
  const { pause: _p, resume: _r, restart: _s, userKubeconfig: _u, stop, ...facts } = await startControlPlane({ log });
  project.provide("controlPlane", facts);
  return stop;
};

export default setup;
