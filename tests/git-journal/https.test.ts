// Git over https: certificates and credentials are checked, what is wrong is told with what to do, and no credential is ever shown.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Outcome } from "../../packages/git-journal/src/core/git/cycle.ts";
import type { Authentication, Credentials } from "../../packages/git-journal/src/core/credentials.ts";
import { startGitServer } from "../fixtures/git-server.ts";
import { type CycleOptions, live, type Side, sideOf } from "./world.ts";

const PASSWORD = "p@ss: wörd/4711";
const TOKEN = "ghp_0815-token";

const basic = `Basic ${Buffer.from(`alice:${PASSWORD}`).toString("base64")}`;
const byPassword: Credentials = { by: "password", username: "alice", password: PASSWORD };
const byToken: Credentials = { by: "token", token: TOKEN };

type ServerOptions = NonNullable<Parameters<typeof startGitServer>[0]>;

const world = async (options: ServerOptions = {}, authentication: Partial<Authentication> = {}) => {
  const server = await startGitServer(options);
  onTestFinished(server.stop);
  const side = await sideOf({
    url: server.url,
    secret: "shop/cred",
    authentication: { ca: server.ca, ...authentication },
  });
  return { server, side };
};

const cycle = async (side: Side, options: CycleOptions = {}): Promise<Outcome> => {
  const outcome = await side.cycle({ wanted: live({ "prod/a.yaml": "1" }), ...options });
  expect(readdirSync(side.memory)).toEqual([]);
  return outcome;
};

const readsOnly: NonNullable<ServerOptions>["fault"] = ({ path: at }) =>
  at.includes("receive-pack") ? { answers: 403 } : undefined;

const repeats = () => ({
  answers: 403,
  headers: { "content-type": "text/plain" },
  body: `Permission to shop/live.git denied to ${TOKEN}.\n`,
});

/** Empty: it has ended. */
const readProcess = (pid: string, file: "cmdline" | "environ"): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
};

describe("credentials", () => {
  it.each([
    ["a user name and a password", basic, byPassword],
    ["a token", `Bearer ${TOKEN}`, byToken],
  ])("are sent with each request: %s", async (_, authorization, credentials) => {
    const { server, side } = await world({ authorization }, { credentials });
    expect(await cycle(side)).toMatchObject({ is: "pushed" });
    expect(new Set(server.requests.map((request) => request.authorization))).toEqual(new Set([authorization]));
  });

  it.each<readonly [string, Credentials, RegExp]>([
    [
      "wrong ones",
      { ...byPassword, password: "no" },
      /^127\.0\.0\.1 does not accept the credentials of Secret shop\/cred/u,
    ],
    ["none", { by: "nothing" }, /: they are missing, wrong or expired$/u],
  ])("that are %s are told, and nobody is asked for others", async (_, credentials, message) => {
    const { side } = await world({ authorization: basic }, { credentials });
    const outcome = await cycle(side);
    expect(outcome).toMatchObject({
      is: "failed",
      trouble: { reason: "AuthenticationFailed", message: expect.stringMatching(message), lasts: true },
    });
  });

  it("that may read but not write are told", async () => {
    const { side } = await world({ fault: readsOnly });
    expect(await cycle(side)).toMatchObject({ is: "failed", trouble: { reason: "AuthenticationFailed" } });
  });

  it.each([
    ["accepted", basic, "pushed"],
    ["refused", "Basic no", "failed"],
  ])("are in no argument of a process, in no file, and in nothing that is told, when they are %s", async (...row) => {
    const [, authorization, is] = row;
    const shown: string[] = [];
    // While a request waits for its answer, git and all that it has started are there.
    const onPhase = (): void => {
      for (const pid of readdirSync("/proc").filter((name) => /^\d+$/u.test(name)))
        shown.push(readProcess(pid, "cmdline"));
    };
    const { side } = await world({ authorization, onPhase }, { credentials: byPassword });
    const outcome = await cycle(side, {
      around: (git) => async (process) => {
        const answer = await git(process);
        shown.push(JSON.stringify(process.args));
        return answer;
      },
    });
    expect(outcome.is).toBe(is);
    const files = readdirSync(side.directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(path.join(parentPath, name), "latin1"));
    const all = [...shown, ...files, JSON.stringify(outcome)].join("\n");
    expect(all).toContain("git-remote-https\0origin");
    for (const form of [PASSWORD, encodeURIComponent(PASSWORD), basic]) expect(all).not.toContain(form);
  });

  it("that a server repeats are taken out of what it says", async () => {
    const { side } = await world({ fault: repeats }, { credentials: byToken });
    expect(JSON.stringify(await cycle(side))).toContain("denied to ***");
  });
});

describe("a server", () => {
  it.each<readonly [string, ServerOptions, Partial<Authentication>, string, RegExp]>([
    ["whose CA is not known", {}, { ca: undefined }, "CertificateUnknown", /add it to Secret shop\/cred as ca\.crt$/u],
    [
      "that sends its clients elsewhere",
      { fault: () => ({ answers: 301, headers: { location: "https://git.example.com/moved.git/info/refs" } }) },
      {},
      "InvalidURL",
      /is redirected to https:\/\/git\.example\.com\/moved\.git \(HTTP 301\), which is not followed: set repoUrl/u,
    ],
    [
      "that has no such repository",
      { fault: () => ({ answers: 404 }) },
      {},
      "ConnectionFailed",
      /^there is no repository at https:\/\/127\.0\.0\.1:\d+\/live\.git, or the credentials of Secret shop\/cred may not read it/u,
    ],
    ["that is overloaded", { fault: () => ({ answers: 503 }) }, {}, "ConnectionFailed", /503/u],
    [
      "that resets connections",
      { fault: () => "reset" },
      {},
      "ConnectionFailed",
      /^the connection to 127\.0\.0\.1 failed/u,
    ],
  ])("%s is told, with what to do", async (_, options, authentication, reason, message) => {
    const { side } = await world(options, authentication);
    const outcome = await cycle(side);
    expect(outcome).toMatchObject({ is: "failed", trouble: { reason, message: expect.stringMatching(message) } });
  });

  const ADVERTISEMENT = "application/x-git-upload-pack-advertisement";
  it.each<readonly [number, string, string, RegExp]>([
    [401, "text/plain", "SECRET\nfatal: SECRET\n", /missing, wrong or expired$/u],
    [403, "text/plain", "SECRET\nremote: SECRET\rfatal: SECRET", /returned error: 403$/u],
    [404, "text/plain", "Repository not found: SECRET\nSECRET", /may not read it: Repository not found$/u],
    [404, "text/plain; charset=utf-8", "SECRET", /' not found$/u],
    [418, "text/plain", "SECRET", /returned error: 418$/u],
    [500, "text/plain", "SECRET", /returned error: 500$/u],
    [302, "text/plain", "SECRET", /is redirected \(HTTP 302\)/u],
    [200, "text/html", "<p>SECRET</p>\n", /is this a git repository/u],
    [200, "text/plain", "SECRET\nSECRET", /is this a git repository/u],
    [200, "application/json", '{"a":"SECRET"}', /./u],
    [200, ADVERTISEMENT, "000bSECRET\n0000", /invalid server response$/u],
  ])(
    "that is none of Git, and answers %i with %s, is told without what it says",
    async (answers, type, body, message) => {
      const headers = {
        "content-type": type,
        location: "http://inside/login?token=SECRET",
        "www-authenticate": "SECRET",
      };
      const { side } = await world({ tls: false, fault: () => ({ answers, headers, body }) });
      const outcome = await cycle(side);
      expect(outcome).toMatchObject({ is: "failed", trouble: { message: expect.stringMatching(message) } });
      expect(JSON.stringify(outcome)).not.toContain("SECRET");
    },
  );

  it("is told that is not there, or has no name", async () => {
    const { side, server } = await world();
    server.stop();
    expect(await cycle(side)).toMatchObject({ trouble: { reason: "ConnectionFailed", lasts: false } });
    const nowhere = await sideOf({ url: "https://git.invalid/live.git" });
    expect(await cycle(nowhere)).toMatchObject({
      trouble: { message: "the name git.invalid cannot be resolved: check repoUrl, and the DNS of the cluster" },
    });
  });

  it("never learns of credentials where it sends its clients: a redirect is not followed", async () => {
    const { server: other } = await world();
    const location = `${other.url}/info/refs?service=git-upload-pack`;
    const { side } = await world({ fault: () => ({ answers: 302, headers: { location } }) }, { credentials: byToken });
    await cycle(side);
    expect(other.requests).toEqual([]);
  });

  it("that says nothing any more is given up at the deadline, with no process left", async () => {
    const { side } = await world({ fault: () => "silence" });
    const outcome = await cycle(side, { deadlines: { fetch: 1 } });
    expect(outcome).toMatchObject({
      is: "failed",
      trouble: {
        reason: "ConnectionFailed",
        message:
          "git and 127.0.0.1 did not come to an end within 1 s: the server is slow, or the network loses what is sent",
        lasts: false,
      },
    });
    const left = readdirSync("/proc").filter(
      (pid) => /^\d+$/u.test(pid) && readProcess(pid, "environ").includes(side.clone),
    );
    expect(left).toEqual([]);
  });

  it("that sends half of what was fetched leaves the clone as it was", async () => {
    const network = { isBad: true };
    const { side } = await world({
      fault: ({ path: at, method }) =>
        network.isBad && method === "POST" && at.endsWith("upload-pack") ? { cutsReplyAfter: 100 } : undefined,
    });
    network.isBad = false;
    await cycle(side);
    network.isBad = true;
    expect(await cycle(side, { start: "disk" })).toMatchObject({
      is: "failed",
      trouble: { reason: "ConnectionFailed" },
    });
    network.isBad = false;
    expect(await cycle(side, { start: "clone" })).toMatchObject({ is: "current" });
  });
});
