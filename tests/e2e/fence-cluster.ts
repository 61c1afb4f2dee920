import { mkdir, mkdtemp } from "node:fs/promises";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { installation, type Manifest } from "@janus/deploy";
import type { KubeObject } from "@janus/kube";
import { expect } from "vitest";
import { component } from "../control-plane/component.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { freePorts } from "../control-plane/free-ports.ts";
import { leash } from "../control-plane/leash.ts";
import { kubectlWith } from "../fixtures/cluster.ts";
import { TIMING_FLAGS } from "../fixtures/leader-timing.ts";

const NAMESPACE = "janus-system";

export interface LeaderStatus {
  readonly leader: boolean;
  readonly identity: string;
  readonly leader_identity: string;
  readonly term: number;
  readonly fence: string;
}

/** A controller as a process of its own. */
export interface Replica {
  readonly status: () => Promise<LeaderStatus | undefined>;
  readonly get: (path: string) => Promise<{ readonly status: number; readonly text: string }>;
  readonly signal: (signal: NodeJS.Signals) => void;
  readonly isRunning: () => boolean;
  /** SIGKILL; resolves when it is gone. */
  readonly kill: () => Promise<void>;
}

/** A control plane with everything installed but the Deployment, and what is left out. */
export interface FenceCluster {
  /** Of the controller's ServiceAccount. */
  readonly kubeconfig: string;
  readonly kubectl: (...args: readonly string[]) => Promise<string>;
  readonly apply: (...objects: readonly object[]) => Promise<void>;
  readonly read: (kind: string, name: string) => Promise<KubeObject>;
  /** Installs what was left out. */
  readonly complete: () => Promise<void>;
  /** Deletes the fence, and installs it again. */
  readonly replaceFence: () => Promise<void>;
  readonly restartApiServer: () => Promise<void>;
  /** Starts a controller process; it is ready when this resolves. */
  readonly replica: (name: string) => Promise<Replica>;
  readonly end: () => Promise<void>;
}

const main = path.resolve(import.meta.dirname, "../../packages/controller/src/shell/main.ts");
const deployer = [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "deployer" } },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "deployer" },
    rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "create", "update", "patch", "delete"] }],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "deployer" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "deployer" },
    subjects: [{ kind: "ServiceAccount", name: "deployer", namespace: "default" }],
  },
];

/**
 * On a control plane of its own: the policy is bound to one Lease, and only once (docs/internals.md, "Measured facts of the
 * API server").
 */
export const fenceCluster = async (isLeftOut: (manifest: Manifest) => boolean): Promise<FenceCluster> => {
  const cluster: ControlPlane = await startControlPlane();
  const home = await mkdtemp(path.join(cluster.directory, "replicas-"));
  const held = leash(path.join(home, "leash"));

  const run = async (stdin: string, ...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await kubectlWith({ kubeconfig: cluster.kubeconfig, stdin }, ...args);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  const apply = async (...objects: readonly object[]): Promise<void> => {
    const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    await run(list, "apply", "--server-side", "-n", "default", "-f", "-");
  };

  const manifests = installation().filter(({ kind }) => kind !== "Deployment");
  const install = async (which: (manifest: Manifest) => boolean): Promise<void> => {
    for (const manifest of manifests.filter(which))
      await run(JSON.stringify(manifest), "apply", "--server-side", "-f", "-");
  };
  await install((one) => !isLeftOut(one));
  await run("", "wait", "--for=condition=Established", "--timeout=300s", "crd/transactions.backup.janus.io");
  await apply(...deployer);
  const kubeconfig = await cluster.userKubeconfig(`system:serviceaccount:${NAMESPACE}:janus-controller`);

  const replica = async (name: string): Promise<Replica> => {
    const [port = 0] = await freePorts(1);
    const directory = path.join(home, name);
    await mkdir(directory);
    const get: Replica["get"] = async (path) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(5000) });
      return { status: answer.status, text: await answer.text() };
    };
    const process = component(
      {
        name,
        file: globalThis.process.execPath,
        args: ["--conditions=source", main, `--kubeconfig=${kubeconfig}`, `--http-port=${port}`, ...TIMING_FLAGS],
        directory,
        isReady: () =>
          get("/readyz").then(
            ({ status }) => status === 200,
            () => false,
          ),
      },
      held,
      () => {},
    );
    await process.start();
    return {
      get,
      status: () =>
        get("/status").then(
          ({ text }) => JSON.parse(text) as LeaderStatus,
          () => undefined,
        ),
      signal: (signal) => {
        const pid = process.pid();
        if (pid === undefined) throw new Error(`${name} is not running`);
        globalThis.process.kill(pid, signal);
      },
      isRunning: () => process.pid() !== undefined,
      kill: process.kill,
    };
  };

  return {
    kubeconfig,
    apply,
    replica,
    kubectl: (...args) => run("", ...args),
    read: async (kind, name) =>
      JSON.parse(await run("", "get", kind, name, "-n", "default", "-o", "json")) as KubeObject,
    complete: () => install(isLeftOut),
    replaceFence: async () => {
      await run("", "delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", "janus-fence");
      await setTimeout(3000); // till the API server has noticed
      await install(({ metadata }) => metadata.name === "janus-fence");
    },
    restartApiServer: () => cluster.restart("kube-apiserver"),
    end: async () => {
      await held.end();
      await cluster.stop();
    },
  };
};

/** Which of them leads, as soon as one does. */
export const leaderOf = async (replicas: readonly Replica[]): Promise<Replica> => {
  let found: Replica | undefined;
  const find = async (): Promise<boolean> => {
    const statuses = await Promise.all(replicas.map(async (one) => [one, await one.status()] as const));
    found = statuses.find(([, status]) => status?.leader === true)?.[0];
    return found !== undefined;
  };
  await expect.poll(find).toBe(true);
  if (found === undefined) throw new Error("no leader");
  return found;
};
