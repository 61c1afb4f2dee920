// Runs the commands of docs/git-journal.md: from the installation to a commit, against a real git server.
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { bareCluster } from "../deploy/own-cluster.ts";
import { commandsOf } from "../deploy/page-commands.ts";
import { controllerProcess } from "../fixtures/controller-process.ts";
import { gitOf, startGitServer } from "../fixtures/git-server.ts";
import { shellOf } from "../fixtures/shell.ts";

const program = path.resolve(import.meta.dirname, "../../packages/git-journal/src/shell/main.ts");
const STARTS = /^npm run -s controller -- --git-journal (.*)$/mu;

it("docs/git-journal.md goes from the installation to a commit in five commands", async () => {
  const cluster = await bareCluster();
  onTestFinished(cluster.stop);
  const [user, token] = ["me", "s3cret"];
  const authorization = `Basic ${Buffer.from(`${user}:${token}`).toString("base64")}`;
  const server = await startGitServer({ authorization, tls: false });
  onTestFinished(server.stop);
  const home = await mkdtemp(path.join(os.tmpdir(), "git-journal-page-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  const shell = shellOf(cluster, {
    env: {
      GIT_URL: server.url,
      GIT_USER: user,
      GIT_TOKEN: token,
      // That of whoever reads the page.
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "http.extraHeader",
      GIT_CONFIG_VALUE_0: `Authorization: ${authorization}`,
    },
  });
  const run = async (script: string): Promise<string> => {
    const { code, stdout, stderr } = await shell(script);
    expect(code, `${script}\n${stdout}\n${stderr}`).toBe(0);
    return stdout;
  };
  const git = gitOf(server.directory);
  const isCommitted = () =>
    git(["for-each-ref", "refs/heads/main"]) !== "" &&
    git(["log", "--name-only", "main"]).includes("core/v1/configmaps/shop/settings.yaml");

  let printed = "";
  for (const block of commandsOf("docs/git-journal.md", "Five commands")) {
    const script = block.replaceAll("/tmp/", `${home}/`);
    const flags = STARTS.exec(script)?.[1];
    if (flags !== undefined) {
      controllerProcess(
        [`--kubeconfig=${cluster.kubeconfig}`, ...flags.split(" ")],
        { PATH: process.env["PATH"] },
        program,
      );
      continue;
    }
    // The page says how long it takes.
    if (script.startsWith("git clone")) await vi.waitUntil(isCommitted, { timeout: 300_000, interval: 200 });
    printed = await run(script);
  }
  expect(printed).toContain("clusters/prod/core/v1/configmaps/shop/settings.yaml");
  expect(printed).toContain("clusters/prod/.configbutler/owner.yaml");
  expect(git(["show", "main:clusters/prod/core/v1/configmaps/shop/settings.yaml"])).toContain("currency: EUR");
  expect(git(["show", "main:clusters/prod/core/v1/secrets/shop/git.yaml"])).not.toContain(
    Buffer.from(token).toString("base64"),
  );
});
