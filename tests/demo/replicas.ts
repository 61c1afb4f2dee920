import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { leash } from "../control-plane/leash.ts";
import type { Admin } from "./admin.ts";
import { type Replica, replica } from "../fixtures/replica.ts";

/** The two controllers of an installation. */
export interface Replicas {
  /** Path of the kubeconfig that they run with. */
  readonly kubeconfig: string;
  readonly all: readonly Replica[];
  /** Resolves when both are ready. */
  readonly start: () => Promise<void>;
  /** Which one leads, as soon as one does; rejects when none does for long. */
  readonly leader: () => Promise<Replica>;
  /** Kills them for good. */
  readonly end: () => Promise<void>;
}

const serviceAccount = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  namespace: "janus-system",
  name: "janus-controller",
} as const;
export const controllerUser = `system:serviceaccount:${serviceAccount.namespace}:${serviceAccount.name}`;

/** Shorter than in a real installation, in seconds: nobody wants to look at a killed leader's Lease for half a minute. */
export const timing = { leaseDuration: 6, renewDeadline: 4, retryPeriod: 1 };

const electionFlags = [
  `--leader-elect-lease-duration=${timing.leaseDuration}s`,
  `--leader-elect-renew-deadline=${timing.renewDeadline}s`,
  `--leader-elect-retry-period=${timing.retryPeriod}s`,
  "--write-timeout=2s", // together with the renew deadline no longer than the lease duration
];

const leadsWithin = 300_000;
const dayInSeconds = 24 * 60 * 60;

/** A token as a kubelet asks for one for a Pod. https://kubernetes.io/docs/reference/kubernetes-api/authentication-resources/token-request-v1/ */
const requestToken = async (admin: Admin): Promise<string> => {
  const request = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: {},
    spec: { audiences: [], expirationSeconds: dayInSeconds },
  };
  const granted = await admin.create(request, { of: serviceAccount, name: "token" });
  return (granted["status"] as { readonly token: string }).token;
};

/** JSON is YAML. */
const kubeconfigWith = (token: string, { url, ca }: ControlPlane): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "janus", cluster: { server: url, "certificate-authority-data": Buffer.from(ca).toString("base64") } },
    ],
    users: [{ name: controllerUser, user: { token } }],
    contexts: [{ name: "janus", context: { cluster: "janus", user: controllerUser } }],
    "current-context": "janus",
  });

/**
 * Prepares two controllers to run with the identity and the rights that the manifests give them, and no others.
 *
 * Guarantees: they do not outlive this process.
 */
export const twoReplicas = async (controlPlane: ControlPlane, admin: Admin): Promise<Replicas> => {
  const home = path.join(controlPlane.directory, "replicas");
  await mkdir(home);
  const held = leash(home);
  const kubeconfig = path.join(home, "kubeconfig");
  await writeFile(kubeconfig, kubeconfigWith(await requestToken(admin), controlPlane), { mode: 0o600 });
  const flags = [`--kubeconfig=${kubeconfig}`, ...electionFlags];
  const all = await Promise.all(["replica-1", "replica-2"].map((name) => replica(name, flags, home, held)));

  const leader = async (): Promise<Replica> => {
    const began = performance.now();
    while (performance.now() - began < leadsWithin) {
      const statuses = await Promise.all(all.map(({ status }) => status()));
      const found = all[statuses.findIndex((status) => status?.leader === true)];
      if (found !== undefined) return found;
      await setTimeout(50);
    }
    throw new Error(`no controller leads after ${leadsWithin / 1000} s`);
  };

  return {
    kubeconfig,
    all,
    start: async () => void (await Promise.all(all.map(({ start }) => start()))),
    leader,
    end: async () => {
      await Promise.all(all.map(({ end }) => end()));
      await held.end();
    },
  };
};
