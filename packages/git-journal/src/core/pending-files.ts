// Says of the files that a plan changes what they say now, and what they will say.
import type { Operation } from "../api/watch-rule.ts";
import type { PendingFile } from "./batch.ts";
import type { Compared, Plan } from "./plan.ts";

const DELETES: ReadonlySet<Operation> = new Set(["DELETE"]);

/** The pending files of a destination, without those that are held for a Transaction. */
export const pendingFiles = (
  { changes }: Plan,
  { index, tree, read }: Pick<Compared, "index" | "tree" | "read">,
  held: ReadonlySet<string>,
): readonly PendingFile[] =>
  changes
    .filter(({ path }) => !held.has(path))
    .map(({ path }): PendingFile => {
      const entry = tree.get(path);
      const live = index.get(path);
      return {
        path,
        // A file that is no object has a fingerprint that no version of an object has.
        tip: entry && { fingerprint: read.get(entry.id)?.fingerprint ?? entry.id, bytes: 0 },
        live: live && { fingerprint: live.fingerprint, bytes: live.bytes },
        operations: live?.operations ?? DELETES,
      };
    });
