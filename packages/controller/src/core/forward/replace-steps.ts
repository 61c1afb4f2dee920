// Splits a Replace into a Delete and a Create.
import type { ResolvedChange } from "@janus/api";
import type { KubeObject } from "@janus/types";
import { isMarked } from "../merge/marks.ts";
import { type Journal, replacementOf } from "../state/journal.ts";

/** Whether the object that a Replace deletes is known to be gone: the journal says so, or the replacement is there. */
const isGone = (
  journal: Journal,
  index: number,
  before: string | undefined,
  live: KubeObject | undefined,
  uid: string,
): boolean =>
  replacementOf(journal, index) !== undefined ||
  (live !== undefined && live.metadata.uid !== before && isMarked(live, uid));

/**
 * The write that a change comes to next. A Replace is a Delete, and, once that is recorded, a Create of the same target: each is
 * sent, resolved if it is in doubt, and stopped like any other. Any other change is one write.
 *
 * @param before the uid of its target before the change
 * @param live its target, if it was read
 * @param uid of the Transaction
 */
export const nextWrite = (
  change: ResolvedChange,
  journal: Journal,
  index: number,
  before: string | undefined,
  live: KubeObject | undefined,
  uid: string,
): ResolvedChange => {
  if (change.type !== "Replace") return change;
  return isGone(journal, index, before, live, uid)
    ? // As the whole of its object, which a later Apply may leave something out of.
      { ...change, type: "Create", isApply: true }
    : { type: "Delete", target: change.target };
};
