import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import type { Leash } from "../leash.ts";
import { type Log, withProgress } from "../progress.ts";
import { type BinaryName, isOfKubernetes, kubernetesVersion, versions } from "./binary.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Go = (directory: string, args: readonly string[], onLine?: (line: string) => void) => Promise<string>;

const go =
  (env: Environment, held: Leash): Go =>
  async (directory, args, onLine) => {
    const child = spawn("go", args, {
      cwd: directory,
      env: { ...env, CGO_ENABLED: "0", GOWORK: "off" },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    const exited = once(child, "exit");
    const { pid } = child;
    if (pid !== undefined) {
      held.hold(pid);
      os.setPriority(pid, os.constants.priority.PRIORITY_LOW); // tests may be running
    }
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      for (const line of chunk.split("\n")) if (line !== "") onLine?.(line);
    });
    const [stdout, [code]] = await Promise.all([text(child.stdout), exited]).catch((error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "ENOENT")
        throw new Error("go is not on the PATH; install it from https://go.dev/dl and try again");
      throw error;
    });
    if (pid !== undefined) held.release(pid);
    if (code !== 0) throw new Error(`go ${args[0]} failed:\n${said.trim().split("\n").slice(-20).join("\n")}`);
    return stdout;
  };

interface GoMod {
  readonly Go: string;
  readonly Require: readonly { readonly Path: string; readonly Version: string }[] | null;
  readonly Replace:
    | readonly { readonly Old: { readonly Path: string }; readonly New: { readonly Path: string } }[]
    | null;
}

/**
 * A module that can build `required`: Go ignores the replacements of dependencies, so those that point into the
 * dependency's own repository (the staging modules of Kubernetes) are pointed to what is published of them.
 */
export const goModFor = (required: string, version: string, its: GoMod, publishedAs: string): string =>
  [
    "module janus.local/binaries",
    `go ${its.Go}`,
    `require ${required} ${version}`,
    ...(its.Replace ?? [])
      .filter(({ New }) => New.Path.startsWith("./staging/"))
      .map(({ Old }) => `replace ${Old.Path} => ${Old.Path} ${publishedAs}`),
    "",
  ].join("\n");

/** Kubernetes v1.36.3 publishes its staging modules as v0.36.3. */
const stagingVersion = kubernetesVersion.replace(/^v1\./, "v0.");

const goModOf = async (run: Go, directory: string, module: string, version: string): Promise<GoMod> => {
  const { GoMod: file } = JSON.parse(await run(directory, ["mod", "download", "-json", `${module}@${version}`])) as {
    readonly GoMod: string;
  };
  return JSON.parse(await run(directory, ["mod", "edit", "-json", file])) as GoMod;
};

const prepare = async (run: Go, directory: string, module: string, version: string) => {
  await mkdir(directory, { recursive: true });
  const its = await goModOf(run, directory, module, version);
  await writeFile(path.join(directory, "go.mod"), goModFor(module, version, its, stagingVersion));
};

/**
 * A module that builds `required` of the modules, and their versions, that Kubernetes is built of: Go does not compile
 * again what it has compiled for the control plane.
 */
const goModOfKubernetes = (required: string, version: string, kubernetes: GoMod, publishedAs: string): string =>
  [
    goModFor(required, version, kubernetes, publishedAs),
    ...(kubernetes.Require ?? [])
      .filter((one) => one.Version !== "v0.0.0")
      .flatMap(({ Path, Version }) => [`require ${Path} ${Version}`, `replace ${Path} => ${Path} ${Version}`]),
    "",
  ].join("\n");

const build = async (run: Go, directory: string, what: string, args: readonly string[], log: Log) =>
  withProgress(log, `Building ${what} with go (minutes, once)`, async (at) => {
    let compiled = 0;
    await run(directory, ["build", "-mod=mod", "-v", "-o", `${directory}/`, ...args], (line) => {
      if (line.startsWith("go: downloading")) at(line.slice("go: ".length));
      else at(`${++compiled} packages compiled`);
    });
  });

/** Without these a program of Kubernetes calls itself v0.0.0. */
const kubernetesFlags = () => {
  const [gitMajor, gitMinor] = kubernetesVersion.slice(1).split(".");
  const values = Object.entries({ gitVersion: kubernetesVersion, gitMajor, gitMinor });
  return ["-s -w", ...values.map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)].join(" ");
};

const etcdMain = `package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
`;

/**
 * Builds from source, through the Go module proxy.
 *
 * Errors: rejects with what is needed (Go), or with the last words of the build.
 */
export const goBuild = async (
  names: readonly BinaryName[],
  env: Environment,
  directory: string,
  held: Leash,
  deliver: (name: BinaryName, file: string) => Promise<void>,
  log: Log,
): Promise<void> => {
  const run = go(env, held);
  const etcd = names.filter((name) => name === "etcd");
  const helm = names.filter((name) => name === "helm");
  const kwok = names.filter((name) => name === "kwok");
  const kubernetes = names.filter(isOfKubernetes);
  if (etcd.length > 0) {
    const there = path.join(directory, "etcd-module");
    await prepare(run, there, "go.etcd.io/etcd/server/v3", versions.etcd);
    await writeFile(path.join(there, "main.go"), etcdMain);
    await build(run, there, `etcd ${versions.etcd}`, ["-ldflags=-s -w", "."], log);
    await deliver("etcd", path.join(there, "binaries"));
  }
  if (helm.length > 0) {
    const there = path.join(directory, "helm-module");
    await prepare(run, there, "helm.sh/helm/v4", versions.helm);
    const flags = `-ldflags=-s -w -X helm.sh/helm/v4/internal/version.version=${versions.helm}`;
    await build(run, there, `helm ${versions.helm}`, [flags, "helm.sh/helm/v4/cmd/helm"], log);
    await deliver("helm", path.join(there, "helm"));
  }
  if (kwok.length > 0) {
    const there = path.join(directory, "kwok-module");
    await mkdir(there, { recursive: true });
    const its = await goModOf(run, there, "k8s.io/kubernetes", kubernetesVersion);
    const goMod = goModOfKubernetes("sigs.k8s.io/kwok", versions.kwok, its, stagingVersion);
    await writeFile(path.join(there, "go.mod"), goMod);
    await build(run, there, `kwok ${versions.kwok}`, ["-ldflags=-s -w", "sigs.k8s.io/kwok/cmd/kwok"], log);
    await deliver("kwok", path.join(there, "kwok"));
  }
  if (kubernetes.length > 0) {
    const there = path.join(directory, "kubernetes-module");
    await prepare(run, there, "k8s.io/kubernetes", kubernetesVersion);
    const packages = kubernetes.map((name) => `k8s.io/kubernetes/cmd/${name}`);
    await build(
      run,
      there,
      `${kubernetes.join(", ")} ${kubernetesVersion}`,
      [`-ldflags=${kubernetesFlags()}`, ...packages],
      log,
    );
    for (const name of kubernetes) await deliver(name, path.join(there, name));
  }
};
