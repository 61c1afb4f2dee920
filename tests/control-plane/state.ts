import { createHash, randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Binaries } from "./binaries/binary.ts";
import { issue, type Pair } from "./certificates.ts";

/** What there is to know of a running control plane. It is JSON, so that test runs can be told. */
export interface Facts {
  /** Its state: certificates, logs, data. Deleted when it stops. */
  readonly directory: string;
  readonly url: string;
  /** The certificate that its serving certificate is signed with, as PEM. */
  readonly ca: string;
  /** Path of the kubeconfig of an administrator (group system:masters). */
  readonly kubeconfig: string;
  readonly binaries: Binaries;
}

const factsFile = (directory: string) => path.join(directory, "facts.json");

export const writeFacts = (facts: Facts): Promise<void> => writeFile(factsFile(facts.directory), JSON.stringify(facts));

export const readFacts = async (directory: string): Promise<Facts> =>
  JSON.parse(await readFile(factsFile(directory), "utf8")) as Facts;

const secret = { mode: 0o600 };

/** Writes `<name>.crt` and `<name>.key`, and returns their paths. */
export const writePair = async (directory: string, name: string, pair: Pair): Promise<Pair> => {
  const paths = { certificate: path.join(directory, `${name}.crt`), key: path.join(directory, `${name}.key`) };
  await Promise.all([writeFile(paths.certificate, pair.certificate), writeFile(paths.key, pair.key, secret)]);
  return paths;
};

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** A kubeconfig that needs no other file. JSON is YAML. */
const kubeconfig = (url: string, ca: string, user: Pair): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "janus", cluster: { server: url, "certificate-authority-data": base64(ca) } }],
    users: [
      {
        name: "user",
        user: { "client-certificate-data": base64(user.certificate), "client-key-data": base64(user.key) },
      },
    ],
    contexts: [{ name: "janus", context: { cluster: "janus", user: "user" } }],
    "current-context": "janus",
  });

/**
 * Writes a kubeconfig for a user of this name and these groups.
 *
 * Returns: its path, which is the same for the same user.
 * Assumes: the authority of the control plane stands in `directory` as `ca.crt` and `ca.key`.
 */
export const userKubeconfig = async (
  { directory, url }: Pick<Facts, "directory" | "url">,
  name: string,
  groups: readonly string[] = [],
): Promise<string> => {
  const [certificate, key] = await Promise.all(
    ["ca.crt", "ca.key"].map((file) => readFile(path.join(directory, file), "utf8")),
  );
  if (certificate === undefined || key === undefined) throw new Error(`${directory} has no authority`);
  const user = await issue({ certificate, key }, { name, groups });
  const home = path.join(directory, "kubeconfigs");
  await mkdir(home, { recursive: true });
  const id = createHash("sha256")
    .update(JSON.stringify([name, ...groups]))
    .digest("hex")
    .slice(0, 12);
  const file = path.join(home, `${name.replace(/[^\w-]/g, "-").slice(0, 60)}-${id}`);
  // Another test file may write or read the same one at the same time: it is there whole or not at all.
  const whole = `${file}.${randomUUID()}`;
  await writeFile(whole, kubeconfig(url, certificate, user), secret);
  await rename(whole, file);
  return file;
};
