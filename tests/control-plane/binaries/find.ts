import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import * as E from "fp-ts/lib/Either.js";
import { leash } from "../leash.ts";
import type { Log } from "../progress.ts";
import { type Binaries, type BinaryName, binaryNames, isOfKubernetes, versionOf, versions } from "./binary.ts";
import { binariesDirectory, cached, ensureDirectory, store } from "./cache.ts";
import { downloadEtcd, downloadHelm, downloadKubernetes, officialMirrors } from "./download.ts";
import { goBuild } from "./go-build.ts";
import { withLock } from "./lock.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Found = Readonly<Partial<Record<BinaryName, string>>>;

const missingIn = (found: Found) => binaryNames.filter((name) => found[name] === undefined);

const reason = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** What stands in KUBEBUILDER_ASSETS, in whatever version: who sets it has chosen. */
const fromAssets = async (directory: string, log: Log): Promise<Found> => {
  const found: Partial<Record<BinaryName, string>> = {};
  for (const name of binaryNames) {
    const file = path.join(directory, name);
    if ((await stat(file).catch(() => undefined)) === undefined) continue;
    const version = await versionOf(name, file).catch((error: unknown) => {
      log(`KUBEBUILDER_ASSETS: ${name} does not run (${reason(error)}); looking further`);
    });
    if (version === undefined) continue;
    if (version !== versions[name]) log(`KUBEBUILDER_ASSETS: ${name} is ${version}; tested is ${versions[name]}`);
    found[name] = file;
  }
  const missing = missingIn(found);
  if (missing.length > 0) log(`KUBEBUILDER_ASSETS: ${missing.join(", ")} not in ${directory}; looking further`);
  return found;
};

const fromCache = async (names: readonly BinaryName[], directory: string, log?: Log): Promise<Found> => {
  const results = await Promise.all(names.map(async (name) => [name, await cached(directory, name)] as const));
  for (const [name, result] of results)
    if (E.isLeft(result) && result.left !== "is not there") log?.(`Cache: ${name} ${result.left}; getting it again`);
  return Object.fromEntries(results.flatMap(([name, result]) => (E.isRight(result) ? [[name, result.right]] : [])));
};

interface Source {
  readonly source: string;
  readonly has: (name: BinaryName) => boolean;
  readonly get: (wanted: readonly BinaryName[]) => Promise<void>;
}

const scratchPrefix = ".getting-";

/** Fills the cache with what is missing in it, from the first source that has it. */
const fill = async (names: readonly BinaryName[], cache: string, env: Environment, log: Log): Promise<Found> => {
  // Only the holder of the lock has one of these: what is there was left by a machine that lost its power.
  for (const left of await readdir(cache))
    if (left.startsWith(scratchPrefix)) await rm(path.join(cache, left), { recursive: true, force: true });
  const scratch = await mkdtemp(path.join(cache, scratchPrefix));
  const held = leash(scratch);
  const deliver = (name: BinaryName, file: string) => store(cache, name, file);
  const kubernetesMirror = env["JANUS_KUBERNETES_MIRROR"] || officialMirrors.kubernetes;
  const etcdMirror = env["JANUS_ETCD_MIRROR"] || officialMirrors.etcd;
  const helmMirror = env["JANUS_HELM_MIRROR"] || officialMirrors.helm;
  const sources: readonly Source[] = [
    {
      source: "Official release of etcd",
      has: (name) => name === "etcd",
      get: () => downloadEtcd(etcdMirror, scratch, deliver, log),
    },
    {
      source: "Official release of Helm",
      has: (name) => name === "helm",
      get: () => downloadHelm(helmMirror, scratch, deliver, log),
    },
    {
      source: "Official release of Kubernetes",
      has: isOfKubernetes,
      get: (wanted) => downloadKubernetes(wanted, kubernetesMirror, scratch, deliver, log),
    },
    { source: "Go build", has: () => true, get: (wanted) => goBuild(wanted, env, scratch, held, deliver, log) },
  ];
  try {
    let found = await fromCache(names, cache);
    for (const { source, has, get } of sources) {
      const wanted = names.filter((name) => found[name] === undefined && has(name));
      if (wanted.length === 0) continue;
      log(`${source}: getting ${wanted.join(", ")}`);
      await get(wanted).catch((error: unknown) => log(`${source}: ${reason(error)}`));
      found = await fromCache(names, cache);
    }
    return found;
  } finally {
    await held.end();
  }
};

/** From the cache, which gets what it has not. */
const viaCache = async (names: readonly BinaryName[], env: Environment, log: Log): Promise<Found> => {
  const directory = binariesDirectory(env);
  const found = await fromCache(names, directory, log);
  const wanted = names.filter((name) => found[name] === undefined);
  if (wanted.length === 0) return found;
  await ensureDirectory(directory);
  const got = await withLock(path.join(directory, ".lock"), log, () => fill(wanted, directory, env, log));
  return { ...found, ...got };
};

/**
 * Finds the programs of a control plane: in `KUBEBUILDER_ASSETS`, in the cache, as official release, by `go build`, in
 * this order and one by one, so that a source may have only some of them.
 *
 * Guarantees: what comes from the cache is complete and of the right version, whatever was in the cache before; several
 * processes may do this at the same time.
 * Errors: rejects when one is in none of them, with what to do.
 */
export const findBinaries = async (env: Environment, log: Log): Promise<Binaries> => {
  const assets = env["KUBEBUILDER_ASSETS"];
  let found: Found = assets ? await fromAssets(assets, log) : {};
  found = { ...found, ...(await viaCache(missingIn(found), env, log)) };
  const { etcd, kubectl, "kube-apiserver": server, "kube-controller-manager": controllers } = found;
  if (!etcd || !kubectl || !server || !controllers)
    throw new Error(
      `No ${missingIn(found).join(", ")} for the control plane: see above for what was tried. Either go online, or install Go, or ` +
        `set KUBEBUILDER_ASSETS to a directory that has them, or JANUS_KUBERNETES_MIRROR and JANUS_ETCD_MIRROR to mirrors.`,
    );
  return { etcd, kubectl, "kube-apiserver": server, "kube-controller-manager": controllers };
};

/**
 * Finds helm: in the cache, as official release, by `go build`. Only some tests need it, so that it is not looked for before they do.
 *
 * Errors: rejects when it is in none of them, with what to do.
 */
export const findHelm = async (env: Environment, log: Log): Promise<string> => {
  const { helm } = await viaCache(["helm"], env, log);
  if (helm === undefined)
    throw new Error(
      "No helm: see above for what was tried. Either go online, or install Go, or set JANUS_HELM_MIRROR to a mirror.",
    );
  return helm;
};

/** Whether {@link findKwok} has a chance: there is Go to build it with, or it was built before. */
export const isKwokToBeHad = async (env: Environment, log: Log): Promise<boolean> => {
  if (E.isRight(await cached(binariesDirectory(env), "kwok"))) return true;
  const go = await promisify(execFile)("go", ["version"], { env }).catch(() => undefined);
  if (go === undefined) log("There is no Go to build kwok with: tests that need Nodes and running Pods are skipped");
  return go !== undefined;
};

/**
 * Finds kwok: in the cache, or by `go build`. Only some tests need it, so that it is not looked for before they do.
 *
 * Errors: rejects when it is in neither of them, with what to do.
 */
export const findKwok = async (env: Environment, log: Log): Promise<string> => {
  const { kwok } = await viaCache(["kwok"], env, log);
  if (kwok === undefined) throw new Error("No kwok: see above for what was tried. Go online, and install Go.");
  return kwok;
};
