// Texts of files as blobs of a clone, before there is a commit of them: those of one large commit never fill the memory.
import * as E from "fp-ts/lib/Either.js";
import { blobImport } from "../core/git/fast-import.ts";
import type { ObjectId } from "../core/git/object-id.ts";
import { DEADLINES, ids } from "./bare-clone.ts";
import { gitIn } from "./git.ts";
import { gitEnvironment } from "./git-environment.ts";
import type { WorkDirectory } from "./work-directory.ts";

export interface StoredTexts {
  /** The blob of a text, by its fingerprint. */
  readonly blobOf: (fingerprint: string) => ObjectId | undefined;
  /** Writes texts to the clone; false: they are not there. Never rejects. */
  readonly store: (texts: ReadonlyMap<string, Uint8Array>, signal: AbortSignal) => Promise<boolean>;
  /** Once they are in a commit, or the clone may be another one. */
  readonly forget: () => void;
}

const NO_ACCESS = { protocol: "none", config: [], env: {} };

/** @param name of the clone, which is there: it has been compared. */
export const storedTexts = (
  work: Pick<WorkDirectory, "clone" | "home">,
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): StoredTexts => {
  const blobs = new Map<string, ObjectId>();
  return {
    blobOf: (fingerprint) => blobs.get(fingerprint),
    store: async (texts, signal) => {
      const directory = work.clone(name);
      const git = gitIn(gitEnvironment({ directory, home: work.home, url: "", access: NO_ACCESS, env }), signal);
      const made = await git({
        args: ["fast-import", "--quiet", "--done"],
        input: blobImport(texts.values()),
        deadline: DEADLINES.local,
        read: ids,
      });
      if (E.isLeft(made) || made.right.length !== texts.size) return false;
      for (const [n, fingerprint] of [...texts.keys()].entries()) {
        const id = made.right[n];
        if (id !== undefined) blobs.set(fingerprint, id);
      }
      return true;
    },
    forget: () => blobs.clear(),
  };
};
