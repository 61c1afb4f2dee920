// Opens the repository that the flags name: a clone on this machine, or a URL, which is fetched into a temporary one.
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import {
  ASKPASS,
  authenticationFor,
  branchName,
  commitNamed,
  DEADLINES,
  type Git,
  type GitFailure,
  gitEnvironment,
  gitIn,
  type Place,
  printed,
  refOf,
  repositoryUrl,
  scrubber,
  shown,
  verdict,
  withAccess,
} from "@janus/git-journal/way-back";
import * as E from "fp-ts/lib/Either.js";
import type { Cluster } from "../cluster/cluster.ts";
import { Failure } from "../failure.ts";
import { type Destination, readDestination, readRepository, type RemoteRepository } from "./destination.ts";

/** A repository that can be read. */
export interface Repository {
  readonly git: Git;
  /** Where it is, for messages. */
  readonly name: string;
  /** The folder in it from which paths of the user begin; empty: its root. */
  readonly folder: string;
  /** Names of the newest commit that the mirror has; the first that there is. */
  readonly tips: readonly string[];
  /** It has just been fetched, all of it. */
  readonly isFetched: boolean;
}

/** The answer of git. Errors: in its words. */
export const answered = <A>({ name }: Pick<Repository, "name">, answer: E.Either<GitFailure, A>): A => {
  if (E.isRight(answer)) return answer.right;
  const { ended, stderr } = answer.left;
  if (/exec: git: .*not found/u.test(stderr)) throw new Failure("git cannot be run: install it, or put it on the PATH");
  const said = shown({ scrub: scrubber(NOBODY) }, stderr.replaceAll(/^(?:fatal|error): /gmu, ""));
  const how = ended.by === "error" ? ended.message : ended.by === "deadline" ? "it takes too long" : "git failed";
  throw new Failure(`cannot read the repository ${name}: ${said === "" ? how : said}`);
};

const NOBODY = { protocol: "https", credentials: { by: "nothing" }, ca: undefined } as const;

/** No transport at all: a clone without some of its objects would get them from where its configuration says. */
const NO_PROTOCOL = { protocol: "none", config: [], env: { GIT_NO_LAZY_FETCH: "1" } } as const;

/** Removed in the end, also if the command is interrupted. */
const inTemporaryDirectory = async <A>(work: (directory: string) => Promise<A>): Promise<A> => {
  const directory = mkdtempSync(join(tmpdir(), "kubectl-janus-git-"));
  const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  const interrupt = (): void => {
    remove();
    process.exit(130);
  };
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    mkdirSync(join(directory, "home"));
    return await work(directory);
  } finally {
    process.removeListener("SIGINT", interrupt).removeListener("SIGTERM", interrupt);
    remove();
  }
};

/** Where git has its files; undefined: it is no repository. */
const gitDirectoryOf = (directory: string): string | undefined =>
  [join(directory, ".git"), directory].find(
    (one) => existsSync(one) && (statSync(one).isFile() || existsSync(join(one, "HEAD"))),
  );

/** The clone in which the user is, as git finds it. */
const around = (from: string): string | undefined => {
  for (let at = from; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
};

/** What was fetched last is newer than a branch of one's own. */
const tipsOf = (destination: Destination | undefined): readonly string[] =>
  destination === undefined
    ? ["@{upstream}", "HEAD"]
    : [`refs/remotes/origin/${destination.branch}`, `refs/heads/${destination.branch}`];

const withClone = <A>(
  directory: string,
  at: { readonly folder: string; readonly destination: Destination | undefined },
  work: (repository: Repository) => Promise<A>,
): Promise<A> =>
  inTemporaryDirectory((temporary) => {
    const own = gitDirectoryOf(directory);
    if (own === undefined || statSync(directory).isFile())
      throw new Failure(`${directory} is no repository: it is not bare, and has no .git`);
    const env = gitEnvironment({
      directory: resolve(own),
      home: join(temporary, "home"),
      url: "",
      access: NO_PROTOCOL,
      env: process.env,
    });
    return work({
      git: gitIn(env),
      name: directory,
      folder: at.folder,
      tips: tipsOf(at.destination),
      isFetched: false,
    });
  });

const TIP = "refs/janus/tip";

/** A server may name objects by another hash than git does by itself. */
const FORMATS = ["sha1", "sha256"] as const;

/** Fetches all branches and tags, since any commit may be named, and the tip, which becomes HEAD. */
const fetchInto = async (directory: string, git: Git, place: Place, tip: string): Promise<void> => {
  const run = (...args: readonly string[]) => git({ args, deadline: DEADLINES.fetch, read: printed });
  for (const format of FORMATS) {
    rmSync(directory, { recursive: true, force: true });
    const here = { name: place.url };
    answered(here, await run("init", "--quiet", "--bare", "--template=", `--object-format=${format}`));
    const fetch = ["fetch", "--quiet", "--no-write-fetch-head", "--no-recurse-submodules", "origin"];
    const fetched = await run(...fetch, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", `+${tip}:${TIP}`);
    if (E.isRight(fetched)) {
      const id = answered(here, await commitNamed(git, TIP));
      answered(here, await run("update-ref", "--no-deref", "HEAD", id ?? TIP));
      return;
    }
    const found = verdict(place, fetched.left);
    if (found.is === "other format" && format === "sha1") continue;
    if (found.is === "absent") throw new Failure(`${place.url} has no branch ${place.branch}`);
    if (found.is === "redirected")
      throw new Failure(`${place.url} is redirected (HTTP ${found.status}), which is not followed`);
    throw new Failure("trouble" in found ? found.trouble.message : `${place.url} cannot be fetched`);
  }
};

const withRemote = <A>(
  { url, authentication, secret }: RemoteRepository,
  destination: Destination | undefined,
  work: (repository: Repository) => Promise<A>,
): Promise<A> =>
  inTemporaryDirectory((temporary) => {
    // Without a destination it only stands in messages.
    const branch = branchName(destination?.branch ?? "main");
    if (E.isLeft(branch)) throw new Failure(`${destination?.name}: ${branch.left}`);
    const directory = join(temporary, "clone.git");
    const askpass = join(temporary, "askpass");
    writeFileSync(askpass, ASKPASS, { mode: 0o700 });
    return withAccess(authentication, { memory: temporary, askpass }, async (access) => {
      const home = join(temporary, "home");
      const git = gitIn(gitEnvironment({ directory, home, url: url.url, access, env: process.env }));
      const place = {
        ...url,
        branch: branch.right,
        secret,
        ...(destination === undefined ? { isOfFlag: true as const } : {}),
        scrub: scrubber(authentication),
      };
      await fetchInto(directory, git, place, destination === undefined ? "HEAD" : refOf(branch.right));
      return work({ git, name: url.url, folder: "", tips: [TIP], isFetched: true });
    });
  });

/** Of a URL without a GitDestination: with the name and password in it, if any. */
const remoteAt = (text: string): RemoteRepository => {
  const url = repositoryUrl(text);
  if (E.isLeft(url))
    throw new Failure(`--repo: there is no such directory, and it is no URL: it ${url.left.replace(/^repoUrl /u, "")}`);
  const authentication = authenticationFor(url.right, undefined);
  if (E.isRight(authentication)) return { url: url.right, authentication: authentication.right, secret: undefined };
  throw new Failure(
    `--repo ${url.right.url}: over ssh, only the key of a GitDestination is used: name that (--destination), or a clone (--repo DIRECTORY)`,
  );
};

/** Flags that name a repository. */
export interface RepositoryFlags {
  readonly repo?: string;
  readonly destination?: string;
}

/**
 * Opens the repository of `--repo`, of `--destination`, or in which the user is.
 *
 * Guarantees: nothing is checked out, no hook, filter or helper of it runs, and a clone of the user is only read.
 * Errors: if there is none, or it cannot be fetched.
 */
export const withRepository = async <A>(
  cluster: Cluster,
  { repo, destination: flag }: RepositoryFlags,
  work: (repository: Repository, destination: Destination | undefined) => Promise<A>,
): Promise<A> => {
  const destination = flag === undefined ? undefined : await readDestination(cluster, flag);
  const withIt = (repository: Repository): Promise<A> => work(repository, destination);
  if (repo !== undefined)
    return existsSync(repo)
      ? withClone(repo, { folder: "", destination }, withIt)
      : withRemote(remoteAt(repo), destination, withIt);
  if (destination !== undefined) return withRemote(await readRepository(cluster, destination), destination, withIt);
  const here = process.cwd();
  const clone = around(here);
  if (clone === undefined)
    throw new Failure("this directory is in no clone: name a repository (--repo), or a GitDestination (--destination)");
  return withClone(clone, { folder: relative(clone, here), destination }, withIt);
};
