import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, chmod, constants, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import * as E from "fp-ts/lib/Either.js";
import { type BinaryName, kubernetesVersion, platform, versionOf, versions } from "./binary.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Everything that outlives a run: `JANUS_CACHE`, by default `janus` in the user's cache directory. */
export const cacheRoot = (env: Environment): string =>
  path.join(
    env["JANUS_CACHE"] || path.join(env["XDG_CACHE_HOME"] || path.join(os.homedir(), ".cache"), "janus"),
    "control-plane",
  );

export const binariesDirectory = (env: Environment): string =>
  path.join(cacheRoot(env), `${kubernetesVersion}-${platform.os}-${platform.arch}`);

/** What was put there. It stands beside the binary, in `<name>.json`; a binary without one is not ours. */
interface Marker {
  readonly version: string;
  readonly size: number;
  readonly sha256: string;
}

const markerOf = (directory: string, name: BinaryName) => path.join(directory, `${name}.json`);

export const sha256 = async (file: string): Promise<string> => {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
};

/** The cached binary, if it is to the byte the one that was put there; else why it cannot be used. */
export const cached = async (directory: string, name: BinaryName): Promise<E.Either<string, string>> => {
  const file = path.join(directory, name);
  const here = await stat(file).catch(() => undefined);
  if (here === undefined) return E.left("is not there");
  const marker = await readFile(markerOf(directory, name), "utf8")
    .then((text) => JSON.parse(text) as Partial<Marker>)
    .catch(() => undefined);
  if (marker === undefined || !here.isFile()) return E.left("was not put there by us");
  if (marker.version !== versions[name]) return E.left(`is ${marker.version}, and ${versions[name]} is needed`);
  if (marker.size !== here.size) return E.left(`is damaged: ${here.size} bytes instead of ${marker.size}`);
  if (marker.sha256 !== (await sha256(file))) return E.left("is damaged: its checksum has changed");
  const executable = await access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
  return executable ? E.right(file) : E.left("is not executable");
};

/**
 * Moves a binary into the cache.
 *
 * Guarantees: what becomes visible under its name is complete and has run on this machine with the right version;
 * whatever else stood there is replaced.
 * Assumes: `file` is on the file system of the cache.
 */
export const store = async (directory: string, name: BinaryName, file: string): Promise<void> => {
  await chmod(file, 0o755);
  const version = await versionOf(name, file);
  if (version !== versions[name]) throw new Error(`${name} should be ${versions[name]}, and is ${version}`);
  const marker: Marker = { version, size: (await stat(file)).size, sha256: await sha256(file) };
  await writeFile(`${file}.json`, `${JSON.stringify(marker)}\n`);
  await replace(file, path.join(directory, name));
  await replace(`${file}.json`, markerOf(directory, name));
};

const replace = async (from: string, to: string) => {
  const there = await stat(to).catch(() => undefined);
  if (there?.isDirectory()) await rm(to, { recursive: true, force: true });
  await rename(from, to);
};

/** Makes `directory`, in place of anything of that name that is none. */
export const ensureDirectory = async (directory: string): Promise<void> => {
  const there = await stat(directory).catch(() => undefined);
  if (there !== undefined && !there.isDirectory()) await rm(directory, { force: true });
  await mkdir(directory, { recursive: true });
};
