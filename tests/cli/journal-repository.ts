// A clone of a repository in which the Git journal has written live objects, for tests of the way back.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { canonicalYaml } from "../../packages/git-journal/src/core/canonical.ts";
import { baseFolder, objectPath } from "../../packages/git-journal/src/core/path.ts";
import { sanitised } from "../../packages/git-journal/src/core/sanitise.ts";
import { administrator, type Ref, resourceOf } from "../fixtures/administrator.ts";
import { directory } from "./command-line.ts";
import { right } from "../unit/git-journal/right.ts";

export const FOLDER = right(baseFolder("clusters/prod"));

export interface JournalRepository {
  readonly directory: string;
  readonly git: (...args: readonly string[]) => string;
  /** Writes files, or removes those that are undefined, and commits. @returns the id of the commit */
  readonly commit: (files: Readonly<Record<string, string | undefined>>, message?: string) => string;
  /** Commits these objects as they are live, or that they are not there, as the journal does. */
  readonly record: (...refs: readonly Ref[]) => Promise<string>;
}

/** The path of the file of an object, and its text; undefined: there is no such object. */
export const fileOf = async (ref: Ref): Promise<readonly [path: string, text: string | undefined]> => {
  const { group, version, plural } = await resourceOf(ref);
  const { name, namespace } = ref.metadata;
  const identity = { group, version, resource: plural, name, ...(namespace === undefined ? {} : { namespace }) };
  const live = await administrator.read(ref);
  return [objectPath(FOLDER, identity), live === undefined ? undefined : canonicalYaml(sanitised(live))];
};

/** An empty repository with a work tree. */
export const journalRepository = (): JournalRepository => {
  const at = mkdtempSync(path.join(directory, "journal-"));
  const env = {
    PATH: process.env["PATH"],
    HOME: at,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "alice",
    GIT_AUTHOR_EMAIL: "alice@example.com",
    GIT_COMMITTER_NAME: "alice",
    GIT_COMMITTER_EMAIL: "alice@example.com",
  };
  const git = (...args: readonly string[]): string =>
    execFileSync("git", args, { cwd: at, encoding: "utf8", env, stdio: ["ignore", "pipe", "pipe"] }).trim();
  git("init", "--quiet", "--initial-branch=main");
  const commit: JournalRepository["commit"] = (files, message = "Update") => {
    for (const [file, text] of Object.entries(files)) {
      const there = path.join(at, file);
      mkdirSync(path.dirname(there), { recursive: true });
      if (text === undefined) rmSync(there, { force: true });
      else writeFileSync(there, text);
    }
    git("add", "--all");
    git("commit", "--quiet", "--allow-empty", `--message=${message}`);
    return git("rev-parse", "HEAD");
  };
  return {
    directory: at,
    git,
    commit,
    record: async (...refs) => commit(Object.fromEntries(await Promise.all(refs.map(fileOf)))),
  };
};

/** What the API server has of these objects, as their files say it. */
export const texts = async (refs: readonly Ref[]): Promise<readonly (string | undefined)[]> =>
  Promise.all(refs.map(async (ref) => (await fileOf(ref))[1]));
