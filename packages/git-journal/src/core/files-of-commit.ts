// Collects the objects that some files of a commit have, and names the files that are not used.
import type { KubeObject } from "@janus/types";
import { objectKey, objectName, type ObjectFileVerdict } from "./object-file.ts";

/** A file, and why it is not used. */
export interface Unused {
  readonly path: string;
  readonly why: string;
}

/** An object, and its file. */
export interface Filed {
  readonly path: string;
  readonly object: KubeObject;
  /** Whether the file has all of the object; false: it is a Secret without its data. */
  readonly isWhole: boolean;
}

export interface FilesOfCommit {
  /** Maps each {@link objectKey} to its object. */
  readonly objects: ReadonlyMap<string, Filed>;
  /** The files at paths of objects that have none, or one that another file has, too. */
  readonly wrong: readonly Unused[];
  readonly skipped: readonly Unused[];
}

const WITHOUT_DATA = "a Secret that is in Git without its data";
const ENCRYPTED = "a Secret whose data are encrypted: set SOPS_AGE_KEY_FILE to a file with a key of its recipients";

/**
 * The objects of these files, each once.
 *
 * Guarantees: of two files of one object none is preferred: the second is wrong, and says so.
 */
export const filesOfCommit = (files: readonly (readonly [path: string, ObjectFileVerdict])[]): FilesOfCommit => {
  const objects = new Map<string, Filed>();
  const wrong: Unused[] = [];
  const skipped: Unused[] = [];
  for (const [path, verdict] of files) {
    if (verdict.is === "other") continue;
    if (verdict.is === "wrong") {
      wrong.push({ path, why: verdict.why });
      continue;
    }
    const { object } = verdict;
    const key = objectKey(object);
    const other = objects.get(key);
    if (other !== undefined) {
      wrong.push({ path, why: `${objectName(object)} is in ${other.path}, too: name the folder of one of them` });
      continue;
    }
    objects.set(key, { path, object, isWhole: verdict.is === "object" });
    if (verdict.is !== "object") skipped.push({ path, why: verdict.is === "encrypted" ? ENCRYPTED : WITHOUT_DATA });
  }
  return { objects, wrong, skipped };
};
