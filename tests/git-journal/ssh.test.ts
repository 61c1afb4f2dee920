// Git over ssh: host keys are checked, keys are files only as long as git runs, and what is wrong is told apart.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Credentials } from "../../packages/git-journal/src/core/credentials.ts";
import { PASSPHRASE_FILE } from "../../packages/git-journal/src/shell/credentials.ts";
import { gitOf } from "../fixtures/git-server.ts";
import { hasSsh, PASSPHRASE, type SshServer, startSshServer } from "../fixtures/ssh-server.ts";
import { type CycleOptions, live, newDirectory, sideOf } from "./world.ts";

const world = async (): Promise<SshServer> => {
  const server = await startSshServer();
  onTestFinished(server.stop);
  return server;
};

const cycle = async (
  { url, knownHosts, keys }: SshServer,
  key: Partial<Extract<Credentials, { readonly by: "key" }>> = {},
  options: CycleOptions = {},
) => {
  const credentials = { by: "key", privateKey: keys.plain, passphrase: undefined, knownHosts, ...key } as const;
  const side = await sideOf({ url, authentication: { credentials }, secret: "shop/cred" });
  const outcome = await side.cycle({ wanted: live({ "prod/a.yaml": "1" }), ...options });
  expect(readdirSync(side.memory)).toEqual([]);
  return outcome;
};

describe.runIf(hasSsh)("over ssh", () => {
  it("a branch is written with a key and a known host key", async () => {
    const server = await world();
    expect(await cycle(server)).toMatchObject({ is: "pushed" });
    expect(gitOf(server.directory)(["cat-file", "blob", "main:prod/a.yaml"])).toBe("1");
  });

  it("a key with a passphrase works, however its lines end", async () => {
    const server = await world();
    const key = { privateKey: server.keys.locked.trim().replaceAll("\n", "\r\n"), passphrase: PASSPHRASE };
    expect(await cycle(server, key)).toMatchObject({ is: "pushed" });
  });

  it("neither the key nor its passphrase is in the arguments or the environment of a process", async () => {
    const server = await world();
    const directory = newDirectory();
    const dump = path.join(directory, "dump");
    writeFileSync(
      path.join(directory, "ssh"),
      `#!/bin/sh\n{ tr '\\0' '\\n' </proc/$$/cmdline; env; echo "mode $(stat -c %a "$${PASSPHRASE_FILE}")"; } >>${dump}\nexec /usr/bin/ssh "$@"\n`,
      { mode: 0o755 },
    );
    const env = { PATH: `${directory}:${process.env["PATH"]}` };
    const key = { privateKey: server.keys.locked, passphrase: PASSPHRASE };
    expect(await cycle(server, key, { env })).toMatchObject({ is: "pushed" });
    const shown = readFileSync(dump, "utf8");
    expect(shown).toMatch(/^mode 600$/mu);
    expect(shown).not.toContain(PASSPHRASE);
    expect(shown).not.toContain(server.keys.locked.split("\n")[1]);
  });

  it.each<readonly [string, (server: SshServer) => Parameters<typeof cycle>[1], string, RegExp]>([
    [
      "an unknown host key",
      () => ({ knownHosts: "" }),
      "HostKeyUnknown",
      /^known_hosts of Secret shop\/cred has no host key of 127\.0\.0\.1: add the output of ssh-keyscan -p \d+ 127\.0\.0\.1$/u,
    ],
    [
      "a changed host key",
      ({ port, foreignHostKey }) => ({ knownHosts: `[127.0.0.1]:${port} ${foreignHostKey}` }),
      "HostKeyChanged",
      /^127\.0\.0\.1 has another host key than known_hosts of Secret shop\/cred says/u,
    ],
    [
      "a key that the server does not know",
      ({ keys }) => ({ privateKey: keys.foreign }),
      "AuthenticationFailed",
      /^127\.0\.0\.1 does not accept the credentials of Secret shop\/cred for ssh:.*: it does not know the key/u,
    ],
    ["what is no key", () => ({ privateKey: "no key\n" }), "SecretMalformed", /^the private key of Secret shop\/cred/u],
    [
      "a wrong passphrase",
      ({ keys }) => ({ privateKey: keys.locked, passphrase: "wrong" }),
      "AuthenticationFailed",
      /passphrase/u,
    ],
    ["no passphrase", ({ keys }) => ({ privateKey: keys.locked }), "AuthenticationFailed", /passphrase/u],
  ])("%s is told, with what to do", async (_, key, reason, message) => {
    const server = await world();
    const outcome = await cycle(server, key(server));
    expect(outcome).toMatchObject({
      is: "failed",
      trouble: { reason, message: expect.stringMatching(message), lasts: true },
    });
  });

  it("a repository that is not there is told", async () => {
    const server = await world();
    const outcome = await cycle({ ...server, url: `${server.url}.gone` });
    expect(outcome).toMatchObject({
      is: "failed",
      trouble: { reason: "ConnectionFailed", message: expect.stringMatching(/^there is no repository at ssh:/u) },
    });
  });
});
