import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type Connection, type Credentials, entriesOfKubeconfig, loadConfig } from "@janus/kube";
import * as E from "fp-ts/lib/Either.js";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createAuthority, issue, type Pair } from "../../control-plane/certificates.ts";

const directory = async (files: Readonly<Record<string, object | string>> = {}): Promise<string> => {
  const home = await mkdtemp(join(tmpdir(), "janus-config-"));
  onTestFinished(() => rm(home, { recursive: true }));
  for (const [name, content] of Object.entries(files))
    await writeFile(join(home, name), typeof content === "string" ? content : JSON.stringify(content));
  return home;
};

const kubeconfig = (user: object = {}, cluster: object = {}, context: object = {}) => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "c", cluster: { server: "https://server:6443", ...cluster } }],
  users: [{ name: "u", user }],
  contexts: [{ name: "x", context: { cluster: "c", user: "u", ...context } }],
  "current-context": "x",
});

const load = async (content: object | string, files: Readonly<Record<string, string>> = {}) => {
  const home = await directory({ config: content, ...files });
  return loadConfig({ KUBECONFIG: join(home, "config") });
};

const connection = (loaded: E.Either<string, Connection>): Connection => {
  if (E.isLeft(loaded)) throw new Error(loaded.left);
  return loaded.right;
};
const credentials = async (
  user: object,
  cluster: object = {},
  files: Readonly<Record<string, string>> = {},
): Promise<Credentials> => connection(await load(kubeconfig(user, cluster), files)).credentials();

const base64 = (text: string) => Buffer.from(text).toString("base64");
const pair = async (): Promise<Pair> => issue(await createAuthority(), { name: "u" });

describe("a kubeconfig", () => {
  it("says where the server is, and in which namespace one works", async () => {
    const home = await directory({
      config: kubeconfig({}, { server: "https://server:6443/prefix/" }, { namespace: "ns" }),
    });
    expect(connection(loadConfig({ KUBECONFIG: join(home, "config") }))).toMatchObject({
      server: "https://server:6443/prefix",
      namespace: "ns",
    });
  });

  it("is the one of the flag before that of the environment, and that before the one at home", async () => {
    const flag = kubeconfig({}, { server: "https://flag" });
    const home = await directory({ flag, env: kubeconfig({}, { server: "https://env" }) });
    const env = { KUBECONFIG: join(home, "env"), HOME: home };
    expect(loadConfig(env, join(home, "flag"))).toMatchObject(E.right({ server: "https://flag" }));
    expect(loadConfig(env)).toMatchObject(E.right({ server: "https://env" }));
  });

  it("may be several files, of which the first that says something wins, and which need not all exist", async () => {
    const first = { ...kubeconfig({ token: "first" }), clusters: [], contexts: [] };
    const second = kubeconfig({ token: "second" }, { server: "https://second" });
    const home = await directory({ first, second: { ...second, "current-context": "other" } });
    const files = ["missing", "first", "second"].map((name) => join(home, name));
    const loaded = connection(loadConfig({ KUBECONFIG: files.join(delimiter) }));
    expect(loaded.server).toBe("https://second");
    expect((await loaded.credentials()).headers).toEqual({ authorization: "Bearer first" });
  });

  it("gives another cluster and another user than those of the context, and says which are missing", async () => {
    const first = kubeconfig({ token: "first" }, { server: "https://first" });
    const others = {
      clusters: [{ name: "other", cluster: { server: "https://other" } }],
      users: [{ name: "someone", user: { token: "theirs" } }],
    };
    const home = await directory({ first, others: { ...first, contexts: [], ...others } });
    const env = { KUBECONFIG: ["first", "others"].map((name) => join(home, name)).join(delimiter) };
    const loaded = connection(loadConfig(env, undefined, { cluster: "other", user: "someone" }));
    expect(loaded.server).toBe("https://other");
    expect((await loaded.credentials()).headers).toEqual({ authorization: "Bearer theirs" });
    expect(entriesOfKubeconfig(env, undefined)).toMatchObject({
      cluster: expect.arrayContaining(["other"]) as unknown,
      user: expect.arrayContaining(["someone"]) as unknown,
    });
    expect(loadConfig(env, undefined, { cluster: "nowhere" })).toEqual(
      E.left(expect.stringMatching(/the cluster "nowhere" does not exist/u)),
    );
    expect(entriesOfKubeconfig({ KUBECONFIG: "/none" }, undefined)).toEqual({ context: [], cluster: [], user: [] });
  });

  it("may name no user at all", async () => {
    const { ca } = await createAuthority().then(({ certificate }) => ({ ca: certificate }));
    const anonymous = kubeconfig({}, { "certificate-authority-data": base64(ca) }, { user: undefined });
    const { headers, tls } = await connection(await load(anonymous)).credentials();
    expect({ headers, ca: String(tls.ca) }).toEqual({ headers: {}, ca });
  });
});

describe("credentials", () => {
  it("are a token", async () => {
    expect((await credentials({ token: "t" })).headers).toEqual({ authorization: "Bearer t" });
  });

  it("are a user name and password", async () => {
    expect((await credentials({ username: "u", password: "p" })).headers).toEqual({
      authorization: `Basic ${base64("u:p")}`,
    });
  });

  it("are a token in a file, relative to the kubeconfig, which is followed when it changes", async () => {
    const home = await directory({ config: kubeconfig({ tokenFile: "token" }), token: "one\n" });
    const loaded = connection(loadConfig({ KUBECONFIG: join(home, "config") }));
    expect((await loaded.credentials()).headers).toEqual({ authorization: "Bearer one" });
    await writeFile(join(home, "token"), "two\n");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect((await loaded.credentials()).headers).toEqual({ authorization: "Bearer two" });
  });

  it("are a client certificate, inline or in files relative to the kubeconfig, which are followed", async () => {
    const { certificate, key } = await pair();
    const inline = await credentials({
      "client-certificate-data": base64(certificate),
      "client-key-data": base64(key),
    });
    expect([inline.tls.cert, inline.tls.key].map(String)).toEqual([certificate, key]);
    const home = await directory({
      config: kubeconfig({ "client-certificate": "u.crt", "client-key": "u.key" }),
      "u.crt": certificate,
      "u.key": key,
    });
    const loaded = connection(loadConfig({ KUBECONFIG: join(home, "config") }));
    expect(String((await loaded.credentials()).tls.cert)).toBe(certificate);
    const next = await pair();
    await writeFile(join(home, "u.crt"), next.certificate);
    expect(String((await loaded.credentials()).tls.cert)).toBe(next.certificate);
  });

  it("are what a plugin prints, which is run again when that has expired", async () => {
    const home = await directory({
      plugin: [
        "#!/bin/sh",
        'echo x >> "$COUNT"',
        'n=$(wc -l < "$COUNT" | tr -d " ")',
        // The first is too old already.
        '[ "$n" = 1 ] && year=2000 || year=2999',
        'echo "{\\"kind\\":\\"ExecCredential\\",\\"status\\":{\\"token\\":\\"$n\\",\\"expirationTimestamp\\":\\"$year-01-01T00:00:00Z\\"}}"',
      ].join("\n"),
    });
    await chmod(join(home, "plugin"), 0o755);
    const exec = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: join(home, "plugin"),
      env: [{ name: "COUNT", value: join(home, "count") }],
    };
    const loaded = connection(await load(kubeconfig({ exec })));
    const tokens = [await loaded.credentials(), await loaded.credentials(), await loaded.credentials()];
    expect(tokens.map(({ headers }) => headers["authorization"])).toEqual(["Bearer 1", "Bearer 2", "Bearer 2"]);
  });

  it("are asked of a plugin beside the kubeconfig in the words that plugins expect", async () => {
    const plugin = `#!/bin/sh
echo "{\\"status\\":{\\"token\\":\\"$(echo "$KUBERNETES_EXEC_INFO" | base64 | tr -d '\\n')\\"}}"`;
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "./plugin" };
    const home = await directory({ plugin, config: kubeconfig({ exec }) });
    await chmod(join(home, "plugin"), 0o755);
    const { headers } = await connection(loadConfig({ KUBECONFIG: join(home, "config") })).credentials();
    expect(
      JSON.parse(Buffer.from(headers["authorization"]?.slice("Bearer ".length) ?? "", "base64").toString()),
    ).toEqual({
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      spec: { interactive: false },
    });
  });

  it("are missing, with the reason, when a plugin fails", async () => {
    const failing = {
      apiVersion: "client.authentication.k8s.io/v1",
      command: "sh",
      args: ["-c", "echo not logged in >&2; exit 1"],
    };
    await expect(credentials({ exec: failing })).rejects.toThrow("not logged in");
    await expect(credentials({ exec: { ...failing, command: "no-such-plugin" } })).rejects.toThrow("no-such-plugin");
  });

  it("carry the TLS options", async () => {
    const { certificate } = await createAuthority();
    const { tls } = await credentials(
      { token: "t" },
      { "certificate-authority": "ca.crt", "tls-server-name": "other" },
      { "ca.crt": certificate },
    );
    expect({ ...tls, ca: String(tls.ca) }).toEqual({ ca: certificate, servername: "other" });
    expect((await credentials({}, { "insecure-skip-tls-verify": true })).tls).toEqual({ rejectUnauthorized: false });
  });

  it("know the proxy, and plain http for a kubectl proxy", async () => {
    const loaded = connection(
      await load(kubeconfig({}, { server: "http://127.0.0.1:8001", "proxy-url": "http://proxy:3128" })),
    );
    expect(loaded).toMatchObject({ server: "http://127.0.0.1:8001", proxy: "http://proxy:3128" });
    await expect(loaded.credentials()).resolves.toMatchObject({ headers: {} });
  });
});

describe("a kubeconfig that cannot be used", () => {
  it.each<[string, object | string, RegExp]>([
    ["empty", "", /empty/],
    ["no YAML", "clusters: [", /cannot be used as a kubeconfig/],
    ["no mapping", "- a", /no YAML mapping/],
    ["something else", { apiVersion: "v1", kind: "ConfigMap" }, /its kind is "ConfigMap", not "Config"/],
    ["not a list", { ...kubeconfig(), users: { u: {} } }, /"users" is not a list/],
    ["a cluster without a server", kubeconfig({}, { server: undefined }), /clusters\[0\]\.cluster\.server is missing/],
    ["no current context", { ...kubeconfig(), "current-context": "" }, /no current-context is set.*known: x/],
    [
      "a current context that does not exist",
      { ...kubeconfig(), "current-context": "y" },
      /the current-context "y" does not exist.*known: x/,
    ],
    ["a context without its cluster", kubeconfig({}, {}, { cluster: "z" }), /the cluster "z", which does not exist/],
    ["a context without its user", kubeconfig({}, {}, { user: "z" }), /the user "z", which does not exist/],
    ["a server that is no URL", kubeconfig({}, { server: "server:6443" }), /must be an http\(s\) URL/],
    [
      "an unknown kind of proxy",
      kubeconfig({}, { "proxy-url": "ftp://proxy" }),
      /proxy-url of cluster "c".*use http, https or socks5/,
    ],
    ["a certificate file that is not there", kubeconfig({ "client-certificate": "none.crt" }), /none\.crt/],
    ["a token file that is not there", kubeconfig({ tokenFile: "none" }), /none/],
    [
      "a CA that is no certificate",
      kubeconfig({}, { "certificate-authority-data": base64("x") }),
      /credentials of user "u" for cluster "c" cannot be read/,
    ],
    [
      "an impersonation that would be lost",
      kubeconfig({ as: "a", "as-groups": ["g"] }),
      /as-groups, which is not supported/,
    ],
  ])("says why, and names the file: %s", async (_, content, message) => {
    const loaded = await load(content);
    expect(loaded).toEqual(E.left(expect.stringMatching(message)));
    expect(loaded).toEqual(E.left(expect.stringMatching(/KUBECONFIG.*janus-config-\w+\/config/)));
  });

  it("names the file that is missing, and where it was asked for", () => {
    expect(loadConfig({ KUBECONFIG: "/none/config" })).toEqual(
      E.left(expect.stringMatching(/^KUBECONFIG: \/none\/config .*no such file or directory/)),
    );
    expect(loadConfig({}, "/none/config")).toEqual(
      E.left(expect.stringMatching(/^--kubeconfig: \/none\/config .*no such file or directory/)),
    );
  });

  it("says what to set when there is none at all", () => {
    expect(loadConfig({ HOME: "/none" })).toEqual(E.left(expect.stringMatching(/Set KUBECONFIG/)));
  });
});
