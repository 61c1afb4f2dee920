// Stores texts of files as blobs of a clone before there is a commit of them, so that one large commit never fills the memory.
import * as E from "fp-ts/lib/Either.js";
import { identity } from "fp-ts/lib/function.js";
import { blobImport } from "../core/git/fast-import.ts";
import { type Place, type Trouble, unexpected, verdict } from "../core/git/git-answer.ts";
import type { ObjectId } from "../core/git/object-id.ts";
import { DEADLINES, ids } from "./bare-clone.ts";
import { gitIn } from "./git.ts";
import { gitEnvironment } from "./git-environment.ts";
import type { WorkDirectory } from "./work-directory.ts";

export interface StoredTexts {
  /** The blob of a text, by its fingerprint. */
  readonly blobOf: (fingerprint: string) => ObjectId | undefined;
  /** Writes texts to the clone. Returns why they are not there, if they are not. Never rejects. */
  readonly store: (texts: ReadonlyMap<string, Uint8Array>, signal: AbortSignal) => Promise<Trouble | undefined>;
  /** Forgets all blobs: they are in a commit, or the clone may be another one. */
  readonly forget: () => void;
}

const NO_ACCESS = { protocol: "none", config: [], env: {} };

/** @param name the name of the clone, which is there: it has been compared */
export const storedTexts = (
  work: Pick<WorkDirectory, "clone" | "home">,
  name: string,
  where: Pick<Place, "url" | "host" | "port" | "branch">,
  env: Readonly<Record<string, string | undefined>>,
): StoredTexts => {
  const blobs = new Map<string, ObjectId>();
  const place: Place = { ...where, secret: undefined, scrub: identity };
  const directory = work.clone(name);
  return {
    blobOf: (fingerprint) => blobs.get(fingerprint),
    store: async (texts, signal) => {
      const git = gitIn(gitEnvironment({ directory, home: work.home, url: where.url, access: NO_ACCESS, env }), signal);
      const made = await git({
        args: ["fast-import", "--quiet", "--done"],
        input: blobImport(texts.values()),
        deadline: DEADLINES.local,
        read: ids,
      });
      if (E.isLeft(made)) {
        const found = verdict(place, made.left);
        return "trouble" in found ? found.trouble : unexpected(place, made.left);
      }
      for (const [n, fingerprint] of [...texts.keys()].entries()) {
        const id = made.right[n];
        if (id !== undefined) blobs.set(fingerprint, id);
      }
      return undefined;
    },
    forget: () => blobs.clear(),
  };
};
