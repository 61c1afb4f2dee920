import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";
import { type BinaryName, binaryNames, kubernetesVersion, platform, versions } from "./binaries/binary.ts";

/** A program that does nothing but print a version. */
export const fakeBinary = (version: string, madeBy = "release"): string =>
  `#!/bin/sh\n# ${madeBy}\necho "Version: ${version}"\n`;

export const writeExecutable = async (file: string, content: string): Promise<void> => {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, content, { mode: 0o755 });
};

/** A machine of its own: an empty cache, no Go, and a mirror on loopback that has every release. */
export interface Machine {
  readonly directory: string;
  readonly env: Record<string, string>;
  /** What the mirror serves, by path; a test may change it. */
  readonly files: Map<string, Buffer>;
  /** Paths whose content breaks off in the middle. */
  readonly breaking: Set<string>;
  /** What was asked of the mirror, as the last segments of the paths. */
  readonly asked: readonly string[];
}

const checksum = (content: Buffer) => createHash("sha256").update(content).digest("hex");

/** Where the official release of a program of Kubernetes is. */
export const released = (name: BinaryName): string =>
  `/${kubernetesVersion}/bin/${platform.os}/${platform.arch}/${name}`;

/** Releases a program of Kubernetes, with its checksum. */
export const publish = (files: Map<string, Buffer>, name: BinaryName, program: string): void => {
  files.set(released(name), Buffer.from(program));
  files.set(`${released(name)}.sha256`, Buffer.from(checksum(Buffer.from(program))));
};

const publishEtcd = async (files: Map<string, Buffer>, directory: string): Promise<void> => {
  const etcd = `etcd-${versions.etcd}-${platform.os}-${platform.arch}`;
  await writeExecutable(path.join(directory, etcd, "etcd"), fakeBinary(versions.etcd));
  await promisify(execFile)("tar", ["-czf", "etcd.tar.gz", etcd], { cwd: directory });
  const archive = await readFile(path.join(directory, "etcd.tar.gz"));
  files.set(`/${versions.etcd}/${etcd}.tar.gz`, archive);
  files.set(`/${versions.etcd}/SHA256SUMS`, Buffer.from(`${checksum(archive)}  ${etcd}.tar.gz\n`));
};

const publishHelm = async (files: Map<string, Buffer>, directory: string): Promise<void> => {
  const member = `${platform.os}-${platform.arch}/helm`;
  await writeExecutable(path.join(directory, member), fakeBinary(versions.helm));
  await promisify(execFile)("tar", ["-czf", "helm.tar.gz", member], { cwd: directory });
  const archive = await readFile(path.join(directory, "helm.tar.gz"));
  const helm = `helm-${versions.helm}-${platform.os}-${platform.arch}.tar.gz`;
  files.set(`/${helm}`, archive);
  files.set(`/${helm}.sha256sum`, Buffer.from(`${checksum(archive)}  ${helm}\n`));
};

export const freshMachine = async (): Promise<Machine> => {
  const directory = await mkdtemp(path.join(os.tmpdir(), "janus-acquire-"));
  const files = new Map<string, Buffer>();
  for (const name of binaryNames) if (name !== "etcd") publish(files, name, fakeBinary(versions[name]));
  await publishEtcd(files, directory);
  await publishHelm(files, directory);
  const breaking = new Set<string>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = request.url ?? "";
    asked.push(path.basename(url));
    const content = files.get(url);
    if (content !== undefined && breaking.has(url))
      response
        .writeHead(200, { "content-length": content.length })
        .write(content.subarray(0, 10), () => response.destroy());
    else response.writeHead(content === undefined ? 404 : 200, { connection: "close" }).end(content);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    await rm(directory, { recursive: true });
  });
  const address = server.address();
  const mirror = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const env = {
    JANUS_CACHE: path.join(directory, "cache"),
    JANUS_KUBERNETES_MIRROR: mirror,
    JANUS_ETCD_MIRROR: mirror,
    JANUS_HELM_MIRROR: mirror,
    PATH: path.join(directory, "bin"),
  };
  return { directory, env, files, breaking, asked };
};

/** Puts a `go` on the machine's PATH whose builds are instant. It leaves the go.mod it built with in `directory`. */
export const installGo = ({ directory, env }: Machine): Promise<void> =>
  writeExecutable(
    path.join(env["PATH"] ?? "", "go"),
    `#!/bin/sh
PATH=/usr/bin:/bin
make() { printf '%s' '${fakeBinary("VERSION", "go")}' | sed "s/VERSION/$2/" > "$1"; }
case "$*" in
  "mod download"*) echo '{"GoMod": "/its/go.mod"}' ;;
  "mod edit"*) echo '{"Go": "1.26.0", "Require": [{"Path": "k8s.io/api", "Version": "v0.0.0"}, {"Path": "example.com/yaml", "Version": "v1.2.3"}], "Replace": [{"Old": {"Path": "k8s.io/api"}, "New": {"Path": "./staging/src/k8s.io/api"}}]}' ;;
  build*)
    cp go.mod "${directory}/$(basename "$PWD").go.mod"
    for argument in "$@"; do
      case $argument in
        k8s.io/kubernetes/cmd/*) make "$(basename "$argument")" ${kubernetesVersion} ;;
        .) make binaries ${versions.etcd} ;;
        helm.sh/*) make helm ${versions.helm} ;;
        sigs.k8s.io/kwok/*) make kwok ${versions.kwok} ;;
      esac
    done ;;
esac
`,
  );

export const placeOf = ({ env }: Machine, name: BinaryName): string =>
  path.join(env["JANUS_CACHE"] ?? "", "control-plane", `${kubernetesVersion}-${platform.os}-${platform.arch}`, name);
