// The world of the suites of Blueprints: the kinds of Kanister, a namespace with a ServiceAccount, a node that runs Pods, a controller.
import { kanisterCrds, startWork } from "@janus/blueprints";
import { type Api, connect, type Hook, loadConfig, type PodStreams } from "@janus/kube";
import { jsonLog, type Log, watchdog, type Work } from "@janus/runtime/parts";
import * as E from "fp-ts/lib/Either.js";
import { expect, onTestFinished, vi } from "vitest";
import { administrator, type Manifest, resourceOf } from "../fixtures/administrator.ts";
import { controlPlane } from "../fixtures/cluster.ts";
import { roleBinding, serviceAccount, within } from "../fixtures/manifests.ts";
import { freshNamespace } from "../fixtures/namespaces.ts";
import { type RunningNode, startNode } from "../fixtures/node/start-node.ts";
import { API_VERSION, type ActionSetObject, actionSetRef } from "./objects.ts";
import { SETTINGS } from "./settings.ts";

for (const crd of kanisterCrds) await administrator.apply(crd as unknown as Manifest);
const isServed = (kind: string): Promise<boolean> =>
  resourceOf({ apiVersion: API_VERSION, kind }).then(
    () => true,
    () => false,
  );
for (const kind of ["Blueprint", "ActionSet", "Profile"])
  await vi.waitUntil(() => isServed(kind), { timeout: 300_000 });

const config = loadConfig({}, controlPlane.kubeconfig);
if (E.isLeft(config)) throw new Error(config.left);
/** The administrator's. */
export const connection = config.right;
export const client = connect(connection, { writeTimeout: 2000, deadline: 5000 });

/** Starts a controller for the ActionSets of a namespace. */
export const controllerOf = (
  api: Api & PodStreams,
  namespace: string,
  { log = jsonLog("error"), maxRunningActions = 100 }: { readonly log?: Log; readonly maxRunningActions?: number } = {},
): Work =>
  startWork(
    { api, streams: api, log, watchdog: watchdog() },
    { watchNamespaces: [namespace], concurrency: 4, maxRunningActions },
    SETTINGS,
  );

/** A namespace with the ServiceAccount `ops`, who may edit in it, and the object of all actions. */
export const prepared = async (): Promise<string> => {
  const namespace = await freshNamespace();
  await administrator.create(within(namespace, serviceAccount("ops")));
  await administrator.create(within(namespace, roleBinding("ops", "ClusterRole", "admin", `${namespace}/ops`)));
  await administrator.create(
    within(namespace, {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "subject" },
      data: { greeting: "hello" },
    }),
  );
  return namespace;
};

export const nodeFor = (namespace: string): Promise<RunningNode> => startNode(client, { namespace });

export const isOver = ({ status, metadata }: ActionSetObject): boolean =>
  ["complete", "failed"].includes(status?.state) && (metadata.finalizers ?? []).length === 0;

export interface BlueprintPlace {
  readonly namespace: string;
  readonly create: (...manifests: readonly Manifest[]) => Promise<void>;
  /** The ActionSet in its end. */
  readonly over: (name: string) => Promise<ActionSetObject>;
  readonly read: (name: string) => Promise<ActionSetObject>;
  readonly names: (apiVersion: string, kind: string) => Promise<readonly string[]>;
}

/** A namespace with a node and a controller. */
export const place = async (...hooks: readonly Hook[]): Promise<BlueprintPlace> => {
  const namespace = await prepared();
  const node = await nodeFor(namespace);
  onTestFinished(node.stop);
  const send: Api["send"] = hooks.reduceRight<Api["send"]>(
    (next, hook) => (request) => hook(request, next),
    client.send,
  );
  const running = controllerOf({ ...client, send }, namespace);
  onTestFinished(running.stop);
  const read = async (name: string): Promise<ActionSetObject> => {
    const found = await administrator.read(within(namespace, actionSetRef(name)));
    if (found === undefined) throw new Error(`there is no ActionSet ${name}`);
    return found as ActionSetObject;
  };
  return {
    namespace,
    create: async (...manifests) => {
      for (const manifest of manifests) await administrator.create(within(namespace, manifest));
    },
    read,
    over: async (name) => {
      let seen = await read(name);
      const ended = async (): Promise<boolean> => {
        seen = await read(name);
        return isOver(seen);
      };
      await expect.poll(ended, { message: `ActionSet ${name} comes to its end` }).toBe(true);
      return seen;
    },
    names: async (apiVersion, kind) =>
      (await administrator.list({ apiVersion, kind }, namespace)).map(({ metadata }) => metadata.name ?? ""),
  };
};
