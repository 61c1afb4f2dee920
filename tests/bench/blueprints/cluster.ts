// A control plane with Blueprints installed, a node that runs Pods, and the log of all requests of the controller.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { actionSets, blueprints } from "@janus/blueprints";
import { installation } from "@janus/deploy";
import { type Client, connect, type KubeObject, loadConfig } from "@janus/kube";
import { configMaps, namespaces, pods, serviceAccounts } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { actionOn, actionSet, blueprint } from "../../blueprints/objects.ts";
import { startControlPlane } from "../../control-plane/control-plane.ts";
import { install } from "../../demo/install.ts";
import { startNode } from "../../fixtures/node/start-node.ts";
import type { Replica } from "../../fixtures/replica.ts";
import { create, roleBindings } from "../../load/world.ts";
import { imageReplicas } from "../image-replicas.ts";
import { type Seen, watched } from "../watched.ts";

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
  const podsSeen = await watched(api, pods, NAMESPACE, (pod) => {
    for (const listener of listeners) listener(pod);
  });
  const actionSetsSeen = await watched(api, actionSets, NAMESPACE);
  const replicas = await imageReplicas(directory);
  return {
    api,
    pods: podsSeen,
    actionSets: actionSetsSeen,
    onPod: (listener) => void listeners.push(listener),
    recipe: async (name, phases) =>
      void (await create(api, blueprints, NAMESPACE, blueprint(name, { do: { phases } }))),
    submit: async (name, recipe) =>
      void (await create(api, actionSets, NAMESPACE, actionSet(name, actionOn("do", recipe)))),
    controller: (name) =>
      replicas.create(name, ["--blueprints", "--default-service-account=ops", `--kubeconfig=${kubeconfig}`]),
    asked: async () => {
      const lines = (await readFile(path.join(audit, "audit.log"), "utf8")).trim().split("\n");
      const events = lines.map((line) => JSON.parse(line) as AuditEvent);
      // A watch or a log is told of when it begins, and when it ends.
      return [...new Map(events.map((event) => [event.auditID, event])).values()].map(askedOf);
    },
    stop: async () => {
      await replicas.stop();
      podsSeen.stop();
      actionSetsSeen.stop();
      await node.stop();
      await api.close();
      await plane.stop();
      await replicas.end();
    },
  };
};
