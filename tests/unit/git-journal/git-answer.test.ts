// Verdicts on what git, curl and OpenSSH say: transcripts of the real programs, and of hosts that tests cannot have.
import { describe, expect, it } from "vitest";
import type { BranchName } from "../../../packages/git-journal/src/core/git/branch-name.ts";
import {
  type GitFailure,
  type Place,
  pushVerdict,
  type Verdict,
  verdict,
} from "../../../packages/git-journal/src/core/git/git-answer.ts";

const PLACE: Place = {
  url: "https://git.example.com/shop/live.git",
  host: "git.example.com",
  port: undefined,
  branch: "main" as BranchName,
  secret: "shop/cred",
  scrub: (text) => text.replaceAll("4711", "***"),
};

const failure = (stderr: string, stdout = "", code = 128): GitFailure => ({
  ended: { by: "exit", code },
  stderr,
  stdout,
});

const trouble = (reason: string, message: string | RegExp, lasts: boolean) => ({
  is: "trouble",
  trouble: { reason, message: typeof message === "string" ? message : expect.stringMatching(message), lasts },
});

const unable = (words: string): string =>
  `fatal: unable to access 'https://git.example.com/shop/live.git/': ${words}\n`;

const PROMPT = "fatal: could not read Username for 'https://git.example.com': terminal prompts disabled\n";

const ended = (by: GitFailure["ended"]): Verdict => verdict(PLACE, { ended: by, stderr: "", stdout: "" });

it.each([
  PROMPT,
  unable("The requested URL returned error: 403"),
  unable("SSL certificate problem: self-signed certificate"),
  unable("Could not resolve host: git.example.com"),
  unable("Failed to connect to git.example.com port 443: Connection refused"),
  unable("dumb http transport does not support shallow capabilities"),
  "fatal: repository 'https://git.example.com/shop/live.git/' not found\n",
])("says nothing of fields where the URL is that of a flag: %s", (words) => {
  const said = verdict({ ...PLACE, secret: undefined, isOfFlag: true }, failure(words));
  expect(said).toMatchObject({ is: "trouble" });
  expect(JSON.stringify(said)).not.toMatch(/secretRef|repoUrl|gitPorts|Secret/u);
});

describe("an answer of git", () => {
  it.each<readonly [string, string, unknown]>([
    ["a branch that is not there", "fatal: couldn't find remote ref refs/heads/main\n", { is: "absent" }],
    [
      "another hash",
      "fatal: mismatched algorithms: client sha1; server sha256\n",
      { is: "other format", format: "sha256" },
    ],
    [
      "a lock file",
      "fatal: Unable to create '/work/1.git/shallow.lock': File exists.\n\nAnother git process seems to be running\n",
      {
        is: "unclean",
        trouble: {
          reason: "ConnectionFailed",
          message: "the clone of https://git.example.com/shop/live.git is locked by another process",
          lasts: false,
        },
      },
    ],
    [
      "no memory",
      "error: index-pack died of signal 9\nfatal: index-pack failed\n",
      {
        is: "unclean",
        trouble: expect.objectContaining({
          message: expect.stringMatching(/^a process of git was ended by signal 9 for .*: is there enough memory/u),
        }),
      },
    ],
    [
      "a server of files",
      "fatal: dumb http transport does not support shallow capabilities\n",
      trouble("ConnectionFailed", /is served as plain files, without the protocol of git/u, true),
    ],
    [
      "an empty object",
      "error: object file ./objects/ab/cd is empty\nfatal: loose object abcd is corrupt\n",
      { is: "damaged" },
    ],
    ["a missing tree", "fatal: unable to read tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n", { is: "damaged" }],
    ["no clone", "fatal: not a git repository: '/work/1.git'\n", { is: "damaged" }],
    [
      "a full disk",
      "fatal: write error: No space left on device\nfatal: fetch-pack: invalid index-pack output\n",
      {
        is: "disk full",
        trouble: {
          reason: "DiskFull",
          message:
            "the work directory is full: the clone is removed, and made again (write error: No space left on device fetch-pack: invalid index-pack output)",
          lasts: false,
        },
      },
    ],
    [
      "a disk that is full on the other side",
      "remote: fatal: write error: No space left on device\nfatal: the remote end hung up unexpectedly\n",
      trouble(
        "ConnectionFailed",
        "the connection to git.example.com failed: the remote end hung up unexpectedly",
        false,
      ),
    ],
    ["a redirect", unable("The requested URL returned error: 301"), { is: "redirected", status: "301" }],
    [
      "no access",
      `remote: Permission to shop/live.git denied to bot.\n${unable("The requested URL returned error: 403")}`,
      trouble(
        "AuthenticationFailed",
        "git.example.com does not accept the credentials of Secret shop/cred for https://git.example.com/shop/live.git (they must be allowed to read and push): Permission to shop/live.git denied to bot.",
        true,
      ),
    ],
    [
      "a wrong password",
      PROMPT,
      trouble(
        "AuthenticationFailed",
        "git.example.com does not accept the credentials of Secret shop/cred for https://git.example.com/shop/live.git: they are missing, wrong or expired",
        true,
      ),
    ],
    [
      "a wrong password, with words of the server",
      `remote: HTTP Basic: Access denied. See https://git.example.com/help\n${PROMPT}`,
      trouble("AuthenticationFailed", /live\.git: HTTP Basic: Access denied$/u, true),
    ],
    [
      "a wrong password, with words of who knows",
      `remote: one\nremote: two\n${PROMPT}`,
      trouble("AuthenticationFailed", /live\.git: they are missing, wrong or expired$/u, true),
    ],
    [
      "an unknown CA, of GnuTLS",
      unable("server certificate verification failed. CAfile: none CRLfile: none"),
      trouble("CertificateUnknown", /add it to Secret shop\/cred as ca\.crt$/u, true),
    ],
    [
      "an unknown CA, of OpenSSL",
      unable("SSL certificate problem: self-signed certificate in certificate chain"),
      trouble("CertificateUnknown", /self-signed certificate/u, true),
    ],
    [
      "no name",
      unable("Could not resolve host: git.example.com"),
      trouble(
        "ConnectionFailed",
        "the name git.example.com cannot be resolved: check repoUrl, and the DNS of the cluster",
        false,
      ),
    ],
    [
      "no name, of OpenSSH",
      "ssh: Could not resolve hostname git.example.com: Name or service not known\nfatal: Could not read from remote repository.\n",
      trouble("ConnectionFailed", /cannot be resolved/u, false),
    ],
    [
      "a server that is down",
      unable("Failed to connect to git.example.com port 443 after 1 ms: Couldn't connect to server"),
      trouble(
        "ConnectionFailed",
        /failed: check repoUrl, and that its port is one of gitJournal\.gitPorts \(unable to access/u,
        false,
      ),
    ],
    [
      "no repository, of GitHub over ssh",
      "ERROR: Repository not found.\nfatal: Could not read from remote repository.\n",
      trouble("ConnectionFailed", /^there is no repository at https:/u, true),
    ],
    [
      "what nobody has seen before",
      "fatal: something else\n",
      trouble("ConnectionFailed", "git failed for https://git.example.com/shop/live.git: something else", false),
    ],
    [
      "a deploy key that may only read, of GitHub over ssh",
      "ERROR: The key you are authenticating with has been marked as read only.\nfatal: Could not read from remote repository.\n",
      trouble("AuthenticationFailed", /marked as read only/u, true),
    ],
    [
      "a proxy that is not there",
      unable("Could not resolve proxy: proxy.example.com"),
      trouble(
        "ConnectionFailed",
        "the name proxy.example.com of the proxy cannot be resolved: check HTTPS_PROXY and NO_PROXY",
        false,
      ),
    ],
    [
      "a proxy that wants to know who asks",
      unable("Received HTTP code 407 from proxy after CONNECT"),
      trouble("AuthenticationFailed", "the proxy asks for credentials: put them into HTTPS_PROXY", true),
    ],
    [
      "a push that is too large for a proxy",
      "error: RPC failed; HTTP 413 curl 22 The requested URL returned error: 413\nfatal: the remote end hung up unexpectedly\n",
      trouble("PushRefused", /^git\.example\.com, or a proxy before it, takes no push of this size/u, true),
    ],
    ["nothing", "", trouble("ConnectionFailed", /git ended with exit code 128$/u, false)],
  ])("is understood: %s", (_, stderr, expected) => {
    expect(verdict(PLACE, failure(stderr))).toEqual(expected);
  });

  it.each([
    [
      PROMPT,
      "AuthenticationFailed",
      /^git\.example\.com asks for credentials for \S+, and there are none.*: set secretRef/u,
    ],
    ["fatal: repository 'x' not found\n", "ConnectionFailed", /, or it needs credentials \(no secretRef is set\): /u],
  ])("without a Secret says that credentials are missing: %s", (stderr, reason, message) => {
    expect(verdict({ ...PLACE, secret: undefined }, failure(stderr))).toEqual(trouble(reason, message, true));
  });

  it("that is long is shown with its first KiB, on one line, without control characters", () => {
    const found = verdict(PLACE, failure(`fatal: ${"\u001B[31mred\r\n".repeat(1000)}`)) as Verdict & { is: "trouble" };
    expect(found.trouble.message.length).toBeLessThan(1200);
    expect(found.trouble.message).not.toMatch(/\p{Cc}/u);
  });

  it("is understood as it is, and shown without credentials, though a password may be part of any word", () => {
    const place = { ...PLACE, scrub: (text: string) => text.replaceAll("failed", "***") };
    const stderr = "fatal: Authentication failed for 'https://git.example.com/shop/live.git/'\n";
    expect(verdict(place, failure(stderr))).toEqual(
      trouble("AuthenticationFailed", /: Authentication \*\*\* for/u, true),
    );
    const push = failure("remote: who is 4711?\n", line("!", "[remote rejected] (4711 declined)"), 1);
    expect(pushVerdict(PLACE, push)).toEqual(
      trouble("PushRefused", "git.example.com refuses pushes to main (*** declined): who is ***?", true),
    );
  });

  it("is not understood by the names that users have chosen", () => {
    const words = "certificate-verification-failed/is-corrupt/Host-key-verification-failed/bad-object";
    const place = { ...PLACE, url: `https://git.example.com/${words}.git`, branch: words as BranchName };
    expect(verdict(place, failure(`fatal: couldn't find remote ref refs/heads/${words}\n`))).toEqual({ is: "absent" });
    const unavailable = `fatal: unable to access '${place.url}/': The requested URL returned error: 503\n`;
    expect(verdict(place, failure(unavailable))).toEqual(trouble("ConnectionFailed", /error: 503$/u, false));
  });

  it("of a process that was ended, or never began, says so", () => {
    expect(ended({ by: "deadline", seconds: 120 })).toEqual(
      trouble("ConnectionFailed", /did not come to an end within 120 s/u, false),
    );
    expect(ended({ by: "signal", signal: "SIGKILL" })).toEqual(
      trouble("ConnectionFailed", /ended by SIGKILL$/u, false),
    );
    expect(ended({ by: "error", message: "write: no space left on device" })).toMatchObject({ is: "disk full" });
  });
});

const line = (flag: string, summary: string): string =>
  `To https://git.example.com/shop/live.git\n${flag}\t${"a".repeat(40)}:refs/heads/main\t${summary}\nDone\n`;

describe("an answer to a push", () => {
  it.each([
    "[rejected] (stale info)",
    "[rejected] (fetch first)",
    "[remote rejected] (cannot lock ref 'refs/heads/main': is at 1 but expected 2)",
    "[remote rejected] (cannot lock ref 'refs/heads/main': reference already exists)",
    "[remote rejected] (failed to update ref)",
    "[remote rejected] (incorrect old value provided)",
  ])("is that another one was first: %s", (summary) => {
    expect(pushVerdict(PLACE, failure("error: failed to push some refs\n", line("!", summary), 1))).toEqual({
      is: "stale",
    });
  });

  it.each([
    [
      "[remote rejected] (protected branch hook declined)",
      "remote: error: GH006: Protected branch update failed for refs/heads/main.\n",
      "git.example.com refuses pushes to main (protected branch hook declined): error: GH006: Protected branch update failed for refs/heads/main.",
    ],
    [
      "[remote rejected] (pre-receive hook declined)",
      "",
      "git.example.com refuses pushes to main (pre-receive hook declined)",
    ],
    [
      "[remote rejected] (unpacker error)",
      "error: remote unpack failed: unable to create temporary object directory\n",
      "git.example.com refuses pushes to main (unpacker error)",
    ],
    [
      "[remote rejected] (cannot lock ref 'refs/heads/main': 'refs/heads/main/x' exists; cannot create 'refs/heads/main')",
      "",
      "the server has a branch whose name is a folder of main, or the other way round: cannot lock ref 'refs/heads/main': 'refs/heads/main/x' exists; cannot create 'refs/heads/main'",
    ],
  ])("is that the server does not want it: %s", (summary, stderr, message) => {
    expect(pushVerdict(PLACE, failure(stderr, line("!", summary), 1))).toEqual(trouble("PushRefused", message, true));
  });

  it("is accepted by the word of the server alone: what is lost is trouble", () => {
    expect(pushVerdict(PLACE, failure("", line(" ", "1..2"), 1))).toEqual({ is: "accepted" });
    expect(pushVerdict(PLACE, failure("", line("=", "[up to date]"), 1))).toEqual({ is: "accepted" });
    const lost = [
      failure("fatal: the remote end hung up unexpectedly\n", "Done\n"),
      failure(
        "error: RPC failed; curl 52 Empty reply from server\n",
        line("!", "[remote failure] (remote failed to report status)"),
        1,
      ),
      { ...failure("", line(" ", "1..2")), ended: { by: "deadline", seconds: 120 } } as const,
    ];
    for (const one of lost)
      expect(pushVerdict(PLACE, one)).toMatchObject({
        is: "trouble",
        trouble: { reason: "ConnectionFailed", lasts: false },
      });
  });
});
