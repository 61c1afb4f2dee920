// Reads the files of a commit, and the objects in them, with the data of Secrets decrypted by the user's key.
import {
  commitNamed,
  type FilesOfCommit,
  filesOfCommit,
  isObjectPath,
  isPathInNamespace,
  type ObjectFileVerdict,
  objectFile,
  type ObjectId,
  parentsOf,
  textsOf,
  type Tree,
  type TreeEntry,
  treeAt,
} from "@janus/git-journal/way-back";
import * as E from "fp-ts/lib/Either.js";
import { Failure } from "../failure.ts";
import { answered, type Repository } from "./repository.ts";
import { decryptedSecret } from "./secret-key.ts";

/** Errors: if the name means no commit, or several. */
export const commitOf = async (repository: Repository, name: string): Promise<ObjectId> => {
  const id = answered(repository, await commitNamed(repository.git, name));
  if (id !== undefined) return id;
  throw new Failure(
    `${name} is no commit of ${repository.name}, or not only one: ` +
      (repository.isFetched
        ? "name one of its branches or tags, or an id in their histories"
        : "git fetch may bring it there"),
  );
};

/** The newest commit of the mirror. */
export const tipOf = async (repository: Repository): Promise<ObjectId> => {
  for (const name of repository.tips) {
    const id = await commitNamed(repository.git, name);
    // Git fails where a branch follows no other.
    if (E.isRight(id) && id.right !== undefined) return id.right;
  }
  throw new Failure(`${repository.name} has no ${repository.tips.join(", and no ")}`);
};

/** The commit before; undefined: it is the first one. Errors: of a merge, and where the clone ends with it. */
export const parentOf = async (repository: Repository, commit: ObjectId): Promise<ObjectId | undefined> => {
  const [parent, ...more] = answered(repository, await parentsOf(repository.git, commit));
  if (more.length > 0)
    throw new Failure(`${commit} is a merge: revert the commits that it has merged, or go back with --from-git`);
  if (parent === undefined || answered(repository, await commitNamed(repository.git, parent)) !== undefined)
    return parent;
  throw new Failure(`${repository.name} does not have the commit before ${commit}: git fetch --unshallow`);
};

/** Selects files of a commit. */
export interface Scope {
  /** A folder or file; empty: all of the commit. */
  readonly path: string;
  /** Only those of this namespace. */
  readonly namespace?: string;
}

/** The entries below a path, or at it. Errors: if the way there is through a link or a submodule. */
export const treeBelow = async (
  repository: Repository,
  commit: ObjectId,
  { path, namespace }: Scope,
): Promise<Tree> => {
  const tree = answered(repository, await treeAt(repository.git, commit, path));
  const below = new Map([...tree].filter(([at]) => path === "" || at === path || at.startsWith(`${path}/`)));
  const [way] = [...tree].filter(([at]) => !below.has(at));
  if (way !== undefined && way[1].kind !== "file")
    throw new Failure(`${path}: ${way[0]} is a ${way[1].kind}, which is not followed`);
  return namespace === undefined
    ? below
    : new Map([...below].filter(([at]) => !isObjectPath(at) || isPathInNamespace(at, namespace)));
};

const decided = async (path: string, text: E.Either<string, string> | undefined): Promise<ObjectFileVerdict> => {
  if (text === undefined || E.isLeft(text)) return { is: "wrong", why: text?.left ?? "it cannot be read" };
  const verdict = objectFile(path, text.right);
  return verdict.is === "encrypted" ? decryptedSecret(text.right, verdict) : verdict;
};

/** The objects of these entries of a tree. Files that are not where objects are do not matter; links and submodules are named. */
export const objectsIn = async (
  repository: Repository,
  entries: Iterable<readonly [path: string, entry: TreeEntry]>,
): Promise<FilesOfCommit> => {
  const all = [...entries];
  const files = all.filter(([path, { kind }]) => kind === "file" && isObjectPath(path));
  const ids = files.map(([, { id }]) => id);
  const texts = answered(repository, await textsOf(repository.git, ids));
  const verdicts: (readonly [string, ObjectFileVerdict])[] = [];
  for (const [path, { id }] of files) verdicts.push([path, await decided(path, texts.get(id))]);
  const others = all
    .filter(([, { kind }]) => kind !== "file")
    .map(([path, { kind }]) => ({ path, why: `a ${kind}, which is not followed` }));
  const { objects, wrong, skipped } = filesOfCommit(verdicts);
  return {
    objects,
    wrong: [...wrong, ...others.filter(({ path }) => isObjectPath(path))],
    skipped: [...skipped, ...others.filter(({ path }) => !isObjectPath(path))],
  };
};
