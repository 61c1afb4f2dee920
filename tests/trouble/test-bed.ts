// A control plane for the suites of trouble, with Transactions, and bad ways to it.
import { connect, type Connection, discovery, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { newEnvironment, type Environment } from "../crash/run-scenario.ts";
import { installRefusal } from "../crash/refusal.ts";
import { installTransactions } from "../crash/transactions.ts";
import type { Answering } from "../fixtures/proxy.ts";
import { type BadWays, badWays } from "./bad-ways.ts";

/** A control plane of its own, where hundreds of runs are nobody else's trouble, and bad ways to it. */
export interface TestBed extends Pick<BadWays, "badWay" | "inFront"> {
  readonly controlPlane: ControlPlane;
  /** The administrator's. */
  readonly connection: Connection;
  readonly environment: Environment;
  readonly clear: () => Promise<void>;
}

/**
 * @param apiServerFlags more of them; see `startControlPlane`
 * @param answers what bad ways may say; see `proxy`
 */
export const newTestBed = async (
  apiServerFlags: readonly string[] = [],
  answers: ReadonlyMap<string, Answering> = new Map(),
): Promise<TestBed> => {
  const controlPlane = await startControlPlane({ apiServerFlags });
  const config = loadConfig({}, controlPlane.kubeconfig);
  if (E.isLeft(config)) throw new Error(config.left);
  const connection = config.right;
  const api = connect(connection, { connections: 512 });
  await installTransactions(api);
  await installRefusal(api);
  const environment = newEnvironment(connection, api, discovery(api));
  const { inFront, badWay, close } = await badWays(connection, answers);
  return {
    controlPlane,
    connection,
    environment,
    inFront,
    badWay,
    clear: async () => {
      environment.seen.end();
      await Promise.all([api.close(), environment.theirs.close(), close()]);
      await controlPlane.stop();
    },
  };
};
