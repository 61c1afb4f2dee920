import { controller, jsonLog } from "@janus/controller";
import { type Api, type Client, connect, type Connection, type Hook } from "@janus/kube";
import { type Asked, type Fate, mortal } from "./mortal.ts";

/** Short, so that what waits for a write that may still turn up does not wait long. */
const WRITE_TIMEOUT = 1500;
const MARGIN = 100;

/** For all lives. What one has sent arrives, also when it dies then. */
export const connectAll = (connection: Connection): Client =>
  connect(connection, { writeTimeout: WRITE_TIMEOUT, deadline: 5000, connections: 512 });

/** Of one controller. */
export interface Life {
  readonly trace: readonly Asked[];
  readonly died: Promise<void>;
  readonly end: () => Promise<void>;
}

export const live = (client: Api, namespace: string, fate: Fate, extra: readonly Hook[]): Life => {
  const { hook, died, trace, bury } = mortal(fate);
  const send = [hook, ...extra].reduceRight<Api["send"]>(
    (next, around) => (request) => around(request, next),
    client.send,
  );
  const janus = controller(
    { ...client, send },
    {
      settings: {
        controllerNamespace: "janus-system",
        writeTimeout: WRITE_TIMEOUT,
        margin: MARGIN,
        recoveryDelay: 3_600_000,
      },
      concurrency: 4,
      identity: "test",
      log: jsonLog("error"),
      watchNamespace: namespace,
    },
  );
  return {
    trace,
    died,
    end: async () => {
      bury();
      await janus.stop();
    },
  };
};
