import { type Client, connect, type Connection, discovery, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { newEnvironment, type Environment } from "../crash/run-scenario.ts";
import { installRefusal } from "../crash/refusal.ts";
import { installTransactions } from "../crash/transactions.ts";
import { type Answering, proxy, type Proxy, type Trouble } from "../fixtures/proxy.ts";

/** Of requests on a bad way, in ms: silence ends there. */
const DEADLINE = 800;

/** A control plane of its own, where hundreds of runs are nobody else's trouble, and bad ways to it. */
export interface TestBed {
  readonly controlPlane: ControlPlane;
  /** The administrator's. */
  readonly connection: Connection;
  readonly environment: Environment;
  readonly inFront: Proxy;
  /** Requests that are sent this way meet that trouble. */
  readonly badWay: (trouble: Trouble) => Client;
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
  const inFront = await proxy(connection, answers);
  const ways = new Map<string, Client>();
  const opened = (trouble: Trouble): Client =>
    connect(inFront.way(trouble), { deadline: DEADLINE, writeTimeout: DEADLINE, connections: 256 });
  return {
    controlPlane,
    connection,
    environment,
    inFront,
    badWay: (trouble) => {
      const key = JSON.stringify(trouble);
      const way = ways.get(key) ?? opened(trouble);
      ways.set(key, way);
      return way;
    },
    clear: async () => {
      environment.seen.end();
      await Promise.all([api, environment.theirs, ...ways.values()].map((client) => client.close()));
      inFront.stop();
      await controlPlane.stop();
    },
  };
};
