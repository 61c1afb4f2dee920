import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { type Log, withProgress } from "../progress.ts";
import { type BinaryName, kubernetesVersion, platform, versions } from "./binary.ts";

/** Until a server answers at all. Short, because whoever is offline goes on with the next source. */
const answerWithin = 5_000;
const silentFor = 30_000;

export const officialMirrors = {
  kubernetes: "https://dl.k8s.io/release",
  etcd: "https://github.com/etcd-io/etcd/releases/download",
  helm: "https://get.helm.sh",
};

const open = async (url: string, impatience: AbortController): Promise<Response> => {
  const timer = setTimeout(() => impatience.abort(), answerWithin);
  const response = await fetch(url, { signal: impatience.signal })
    .catch((error: unknown) => {
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : undefined;
      throw new Error(
        `${new URL(url).host} cannot be reached (${cause ?? `no answer within ${answerWithin / 1000} s`})`,
      );
    })
    .finally(() => clearTimeout(timer));
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return response;
};

const text = async (url: string): Promise<string> => (await open(url, new AbortController())).text();

const megabytes = (bytes: number) => Math.round(bytes / 1e6);

/** Downloads to `file`; rejects when what came is not what `checksum` says. */
const save = async (url: string, file: string, checksum: string, log: Log): Promise<void> => {
  const impatience = new AbortController();
  const { body, headers } = await open(url, impatience);
  if (body === null) throw new Error(`${url} is empty`);
  const total = Number(headers.get("content-length") ?? 0);
  const hash = createHash("sha256");
  await withProgress(log, `Downloading ${url}`, async (at) => {
    const stall = () => impatience.abort(new Error(`nothing more came for ${silentFor / 1000} s`));
    let stalled = setTimeout(stall, silentFor);
    let seen = 0;
    const watched = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        clearTimeout(stalled);
        stalled = setTimeout(stall, silentFor);
        hash.update(chunk);
        seen += chunk.length;
        at(total === 0 ? `${megabytes(seen)} MB` : `${megabytes(seen)} of ${megabytes(total)} MB`);
        yield chunk;
      }
    };
    await pipeline(Readable.fromWeb(body), watched, createWriteStream(file))
      .catch((error: unknown) => {
        throw new Error(`${url} broke off (${error instanceof Error ? error.message : String(error)})`);
      })
      .finally(() => clearTimeout(stalled));
  });
  const actual = hash.digest("hex");
  if (actual !== checksum) throw new Error(`${url} has the checksum ${actual}, and ${checksum} is published for it`);
};

type Deliver = (name: BinaryName, file: string) => Promise<void>;

/**
 * Gets the official release of programs of Kubernetes, each checked against the checksum published beside it.
 *
 * Errors: rejects at the first one that cannot be had, with a sentence that says why.
 */
export const downloadKubernetes = async (
  names: readonly BinaryName[],
  mirror: string,
  directory: string,
  deliver: Deliver,
  log: Log,
): Promise<void> => {
  if (platform.os !== "linux") throw new Error(`there is no official kube-apiserver for ${platform.os}`);
  for (const name of names) {
    const url = `${mirror}/${kubernetesVersion}/bin/${platform.os}/${platform.arch}/${name}`;
    const checksum = (await text(`${url}.sha256`)).trim();
    const file = path.join(directory, name);
    await save(url, file, checksum, log);
    await deliver(name, file);
  }
};

/** Gets one file out of an archive that is checked against the line about it in a list of checksums. */
const fromArchive = async (url: string, sums: string, member: string, directory: string, log: Log): Promise<string> => {
  const name = path.basename(url);
  const checksum = (await text(sums))
    .split("\n")
    .find((line) => line.endsWith(`  ${name}`))
    ?.split(" ")[0];
  if (checksum === undefined) throw new Error(`no checksum is published for ${url}`);
  const archive = path.join(directory, name);
  await save(url, archive, checksum, log);
  await promisify(execFile)("tar", ["-xzf", archive, "-C", directory, "--strip-components=1", member]);
  return path.join(directory, path.basename(member));
};

/**
 * Gets the official release of etcd, checked against the checksums published with it.
 *
 * Errors: rejects with a sentence that says why it cannot be had.
 */
export const downloadEtcd = async (mirror: string, directory: string, deliver: Deliver, log: Log): Promise<void> => {
  if (platform.os !== "linux") throw new Error(`the release of etcd for ${platform.os} is no tar archive`);
  const release = `etcd-${versions.etcd}-${platform.os}-${platform.arch}`;
  const base = `${mirror}/${versions.etcd}`;
  const file = await fromArchive(`${base}/${release}.tar.gz`, `${base}/SHA256SUMS`, `${release}/etcd`, directory, log);
  await deliver("etcd", file);
};

/**
 * Gets the official release of Helm, checked against the checksum published beside it.
 *
 * Errors: rejects with a sentence that says why it cannot be had.
 */
export const downloadHelm = async (mirror: string, directory: string, deliver: Deliver, log: Log): Promise<void> => {
  const url = `${mirror}/helm-${versions.helm}-${platform.os}-${platform.arch}.tar.gz`;
  const member = `${platform.os}-${platform.arch}/helm`;
  await deliver("helm", await fromArchive(url, `${url}.sha256sum`, member, directory, log));
};
