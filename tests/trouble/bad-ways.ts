// Ways to an API server on which requests meet trouble.
import { type Client, connect, type Connection } from "@janus/kube";
import { type Answering, proxy, type Proxy, type Trouble } from "../fixtures/proxy.ts";

/** Of requests on a bad way, in ms: silence ends there. */
const DEADLINE = 800;

export interface BadWays {
  readonly inFront: Proxy;
  /** Requests that are sent this way meet that trouble. */
  readonly badWay: (trouble: Trouble) => Client;
  readonly close: () => Promise<void>;
}

/** @param answers what bad ways may say; see `proxy` */
export const badWays = async (
  connection: Connection,
  answers: ReadonlyMap<string, Answering> = new Map(),
): Promise<BadWays> => {
  const inFront = await proxy(connection, answers);
  const ways = new Map<string, Client>();
  const opened = (trouble: Trouble): Client =>
    connect(inFront.way(trouble), { deadline: DEADLINE, writeTimeout: DEADLINE, connections: 256 });
  return {
    inFront,
    badWay: (trouble) => {
      const key = JSON.stringify(trouble);
      const way = ways.get(key) ?? opened(trouble);
      ways.set(key, way);
      return way;
    },
    close: async () => {
      await Promise.all([...ways.values()].map((client) => client.close()));
      inFront.stop();
    },
  };
};
