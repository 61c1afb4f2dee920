import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** The programs of a control plane and those that tests use on it, in the versions that this repository is tested with. */
export const versions = {
  etcd: "v3.6.8",
  "kube-apiserver": "v1.36.3",
  "kube-controller-manager": "v1.36.3",
  kubectl: "v1.36.3",
  helm: "v4.3.1",
  kwok: "v0.8.0",
} as const;

export type BinaryName = keyof typeof versions;
export type ControlPlaneBinary = Exclude<BinaryName, "helm" | "kwok">;
export type Binaries = Readonly<Record<ControlPlaneBinary, string>>;

export const binaryNames: readonly ControlPlaneBinary[] = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kubectl",
];
export const isOfKubernetes = (name: BinaryName): boolean => name.startsWith("kube");
export const kubernetesVersion = versions["kube-apiserver"];

/** As Go, and with it every release of Kubernetes, calls this machine. */
export const platform = {
  os: process.platform,
  arch: process.arch === "x64" ? "amd64" : process.arch,
} as const;

const versionArgs: Readonly<Partial<Record<BinaryName, readonly string[]>>> = {
  kubectl: ["version", "--client"],
  helm: ["version", "--template={{.Version}}"],
};

/**
 * Runs a binary to learn its version, such as `v1.36.3`.
 *
 * Errors: rejects when it does not run, or prints no version.
 */
export const versionOf = async (name: BinaryName, file: string): Promise<string> => {
  const { stdout } = await promisify(execFile)(file, versionArgs[name] ?? ["--version"], { timeout: 30_000 });
  const version = /\bv?(\d+\.\d+\.\d+\S*)/.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`${file} prints no version`);
  return `v${version}`;
};
