// Asks the server of a repository whether it can be used with these credentials, and which branches it has.
import * as E from "fp-ts/lib/Either.js";
import type { Failed } from "../core/configured.ts";
import type { Authentication } from "../core/credentials.ts";
import { refOf } from "../core/git/branch-name.ts";
import { type GitFailure, type Place, redirected, type Trouble, unexpected, verdict } from "../core/git/git-answer.ts";
import { askedBranches } from "../core/repository-check.ts";
import { scrubber } from "../core/scrub.ts";
import type { Repository } from "../core/located.ts";
import { DEADLINES, perform } from "./bare-clone.ts";
import { withAccess } from "./credentials.ts";
import { type Git, gitIn, printed } from "./git.ts";
import { gitEnvironment } from "./git-environment.ts";
import type { WorkDirectory } from "./work-directory.ts";

/** The deadline of git, in s. */
const DEADLINE = 30;

const locate = async (git: Git, directory: string, place: Place): Promise<string | undefined> => {
  const clone = { git, directory, place, deadlines: DEADLINES, largest: 0, mayPushFor: () => 0 };
  const answer = await perform(clone, { do: "locate" });
  return E.isRight(answer) && typeof answer.right === "string" ? answer.right : undefined;
};

const troubleOf = async (git: Git, directory: string, place: Place, failure: GitFailure): Promise<Trouble> => {
  const found = verdict(place, failure);
  if (found.is === "trouble") return found.trouble;
  return found.is === "redirected"
    ? redirected(place, found.status, await locate(git, directory, place))
    : unexpected(place, failure);
};

/** Returns those of the asked refs that the server has. Never rejects for what the server, or git, does. */
export const askServer = (
  { home, places }: Pick<WorkDirectory, "home" | "places">,
  repository: Repository,
  authentication: Authentication,
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<E.Either<Failed, ReadonlySet<string>>> =>
  withAccess(authentication, places, async (access) => {
    const { url, host, port } = repository.url;
    const [branch] = repository.branches;
    const place = { url, host, port, branch, secret: repository.secret, scrub: scrubber(authentication) };
    // There is no clone: an empty folder stands for it.
    const git = gitIn(gitEnvironment({ directory: home, home, url, access, env }), signal);
    const refs = askedBranches(repository).map(refOf);
    const answer = await git({ args: ["ls-remote", "origin", ...refs], deadline: DEADLINE, read: printed });
    if (E.isLeft(answer)) return E.left({ type: "failed", ...(await troubleOf(git, home, place, answer.left)) });
    const found = answer.right.split("\n").flatMap((line) => line.split("\t")[1] ?? []);
    return E.right(new Set(found));
  });
