import { setTimeout } from "node:timers/promises";
import { type Api, connect, type KubeObject, loadConfig, type Resource } from "@janus/kube";
import { leases, pods } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import { onTestFinished } from "vitest";
import { type ControllerProcess, controllerProcess } from "../fixtures/controller-process.ts";
import type { OwnCluster } from "./own-cluster.ts";

const nodes: Resource = { ...pods, plural: "nodes", kind: "Node", namespaced: false };
const namespace = "janus-system";

interface Pod extends KubeObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly serviceAccountName: string;
    readonly containers: readonly { readonly args?: readonly string[] }[];
  };
}
interface Node extends KubeObject {
  readonly spec: { readonly unschedulable?: boolean };
}

/** The process of a Pod. */
interface Container {
  readonly process: ControllerProcess;
  readonly ip: string;
  /** What the API server knows. */
  told: string;
  /** How often in a row it was not ready. */
  failures: number;
  isEnding: boolean;
}

/** As many times in a row a kubelet asks before it believes it, by default: who has just taken over lists all Transactions first. */
const FAILURE_THRESHOLD = 3;

/** As `/readyz` says. */
const isReady = ({ process }: Container): Promise<boolean> =>
  fetch(`${process.url() ?? ""}/readyz`, { signal: AbortSignal.timeout(1000) }).then(
    ({ ok }) => ok,
    () => false,
  );

const list = async <A extends KubeObject>(api: Api, resource: Resource): Promise<readonly A[]> => {
  const place = resource.namespaced ? { namespace } : {};
  const answer = await api.send({ verb: "list", resource, ...place });
  return E.isRight(answer) ? (answer.right["items"] as readonly A[]) : [];
};

const applied = { verb: "apply", fieldManager: "kubelet", force: true } as const;

/** The Node is there and works; nobody doubts it for as long as this is said again and again. */
const report = async (api: Api, name: string): Promise<void> => {
  const now = new Date().toISOString();
  const node = { apiVersion: "v1", kind: "Node", metadata: { name } };
  await api.send({ ...applied, resource: nodes, name, body: node });
  const conditions = [{ type: "Ready", status: "True", reason: "StandIn", lastHeartbeatTime: now }];
  const body = { ...node, status: { conditions } };
  await api.send({ ...applied, resource: nodes, name, subresource: "status", body });
  const home = { namespace: "kube-node-lease", name };
  const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: now.replace("Z", "000Z") };
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: home, spec };
  await api.send({ ...applied, resource: leases, ...home, body: lease });
};

/** To the Node with fewest Pods, of those that are not cordoned. */
const bind = async (api: Api, name: string): Promise<void> => {
  const all = await list<Pod>(api, pods);
  const load = (node: Node): number => all.filter(({ spec }) => spec.nodeName === node.metadata.name).length;
  const [node] = (await list<Node>(api, nodes))
    .filter(({ spec }) => spec.unschedulable !== true)
    .toSorted((a, b) => load(a) - load(b));
  const target = { apiVersion: "v1", kind: "Node", name: node?.metadata.name };
  const body = { apiVersion: "v1", kind: "Binding", metadata: { name }, target };
  await api.send({ verb: "create", resource: pods, namespace, name, subresource: "binding", body });
};

/** What else the containers are given than their Pods say: what only a Pod has of its own. */
interface Containers {
  /** Default: the controller of Transactions. */
  readonly program?: string;
  readonly flagsOf?: (pod: string) => readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Two Nodes, until the test has ended, with what a scheduler and kubelets do there for the controller's Pods: each runs its controller,
 * with the flags of the Pod; the API server hears whether that is ready; when the Pod is deleted, the controller is told to end, and the
 * Pod is gone when it has. Addresses are there to look at only.
 */
export const runNodes = async (
  cluster: Pick<OwnCluster, "kubeconfig" | "userKubeconfig" | "kubectl">,
  { program, flagsOf = () => [], env = {} }: Containers = {},
): Promise<void> => {
  const config = loadConfig({}, cluster.kubeconfig);
  if (E.isLeft(config)) throw new Error(config.left);
  const api = connect(config.right);
  const running = new Map<string, Container>();

  const start = async (name: string, { spec }: Pod): Promise<Container> => {
    const kubeconfig = await cluster.userKubeconfig(`system:serviceaccount:${namespace}:${spec.serviceAccountName}`);
    const flags = [
      ...(spec.containers[0]?.args ?? []),
      `--kubeconfig=${kubeconfig}`,
      "--http-port=0",
      ...flagsOf(name),
    ];
    const process = controllerProcess(flags, { ...env, POD_NAME: name, POD_NAMESPACE: namespace }, program);
    return { process, ip: `10.0.0.${running.size + 1}`, told: "", failures: 0, isEnding: false };
  };

  const tell = async (name: string, container: Container): Promise<void> => {
    const ready = await isReady(container);
    container.failures = ready ? 0 : container.failures + 1;
    const doubted = container.told === "True" && container.failures < FAILURE_THRESHOLD;
    const status = ready || doubted ? "True" : "False";
    if (status === container.told) return;
    const at = new Date().toISOString();
    const conditions = ["Ready", "ContainersReady"].map((type) => ({ type, status, lastTransitionTime: at }));
    const { ip } = container;
    const body = { status: { phase: "Running", podIP: ip, podIPs: [{ ip }], conditions } };
    const answer = await api.send({ verb: "mergePatch", resource: pods, namespace, name, subresource: "status", body });
    if (E.isRight(answer)) container.told = status;
  };

  const look = async (pod: Pod): Promise<void> => {
    const { name = "", deletionTimestamp } = pod.metadata;
    if (pod.spec.nodeName === undefined) return bind(api, name);
    const container = running.get(name) ?? (await start(name, pod));
    running.set(name, container);
    if (deletionTimestamp !== undefined && !container.isEnding) {
      container.isEnding = true;
      container.process.kill("SIGTERM");
      const remove = `delete pod ${name} -n ${namespace} --grace-period=0 --force --wait=false`;
      void container.process.ended.then(() => cluster.kubectl("admin", remove));
    }
    return tell(name, container);
  };

  const over = new AbortController();
  const goOn = async (): Promise<void> => {
    for (let round = 0; !over.signal.aborted; round += 1) {
      if (round % 50 === 0) for (const name of ["node-a", "node-b"]) await report(api, name);
      for (const pod of await list<Pod>(api, pods)) await look(pod);
      await setTimeout(100);
    }
  };
  const gone = goOn();
  onTestFinished(async () => {
    over.abort();
    await gone;
    await api.close();
  });
};
