import { mkdir, mkdtemp } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { findBinaries } from "./binaries/find.ts";
import { createAuthority, issue } from "./certificates.ts";
import { type Component, component } from "./component.ts";
import { freePorts } from "./free-ports.ts";
import { type Leash, leash } from "./leash.ts";
import { answers } from "./probe.ts";
import type { Log } from "./progress.ts";
import { type Facts, userKubeconfig, writeFacts, writePair } from "./state.ts";

export type ComponentName = "etcd" | "kube-apiserver" | "kube-controller-manager";

/** A real control plane on loopback: etcd, kube-apiserver and kube-controller-manager, without any node. */
export interface ControlPlane extends Facts {
  /** Path of a kubeconfig with a client certificate for this user. */
  readonly userKubeconfig: (name: string, groups?: readonly string[]) => Promise<string>;
  /** Undefined while it does not run. */
  readonly pid: (name: ComponentName) => number | undefined;
  /** Stops it in its tracks: connections stay open and nothing answers. */
  readonly pause: (name: ComponentName) => Promise<void>;
  readonly resume: (name: ComponentName) => void;
  /**
   * Ends it, starts it again on the same state, and resolves when it is ready.
   * @param signal SIGTERM lets it end in its own way. @default SIGKILL
   */
  readonly restart: (name: ComponentName, signal?: "SIGTERM" | "SIGKILL") => Promise<void>;
  /** Kills all of it and deletes its state. */
  readonly stop: () => Promise<void>;
}

interface Options {
  /** @default nothing is said */
  readonly log?: Log;
  /** Where its state lives; is deleted in the end. @default a new one in the system's temporary directory */
  readonly directory?: string;
  /** More flags of kube-apiserver. @default none */
  readonly apiServerFlags?: readonly string[];
}

const serviceNetwork = "10.96.0.0/16";
const firstServiceAddress = "10.96.0.1";

const writeCertificates = async (directory: string) => {
  const authority = await createAuthority();
  const hosts = ["localhost", "127.0.0.1", firstServiceAddress, "kubernetes", "kubernetes.default.svc"];
  const [ca, serving, serviceAccounts] = await Promise.all([
    writePair(directory, "ca", authority),
    issue(authority, { name: "kube-apiserver", hosts }).then((pair) => writePair(directory, "serving", pair)),
    issue(authority, { name: "service-accounts" }).then((pair) => writePair(directory, "service-accounts", pair)),
  ]);
  return { ca, serving, serviceAccounts, authority };
};

const boot = async (directory: string, held: Leash, log: Log, apiServerFlags: readonly string[]) => {
  const [binaries, certificates, ports] = await Promise.all([
    findBinaries(process.env, log),
    mkdir(directory, { recursive: true }).then(() => writeCertificates(directory)),
    freePorts(3),
  ]);
  const [etcdPort, peerPort, port] = ports;
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  const url = `https://127.0.0.1:${port}`;
  const { ca, serving, serviceAccounts, authority } = certificates;
  const [kubeconfig, controllersKubeconfig] = await Promise.all([
    userKubeconfig({ directory, url }, "admin", ["system:masters"]),
    userKubeconfig({ directory, url }, "system:kube-controller-manager"),
  ]);
  const facts: Facts = { directory, url, ca: authority.certificate, kubeconfig, binaries };

  const run = (name: ComponentName, isReady: () => Promise<boolean>, args: readonly string[]): Component =>
    component({ name, file: binaries[name], args, directory, isReady }, held, log);

  const components = {
    etcd: run(
      "etcd",
      () =>
        fetch(`${etcdUrl}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
          (response) => response.ok,
          () => false,
        ),
      [
        `--data-dir=${path.join(directory, "etcd")}`,
        `--listen-client-urls=${etcdUrl}`,
        // Tests of memory store more than the 2 GiB that there are by default, with all versions.
        `--quota-backend-bytes=${8 * 2 ** 30}`,
        `--advertise-client-urls=${etcdUrl}`,
        `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
        "--unsafe-no-fsync", // its data is thrown away anyway
        "--log-level=warn",
      ],
    ),
    "kube-apiserver": run("kube-apiserver", () => answers(facts, "/readyz"), [
      `--etcd-servers=${etcdUrl}`,
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      "--advertise-address=127.0.0.1",
      "--endpoint-reconciler-type=none", // refuses loopback
      `--service-cluster-ip-range=${serviceNetwork}`,
      `--client-ca-file=${ca.certificate}`,
      `--tls-cert-file=${serving.certificate}`,
      `--tls-private-key-file=${serving.key}`,
      "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
      `--service-account-key-file=${serviceAccounts.certificate}`,
      `--service-account-signing-key-file=${serviceAccounts.key}`,
      "--authorization-mode=Node,RBAC",
      "--enable-admission-plugins=NodeRestriction", // besides the default ones, as kubeadm does
      "--allow-privileged=true",
      ...apiServerFlags,
    ]),
    // Its first visible deed says that it works: the ServiceAccount of the namespace `default`.
    "kube-controller-manager": run(
      "kube-controller-manager",
      () => answers(facts, "/api/v1/namespaces/default/serviceaccounts/default"),
      [
        `--kubeconfig=${controllersKubeconfig}`,
        "--use-service-account-credentials=true",
        `--service-account-private-key-file=${serviceAccounts.key}`,
        `--root-ca-file=${ca.certificate}`,
        `--cluster-signing-cert-file=${ca.certificate}`,
        `--cluster-signing-key-file=${ca.key}`,
        "--leader-elect=false",
        "--kube-api-qps=500", // its default of 20 makes the start of fifty controllers, and every test, wait
        "--kube-api-burst=1000",
        "--secure-port=0",
      ],
    ),
  } as const satisfies Record<ComponentName, Component>;

  await components.etcd.start();
  await components["kube-apiserver"].start();
  await components["kube-controller-manager"].start();
  await writeFacts(facts);
  return { facts, components };
};

/**
 * Boots a control plane: as in a cluster of kubeadm, but for its nodes, its add-ons and its etcd, which does not sync.
 *
 * Guarantees: it is ready, service accounts included; after {@link ControlPlane.stop}, or when this process is gone in
 * any way (crash, SIGKILL), none of its processes and files is left.
 * Errors: rejects with the end of the log of what did not start, or with what to do to get its binaries.
 */
export const startControlPlane = async (options: Options = {}): Promise<ControlPlane> => {
  const { log = () => {}, directory, apiServerFlags = [] } = options;
  const began = performance.now();
  const home = directory ?? (await mkdtemp(path.join(os.tmpdir(), "janus-control-plane-")));
  const held = leash(home);
  const { facts, components } = await boot(home, held, log, apiServerFlags).catch(async (error: unknown) => {
    await held.end();
    throw error;
  });
  log(`Control plane at ${facts.url}, up in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return {
    ...facts,
    userKubeconfig: (name, groups) => userKubeconfig(facts, name, groups),
    pid: (name) => components[name].pid(),
    pause: (name) => components[name].pause(),
    resume: (name) => components[name].resume(),
    restart: async (name, signal) => {
      await components[name].kill(signal);
      await components[name].start();
    },
    stop: async () => {
      await Promise.all(Object.values(components).map((one) => one.kill()));
      await held.end();
    },
  };
};
