// A branch with its clone, as the controller has it: from the start of a process on, with all that is real.
import * as E from "fp-ts/lib/Either.js";
import { expect, it, onTestFinished } from "vitest";
import { repositoryUrl } from "../../packages/git-journal/src/core/repository-url.ts";
import { branchIn, type Circumstances } from "../../packages/git-journal/src/shell/branch.ts";
import { takeWorkDirectory } from "../../packages/git-journal/src/shell/work-directory.ts";
import { gitOf, startGitServer } from "../fixtures/git-server.ts";
import { branch, live, newDirectory, planOf } from "./world.ts";

it("is recovered before it is written, written from the tip that is known, and made small after the first time", async () => {
  const network = { isBad: true };
  const authorization = "Bearer marked-4711";
  const server = await startGitServer({
    authorization,
    fault: ({ isPush }) => (isPush && network.isBad ? "reset" : undefined),
  });
  onTestFinished(server.stop);
  const url = repositoryUrl(server.url);
  if (E.isLeft(url)) throw new Error(url.left);
  const directory = newDirectory();
  const circumstances: Circumstances = {
    authentication: { protocol: "https", credentials: { by: "token", token: "marked-4711" }, ca: server.ca },
    secret: "shop/cred",
    isFresh: false,
    mayPushFor: () => 20,
    signal: new AbortController().signal,
  };
  const start = async () => {
    const work = await takeWorkDirectory(directory, `${directory}/memory`);
    if (E.isLeft(work)) throw new Error(work.left);
    const one = branchIn(work.right, "a", { ...url.right, branch: branch("main") }, process.env, 1e9);
    return (texts: Readonly<Record<string, string>>, by: string) =>
      one(
        planOf(() => live(texts, by)),
        circumstances,
      );
  };
  const first = await start();
  expect(await first({ "prod/a.yaml": "1" }, "alice")).toMatchObject([
    { is: "current" },
    { is: "failed", trouble: { reason: "ConnectionFailed" } },
  ]);
  network.isBad = false;
  const second = await start();
  expect(await second({ "prod/a.yaml": "2" }, "bot")).toMatchObject([{ is: "pushed" }, { is: "pushed" }]);
  const clone = gitOf(`${directory}/a.git`);
  expect(clone(["count-objects"])).toMatch(/^0 objects/u);
  const asked = server.requests.length;
  expect(await second({ "prod/a.yaml": "3" }, "bob")).toMatchObject([{ is: "pushed" }]);
  // The list of refs that a push begins with, and the push.
  expect(server.requests.slice(asked).map(({ path }) => path)).toEqual([
    "/live.git/info/refs?service=git-receive-pack",
    "/live.git/git-receive-pack",
  ]);
  expect(gitOf(server.directory)(["log", "--format=%an", "main"])).toBe("bob\nbot\nalice");
});
