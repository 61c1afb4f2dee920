// Reads the markers of a commit, which say of what cluster and destination each folder is the mirror.
import * as E from "fp-ts/lib/Either.js";
import type { GitFailure } from "../core/git/git-answer.ts";
import type { ObjectId } from "../core/git/object-id.ts";
import { type Owner, readMarker } from "../core/ownership.ts";
import { type BaseFolder, markerPath } from "../core/path.ts";
import type { Git } from "./git.ts";
import { looked, textsOf } from "./read-commit.ts";

/** The folders in which a file is, the innermost first. */
const foldersOver = (path: string): readonly string[] =>
  path.split("/").map((_, at, segments) => segments.slice(0, segments.length - 1 - at).join("/"));

/**
 * Maps folders to their owners: for each of these files, the innermost folder that has a marker.
 *
 * Assumes: no path has a control character.
 */
export const ownersOf = async (
  git: Git,
  commit: ObjectId,
  paths: readonly string[],
): Promise<E.Either<GitFailure, ReadonlyMap<string, Owner>>> => {
  const folders = [...new Set(paths.flatMap(foldersOver))];
  const markers = await looked(
    git,
    folders.map((folder) => `${commit}:${markerPath(folder as BaseFolder)}`),
  );
  if (E.isLeft(markers)) return markers;
  const found = folders.flatMap((folder, at) => {
    const id = markers.right[at]?.id;
    return id === undefined ? [] : [[folder, id] as const];
  });
  return E.map((texts: ReadonlyMap<string, E.Either<string, string>>) => {
    const owners = new Map(
      found.flatMap(([folder, id]) => {
        const text = texts.get(id);
        const owner = text !== undefined && E.isRight(text) ? readMarker(text.right) : undefined;
        return owner === undefined ? [] : [[folder, owner] as const];
      }),
    );
    const innermost = paths.flatMap((path) => foldersOver(path).find((folder) => owners.has(folder)) ?? []);
    return new Map([...owners].filter(([folder]) => innermost.includes(folder)));
  })(
    await textsOf(
      git,
      found.map(([, id]) => id),
    ),
  );
};
