import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { ControlPlane } from "../control-plane/control-plane.ts";
import { component } from "../control-plane/component.ts";
import { freePorts } from "../control-plane/free-ports.ts";
import { leash } from "../control-plane/leash.ts";
import type { Admin } from "./admin.ts";

/** The controller as a process of its own, that can be killed and started again. */
export interface ControllerProcess {
  /** Path of the kubeconfig that it runs with. */
  readonly kubeconfig: string;
  readonly pid: () => number | undefined;
  readonly start: () => Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  readonly kill: () => Promise<void>;
  /** Kills it for good. */
  readonly end: () => Promise<void>;
  readonly metrics: string;
  /** What it has to complain of, newest last. */
  readonly complaints: () => Promise<readonly string[]>;
}

const serviceAccount = {
  apiVersion: "v1",
  kind: "ServiceAccount",
  namespace: "janus-system",
  name: "janus-controller",
} as const;
export const controllerUser = `system:serviceaccount:${serviceAccount.namespace}:${serviceAccount.name}`;

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

const source = path.resolve(import.meta.dirname, "../../packages/controller/src/shell/main.ts");

/**
 * Prepares the controller to run with the identity and the rights that the manifests give it, and no others.
 *
 * Guarantees: it does not outlive this process.
 */
export const controllerProcess = async (controlPlane: ControlPlane, admin: Admin): Promise<ControllerProcess> => {
  const directory = path.join(controlPlane.directory, "controller");
  await mkdir(directory);
  const held = leash(directory);
  const kubeconfig = path.join(directory, "kubeconfig");
  await writeFile(kubeconfig, kubeconfigWith(await requestToken(admin), controlPlane), { mode: 0o600 });
  const [port = 0] = await freePorts(1);
  const at = `http://127.0.0.1:${port}`;
  const running = component(
    {
      name: serviceAccount.name,
      file: process.execPath,
      args: [
        "--conditions=source",
        source,
        `--kubeconfig=${kubeconfig}`,
        `--http-port=${port}`,
        "--leader-elect=false", // there is one; killed and started again, it would wait for its own former Lease
      ],
      directory,
      isReady: () =>
        fetch(`${at}/readyz`, { signal: AbortSignal.timeout(2000) }).then(
          ({ ok }) => ok,
          () => false,
        ),
    },
    held,
    () => {},
  );
  let isEnded = false;
  return {
    kubeconfig,
    pid: running.pid,
    start: () => (isEnded ? Promise.reject(new Error("the controller was ended for good")) : running.start()),
    kill: running.kill,
    end: async () => {
      isEnded = true;
      await running.kill();
      await held.end();
    },
    metrics: `${at}/metrics`,
    complaints: async () => {
      const lines = (await readFile(path.join(directory, `${serviceAccount.name}.log`), "utf8")).trim().split("\n");
      return lines.filter((line) => !/"level":"(debug|info)"/.test(line)).slice(-20);
    },
  };
};
