// Gives git the credentials of one repository: in headers of its environment, or in files that are removed after use.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Authentication } from "../core/credentials.ts";
import type { Access } from "./git-environment.ts";

export interface Places {
  /** A directory in memory, of this process alone: what an earlier one has left in it is removed at start. */
  readonly memory: string;
  /** A program that prints the file which {@link PASSPHRASE_FILE} names. */
  readonly askpass: string;
}

export const PASSPHRASE_FILE = "JANUS_GIT_PASSPHRASE_FILE";

/** The text of the program. It has no secret, and is on the disk: a volume in memory may forbid to execute its files. */
export const ASKPASS = `#!/bin/sh\nexec cat -- "$${PASSPHRASE_FILE}"\n`;

const basic = (username: string, password: string): string =>
  `Authorization: Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

const header = (value: string): Access["config"] => [["http.extraHeader", value]];

/** The file of a key: OpenSSH reads none with line ends of Windows, nor one whose last line has no end. */
const keyFile = (text: string): string => `${text.replaceAll("\r\n", "\n").trim()}\n`;

/** The command for ssh: it checks host keys, uses only this key, and asks nobody. */
const sshCommand = (identity: string, knownHosts: string, hasPassphrase: boolean): string => {
  const options = {
    StrictHostKeyChecking: "yes",
    UserKnownHostsFile: `"${knownHosts}"`,
    GlobalKnownHostsFile: "/dev/null",
    UpdateHostKeys: "no",
    IdentityFile: `"${identity}"`,
    IdentitiesOnly: "yes",
    IdentityAgent: "none",
    PreferredAuthentications: "publickey",
    // BatchMode would not even ask the program that knows the passphrase.
    BatchMode: hasPassphrase ? "no" : "yes",
    NumberOfPasswordPrompts: "1",
    ClearAllForwardings: "yes",
    ConnectTimeout: "30",
    ServerAliveInterval: "15",
    ServerAliveCountMax: "4",
  };
  return ["ssh -F /dev/null", ...Object.entries(options).map(([name, value]) => `-o '${name}=${value}'`)].join(" ");
};

/**
 * Makes the access for `use`, and ends it afterwards.
 *
 * Guarantees: no credential is in an argument of a process; what is in a file is readable by this user alone, and gone when `use`
 *             has ended, however it has.
 */
export const withAccess = async <A>(
  { protocol, credentials, ca }: Authentication,
  { memory, askpass }: Places,
  use: (access: Access) => Promise<A>,
): Promise<A> => {
  const directory = await mkdtemp(path.join(memory, "git-"));
  const file = async (name: string, content: string): Promise<string> => {
    const at = path.join(directory, name);
    await writeFile(at, content, { mode: 0o600, flag: "wx" });
    return at;
  };
  const ways = async (): Promise<Omit<Access, "protocol">> => {
    switch (credentials.by) {
      case "nothing":
        return { config: [], env: {} };
      case "password":
        return { config: header(basic(credentials.username, credentials.password)), env: {} };
      case "token":
        return { config: header(`Authorization: Bearer ${credentials.token}`), env: {} };
      case "key": {
        const { passphrase } = credentials;
        const identity = await file("identity", keyFile(credentials.privateKey));
        const knownHosts = await file("known_hosts", keyFile(credentials.knownHosts));
        const GIT_SSH_COMMAND = sshCommand(identity, knownHosts, passphrase !== undefined);
        if (passphrase === undefined) return { config: [], env: { GIT_SSH_COMMAND } };
        return {
          config: [],
          env: {
            GIT_SSH_COMMAND,
            SSH_ASKPASS: askpass,
            SSH_ASKPASS_REQUIRE: "force",
            [PASSPHRASE_FILE]: await file("passphrase", passphrase),
          },
        };
      }
    }
  };
  try {
    const { config, env } = await ways();
    const authorities = ca === undefined ? {} : { GIT_SSL_CAINFO: await file("ca.crt", ca) };
    return await use({ protocol, config, env: { ...env, ...authorities } });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};
