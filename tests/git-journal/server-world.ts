// A git server of this machine, a worker's side of its branch, and another writer in the repository itself.
import { onTestFinished } from "vitest";
import { gitOf, startGitServer } from "../fixtures/git-server.ts";
import { sideOf } from "./world.ts";

/** A server, one side, and git in the server's repository. */
export const world = async (options: Parameters<typeof startGitServer>[0] = {}) => {
  const server = await startGitServer({ tls: false, ...options });
  onTestFinished(server.stop);
  const git = gitOf(server.directory);
  const files = (ref = "main"): Record<string, string> =>
    Object.fromEntries(
      git(["ls-tree", "-r", "--name-only", ref])
        .split("\n")
        .map((at) => [at, git(["cat-file", "blob", `${ref}:${at}`])]),
    );
  return {
    server,
    git,
    files,
    side: await sideOf({ url: server.url }),
    log: (format = "%an: %s") => git(["log", `--format=${format}`, "main"]).split("\n"),
  };
};

/** Another writer commits in the repository itself. */
export const commitsElsewhere = (git: ReturnType<typeof gitOf>, at: string, text: string, parent = "main"): string => {
  const has = git(["for-each-ref", "refs/heads/main"]) !== "";
  git(
    ["fast-import", "--quiet", "--force"],
    `commit refs/heads/main\ncommitter Eve <eve@example.com> 1700000000 +0000\ndata 4\nelse${
      has ? `\nfrom ${git(["rev-parse", parent])}` : ""
    }\nM 100644 inline ${at}\ndata ${Buffer.byteLength(text)}\n${text}\n`,
  );
  return git(["rev-parse", "main"]);
};
