// Reads a commit of any repository: the one that a name means, its parents, its tree, and the texts of its files.
import type { Readable } from "node:stream";
import { textOfBytes, YamlError } from "@janus/types";
import * as E from "fp-ts/lib/Either.js";
import * as O from "fp-ts/lib/Option.js";
import type { GitFailure } from "../core/git/git-answer.ts";
import { type ObjectId, objectId } from "../core/git/object-id.ts";
import type { Tree } from "../core/tree.ts";
import { DEADLINES, treeOf } from "./bare-clone.ts";
import { eachBlob } from "./batch-output.ts";
import { type Git, printed } from "./git.ts";

type Answered<A> = Promise<E.Either<GitFailure, A>>;

/** The most bytes of a file that is read: no object has more. */
const MOST_BYTES = 4 * 1024 * 1024;

const lines = (names: readonly string[]): readonly Uint8Array[] => names.map((name) => Buffer.from(`${name}\n`));

const read = <A>(
  git: Git,
  args: readonly string[],
  take: (stdout: Readable) => Promise<A>,
  input: readonly Uint8Array[] = [],
): Answered<A> => git({ args, deadline: DEADLINES.local, read: take, input });

/** An object of the repository. */
interface Found {
  readonly id: ObjectId;
  readonly bytes: number;
}

/** Looks names up, each of one line. They reach git by its standard input: none of them can be an option. */
export const looked = async (git: Git, names: readonly string[]): Answered<readonly (Found | undefined)[]> =>
  E.map((output: string) =>
    output.split("\n").map((line) => {
      const [, name = "", bytes = ""] = /^([0-9a-f]+) [a-z]+ (\d+)$/u.exec(line) ?? [];
      const id = O.toUndefined(objectId(name));
      return id === undefined ? undefined : { id, bytes: Number(bytes) };
    }),
  )(await read(git, ["cat-file", "--batch-check"], printed, lines(names)));

/** Finds the commit that a name means: an id, a branch, a tag, `HEAD~2`; undefined if that is no commit, or several. */
export const commitNamed = async (git: Git, name: string): Answered<ObjectId | undefined> =>
  name === "" || /\p{Cc}/u.test(name)
    ? E.right(undefined)
    : E.map(([found]: readonly (Found | undefined)[]) => found?.id)(await looked(git, [`${name}^{commit}`]));

/** Maps ids to the contents of objects; objects that there are not are left out. */
const contentsOf = (git: Git, ids: readonly string[]): Answered<ReadonlyMap<string, Uint8Array>> =>
  read(
    git,
    ["cat-file", "--batch"],
    async (stdout) => {
      const contents = new Map<string, Uint8Array>();
      for await (const [id, content] of eachBlob(stdout)) contents.set(id, content);
      return contents;
    },
    lines(ids),
  );

/** Returns the parents of a commit: several for a merge, none for the first commit. */
export const parentsOf = async (git: Git, commit: ObjectId): Answered<readonly ObjectId[]> =>
  E.map((contents: ReadonlyMap<string, Uint8Array>) => {
    const [head = ""] = Buffer.from(contents.get(commit) ?? [])
      .toString("utf8")
      .split("\n\n");
    return [...head.matchAll(/^parent (\w+)$/gmu)].flatMap(([, id = ""]) => O.toUndefined(objectId(id)) ?? []);
  })(await contentsOf(git, [commit]));

/** Lists the files of a commit that are in this folder, are at this path, or lie on the way to it. */
export const treeAt = (git: Git, commit: ObjectId, path: string): Answered<Tree> =>
  read(git, ["ls-tree", "-r", "-z", "--full-tree", commit], treeOf([path]));

const textOf = (content: Uint8Array | undefined): E.Either<string, string> => {
  if (content === undefined) return E.left("the repository does not have its contents");
  try {
    return E.right(textOfBytes(content));
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return E.left(error.message);
  }
};

/** Maps ids to the texts of files. On the left: why there is none. */
export const textsOf = async (
  git: Git,
  ids: readonly string[],
): Answered<ReadonlyMap<string, E.Either<string, string>>> => {
  const all = [...new Set(ids)];
  const sizes = await looked(git, all);
  if (E.isLeft(sizes)) return sizes;
  const isTooLarge = (at: number): boolean => (sizes.right[at]?.bytes ?? 0) > MOST_BYTES;
  const contents = await contentsOf(
    git,
    all.filter((_, at) => !isTooLarge(at)),
  );
  return E.map(
    (known: ReadonlyMap<string, Uint8Array>) =>
      new Map(
        all.map((id, at) => [
          id,
          isTooLarge(at) ? E.left(`it is larger than ${MOST_BYTES / 1024 / 1024} MiB`) : textOf(known.get(id)),
        ]),
      ),
  )(contents);
};
