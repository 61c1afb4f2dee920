import { installation, type JanusProps, type Manifest } from "@janus/deploy";
import { vi } from "vitest";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import { untilAccepted } from "../demo/install.ts";
import { kubectlWith, type Outcome } from "../fixtures/cluster.ts";
import { type Rule, role } from "../fixtures/manifests.ts";

/** A control plane of a test file's own. */
export interface BareCluster extends ControlPlane {
  /** As this user; as administrator where there is no such {@link OwnCluster.person}. `stdin` is an object. */
  readonly kubectl: (user: string, args: string, stdin?: object) => Promise<Outcome>;
  /** As administrator; what does not work ends the test. */
  readonly admin: (args: string, stdin?: object) => Promise<string>;
}

/** One where Janus is installed but nothing runs. */
export interface OwnCluster extends BareCluster {
  readonly install: (...manifests: readonly Manifest[]) => Promise<void>;
  /** Somebody who may do this in the namespace `default`, and nothing else. */
  readonly person: (name: string, ...rules: readonly Rule[]) => Promise<void>;
}

type Options = Parameters<typeof startControlPlane>[0];

const kubectlOf = (kubeconfigOf: (user: string) => string): Pick<BareCluster, "kubectl" | "admin"> => {
  const kubectl: BareCluster["kubectl"] = (user, args, stdin) =>
    kubectlWith(
      { kubeconfig: kubeconfigOf(user), ...(stdin === undefined ? {} : { stdin: JSON.stringify(stdin) }) },
      ...args.split(" "),
    );
  return {
    kubectl,
    admin: async (args, stdin) => {
      const { code, stdout, stderr } = await kubectl("admin", args, stdin);
      if (code !== 0) throw new Error(`kubectl ${args}: ${stderr}`);
      return stdout;
    },
  };
};

/** Nothing is installed. */
export const bareCluster = async (options: Options = {}): Promise<BareCluster> => {
  const cluster = await startControlPlane(options);
  return { ...cluster, ...kubectlOf(() => cluster.kubeconfig) };
};

/** A ServiceAccount `deployer` in the namespace `default` is admin there. */
export const ownCluster = async (props: JanusProps = {}, options: Options = {}): Promise<OwnCluster> => {
  const cluster = await startControlPlane(options);
  const kubeconfigs = new Map<string, string>();
  const { kubectl, admin } = kubectlOf((user) => kubeconfigs.get(user) ?? cluster.kubeconfig);
  const install: OwnCluster["install"] = async (...manifests) => {
    await admin("apply --server-side -f -", { apiVersion: "v1", kind: "List", items: manifests });
  };
  const [namespace, ...rest] = installation(props).filter(({ kind }) => kind !== "Deployment");
  if (namespace !== undefined) await install(namespace);
  await install(...rest);
  await admin("wait --for=condition=Established --timeout=300s crd/transactions.backup.janus.io");
  if (props.stampsUsers === true) await untilAccepted(cluster);
  await admin("create serviceaccount deployer");
  await admin("create rolebinding deployer --clusterrole=admin --serviceaccount=default:deployer");
  return {
    ...cluster,
    kubectl,
    admin,
    install,
    person: async (name, ...rules) => {
      kubeconfigs.set(name, await cluster.userKubeconfig(name));
      await admin("create -f -", role(name, ...rules));
      await admin(`create rolebinding ${name} --role=${name} --user=${name}`);
    },
  };
};

/** The API server hears of rights and policies a moment after they were written. */
export const eventually = (isSo: () => Promise<boolean>): Promise<boolean> =>
  vi.waitUntil(isSo, { timeout: 300_000, interval: 100 });
