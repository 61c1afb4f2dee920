import { randomBytes } from "node:crypto";
import { type JsonObject } from "@janus/api";
import { controller, jsonLog } from "@janus/controller";
import { type Api, connect, type Connection, type Discovery, type Hook, type KubeObject } from "@janus/kube";
import { type Death, mortal } from "./mortal.ts";
import type { Scenario } from "./scenario.ts";
import { look, must, transactions, type World } from "./world.ts";

/** Short, so that what waits for a write that may still turn up does not wait long. */
const WRITE_TIMEOUT = 1500;
const MARGIN = 100;

export interface Play {
  readonly before: World;
  readonly after: World;
  readonly transaction: KubeObject;
  /** Requests of each life. */
  readonly traces: readonly (readonly string[])[];
}

interface Life {
  readonly trace: readonly string[];
  readonly died: Promise<void>;
  readonly end: () => Promise<void>;
}

const live = (connection: Connection, namespace: string, death: Death | undefined, extra: readonly Hook[]): Life => {
  const { hook, died, trace } = mortal(death);
  const client = connect(connection, { hooks: [hook, ...extra], writeTimeout: WRITE_TIMEOUT, deadline: 5000 });
  const janus = controller(client, {
    settings: {
      controllerNamespace: "janus-system",
      writeTimeout: WRITE_TIMEOUT,
      margin: MARGIN,
      recoveryDelay: 60_000,
    },
    concurrency: 4,
    identity: "test",
    log: jsonLog("error"),
    watchNamespace: namespace,
  });
  return {
    trace,
    died,
    // A dead one has requests that are never answered: its connections are cut, nobody waits for it.
    end: async () => {
      void janus.stop();
      await client.close();
    },
  };
};

const create = async (api: Api, find: Discovery, namespace: string, object: JsonObject): Promise<KubeObject> => {
  const { apiVersion, kind } = object as { readonly apiVersion: string; readonly kind: string };
  const resource = must(await find.resource(apiVersion, kind));
  const metadata = { ...(object["metadata"] as JsonObject), namespace };
  return must(
    await api.send({ verb: "create", resource, namespace, body: { ...object, metadata }, fieldManager: "setup" }),
  );
};

/** `uid of <Kind>/<name>` becomes the uid of an object that was created before. */
const withUids = (object: JsonObject, uids: ReadonlyMap<string, string>): JsonObject =>
  JSON.parse(
    JSON.stringify(object).replaceAll(/uid of (\w+\/\w+)/g, (_, key: string) => uids.get(key) ?? "unknown"),
  ) as JsonObject;

const isOver = (transaction: KubeObject): boolean => {
  const { phase } = (transaction["status"] ?? {}) as { phase?: string };
  const over = phase === "Committed" || phase === "RolledBack" || phase === "Failed";
  return over && (transaction.metadata.finalizers ?? []).length === 0;
};

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until the Transaction is over; gives up after a minute, with what it is at. */
const over = async (api: Api, namespace: string, given: Promise<void>): Promise<KubeObject | "died"> => {
  const until = Date.now() + 30_000;
  let died = false;
  void given.then(() => (died = true));
  for (;;) {
    if (died) return "died";
    const transaction = must(await api.send({ verb: "get", resource: transactions, namespace, name: "txn" }));
    if (isOver(transaction)) return transaction;
    if (Date.now() > until) throw new Error(`not over after half a minute: ${JSON.stringify(transaction["status"])}`);
    await sleep(20);
  }
};

/** Whatever comes of it, the life is over then. */
const whileIt = async <A>({ end }: Life, run: () => Promise<A>): Promise<A> => {
  try {
    return await run();
  } finally {
    await end();
  }
};

export interface Casting {
  readonly connection: Connection;
  /** The administrator's. */
  readonly api: Api;
  readonly find: Discovery;
}

/**
 * Plays a scenario in a namespace of its own. Each controller dies its death, in turn; then another one takes over, at once
 * or after `pause` ms; the last one lives.
 */
export const play = async (
  { connection, api, find }: Casting,
  scenario: Scenario,
  deaths: readonly Death[],
  pause = 0,
  extra: readonly Hook[] = [],
): Promise<Play> => {
  const namespace = `crash-${randomBytes(5).toString("hex")}`;
  const namespaces = must(await find.resource("v1", "Namespace"));
  must(
    await api.send({
      verb: "create",
      resource: namespaces,
      body: { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    }),
  );
  await create(api, find, namespace, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "deploy" } });
  await create(api, find, namespace, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "deploy" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
    subjects: [{ kind: "ServiceAccount", name: "deploy", namespace }],
  });
  const uids = new Map<string, string>();
  for (const object of scenario.before) {
    const { kind, metadata } = await create(api, find, namespace, withUids(object, uids));
    uids.set(`${kind}/${metadata.name}`, metadata.uid ?? "");
  }
  const before = await look(api, namespace);
  await create(api, find, namespace, {
    apiVersion: "backup.janus.io/v1alpha1",
    kind: "Transaction",
    metadata: { name: "txn" },
    spec: scenario.spec,
  });
  const traces: (readonly string[])[] = [];
  for (const death of [...deaths, undefined]) {
    const life = live(connection, namespace, death, extra);
    const end = await whileIt(life, () => over(api, namespace, life.died));
    traces.push(life.trace);
    if (end !== "died") {
      const after = await look(api, namespace);
      return { before, after, transaction: end, traces };
    }
    await sleep(pause);
  }
  throw new Error("the last one lives");
};
