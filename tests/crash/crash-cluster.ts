// A control plane for one file of crashes, with the kinds that its scenarios have.
import { type Api, connect, discovery, loadConfig, type Resource } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { afterAll, beforeAll } from "vitest";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { newEnvironment, type Environment } from "./run-scenario.ts";
import { installMutation } from "./mutation.ts";
import { installRefusal } from "./refusal.ts";
import { installTransactions } from "./transactions.ts";
import { KINDS } from "./world.ts";

/**
 * A control plane of this file's own: hundreds of namespaces would keep the controllers of the shared one busy.
 * @param kinds further kinds whose objects are compared
 * @param install installs them
 */
export const crashCluster = (
  kinds: readonly Resource[] = [],
  install: (api: Api) => Promise<void> = async () => {},
): (() => Environment) => {
  let controlPlane: ControlPlane | undefined;
  let environment: Environment | undefined;
  beforeAll(async () => {
    controlPlane = await startControlPlane();
    const config = loadConfig({}, controlPlane.kubeconfig);
    if (E.isLeft(config)) throw new Error(config.left);
    const api = connect(config.right, { connections: 512 });
    await installTransactions(api);
    await installRefusal(api);
    await installMutation(api);
    await install(api);
    environment = newEnvironment(config.right, api, discovery(api), [...KINDS, ...kinds]);
  });
  afterAll(async () => {
    environment?.seen.end();
    await controlPlane?.stop();
  });
  return () => {
    if (environment === undefined) throw new Error("the control plane has not started yet");
    return environment;
  };
};
