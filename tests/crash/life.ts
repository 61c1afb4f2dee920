// One life of the controller of Transactions, until it dies or is ended.
import { controller } from "@janus/controller";
import { jsonLog } from "@janus/runtime/parts";
import { type Api, type Client, connect, type Connection, type Hook } from "@janus/kube";
import { type Asked, type FaultOf, crashingProcess } from "./crashing-process.ts";

/** Short, so that what waits for a write that may still turn up does not wait long. */
const WRITE_TIMEOUT = 1500;
const MARGIN = 100;

/** For all lives. What one has sent arrives, also when it dies then. */
export const connectAll = (connection: Connection): Client =>
  connect(connection, { writeTimeout: WRITE_TIMEOUT, deadline: 5000, connections: 512 });

/** Of one controller. */
export interface Life {
  readonly trace: readonly Asked[];
  readonly crashed: Promise<void>;
  readonly end: () => Promise<void>;
}

export const live = (client: Api, namespace: string, faultOf: FaultOf, extra: readonly Hook[]): Life => {
  const { hook, crashed, trace, discard } = crashingProcess(faultOf);
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
      watchNamespaces: [namespace],
    },
  );
  return {
    trace,
    crashed,
    end: async () => {
      discard();
      await janus.stop();
    },
  };
};
