// A control plane with Blueprints installed, a node that runs Pods, and the log of all requests of the controller.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { actionSets, blueprints } from "@janus/blueprints";
import { installation } from "@janus/deploy";
import { type Api, type Client, connect, type KubeObject, loadConfig, type Resource } from "@janus/kube";
import { keyOf, startReflector } from "@janus/runtime/parts";
import { configMaps, namespaces, pods, serviceAccounts } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { actionOn, actionSet, blueprint } from "../../blueprints/objects.ts";
import { startControlPlane } from "../../control-plane/control-plane.ts";
import { leash } from "../../control-plane/leash.ts";
import { install } from "../../demo/install.ts";
import { compiledProgram, imageEnvironment, nodeFlags } from "../../fixtures/image-program.ts";
import { startNode } from "../../fixtures/node/start-node.ts";
import { type Replica, replica } from "../../fixtures/replica.ts";
import { create, roleBindings } from "../../load/world.ts";

export const NAMESPACE = "bench";
const USER = "system:serviceaccount:janus-system:janus-blueprints";

/** A request that the API server has answered. */
export interface Asked {
  readonly verb: string;
  /** The resource with its subresource, such as `pods/log`. */
  readonly resource: string;
  /** When it arrived, in ms since the epoch. */
  readonly at: number;
}

interface AuditEvent {
  readonly auditID: string;
  readonly verb: string;
  readonly objectRef?: { readonly resource: string; readonly subresource?: string };
  readonly requestReceivedTimestamp: string;
}

const askedOf = ({ verb, objectRef, requestReceivedTimestamp }: AuditEvent): Asked => ({
  verb,
  resource: [objectRef?.resource ?? "none", objectRef?.subresource].filter((part) => part !== undefined).join("/"),
  at: Date.parse(requestReceivedTimestamp),
});

/** The objects of a kind, and when they are seen to be as one waits for them to be. */
export interface Seen {
  readonly when: (name: string, isSo: (object: KubeObject) => boolean) => Promise<KubeObject>;
}

interface Awaited {
  readonly isSo: (object: KubeObject) => boolean;
  readonly resolve: (object: KubeObject) => void;
}

const watched = async (api: Api, resource: Resource, onAdded: (object: KubeObject) => void = () => {}) => {
  const waiting = new Map<string, Awaited>();
  const known = new Set<string>();
  const over = new AbortController();
  const { store, synced } = startReflector(
    api,
    { resource, namespace: NAMESPACE },
    {
      signal: over.signal,
      onEvent: (event) => {
        if (event.type !== "applied") return;
        const key = keyOf(event.object);
        if (!known.has(key)) onAdded(event.object);
        known.add(key);
        const one = waiting.get(key);
        if (one?.isSo(event.object) !== true) return;
        waiting.delete(key);
        one.resolve(event.object);
      },
    },
  );
  await synced;
  const when: Seen["when"] = (name, isSo) => {
    const key = `${NAMESPACE}/${name}`;
    const there = store.get(key);
    if (there !== undefined && isSo(there)) return Promise.resolve(there);
    return new Promise((resolve) => waiting.set(key, { isSo, resolve }));
  };
  return { when, stop: () => over.abort() };
};

export interface Cluster {
  readonly api: Client;
  readonly pods: Seen;
  readonly actionSets: Seen;
  /** Calls this with each Pod that is new. */
  readonly onPod: (listener: (pod: KubeObject) => void) => void;
  /** A Blueprint of one action `do`. */
  readonly recipe: (name: string, phases: readonly object[]) => Promise<void>;
  /** Creates an ActionSet of the recipe of this name. */
  readonly submit: (name: string, recipe: string) => Promise<void>;
  /** A controller that is not started yet, as its image runs it. */
  readonly controller: (name: string) => Promise<Replica>;
  /** What controllers have asked since the beginning. */
  readonly asked: () => Promise<readonly Asked[]>;
  readonly stop: () => Promise<void>;
}

/** Everything that a controller asks is written down when it is answered. */
const AUDIT = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [{ level: "Metadata", users: [USER] }, { level: "None" }],
};

const auditFlags = async (directory: string): Promise<readonly string[]> => {
  await mkdir(directory, { recursive: true });
  await writeFile(path.join(directory, "policy.json"), JSON.stringify(AUDIT));
  return [
    `--audit-policy-file=${path.join(directory, "policy.json")}`,
    `--audit-log-path=${path.join(directory, "audit.log")}`,
  ];
};

/** @param directory a new one for its state */
export const cluster = async (directory: string, log: (line: string) => void): Promise<Cluster> => {
  const audit = path.join(directory, "audit");
  const plane = await startControlPlane({
    log,
    directory: path.join(directory, "plane"),
    apiServerFlags: await auditFlags(audit),
  });
  const home = path.join(directory, "replicas");
  await mkdir(home);
  const held = leash(directory);
  const config = loadConfig({}, plane.kubeconfig);
  if (E.isLeft(config)) throw new Error(config.left);
  const api = connect(config.right, { connections: 64, deadline: 60_000, writeTimeout: 30_000 });
  await install(plane, installation({ blueprints: { defaultServiceAccount: "ops" } }));
  const kubeconfig = await plane.userKubeconfig(USER);
  await create(api, namespaces, "", { metadata: { name: NAMESPACE } });
  await create(api, serviceAccounts, NAMESPACE, { metadata: { name: "ops" } });
  await create(api, roleBindings, NAMESPACE, {
    metadata: { name: "ops" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
    subjects: [{ kind: "ServiceAccount", name: "ops", namespace: NAMESPACE }],
  });
  await create(api, configMaps, NAMESPACE, { metadata: { name: "subject" } });
  const node = await startNode(api);
  const listeners: ((pod: KubeObject) => void)[] = [];
  const podsSeen = await watched(api, pods, (pod) => {
    for (const listener of listeners) listener(pod);
  });
  const actionSetsSeen = await watched(api, actionSets);
  const program = await compiledProgram();
  // Replicas have the environment of this process.
  Object.assign(process.env, imageEnvironment());
  const replicas: Replica[] = [];
  return {
    api,
    pods: podsSeen,
    actionSets: actionSetsSeen,
    onPod: (listener) => void listeners.push(listener),
    recipe: async (name, phases) =>
      void (await create(api, blueprints, NAMESPACE, blueprint(name, { do: { phases } }))),
    submit: async (name, recipe) =>
      void (await create(api, actionSets, NAMESPACE, actionSet(name, actionOn("do", recipe)))),
    controller: async (name) => {
      const flags = ["--blueprints", "--default-service-account=ops", `--kubeconfig=${kubeconfig}`];
      const made = await replica(name, flags, home, held, nodeFlags(), program);
      replicas.push(made);
      return made;
    },
    asked: async () => {
      const lines = (await readFile(path.join(audit, "audit.log"), "utf8")).trim().split("\n");
      const events = lines.map((line) => JSON.parse(line) as AuditEvent);
      // A watch or a log is told of when it begins, and when it ends.
      return [...new Map(events.map((event) => [event.auditID, event])).values()].map(askedOf);
    },
    stop: async () => {
      await Promise.all(replicas.map((one) => one.stop()));
      podsSeen.stop();
      actionSetsSeen.stop();
      await node.stop();
      await api.close();
      await plane.stop();
      await held.end();
    },
  };
};
