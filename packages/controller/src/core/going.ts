import * as E from "fp-ts/lib/Either.js";
import type { Ask } from "./effect.ts";
import { sentence } from "./fault.ts";
import type { Journal } from "./journal.ts";
import { checkpoint } from "./journaling.ts";
import { set } from "./known.ts";
import { type KubeObject, show } from "./object.ts";
import { dependsOnEarlier } from "./places.ts";
import type { Situation } from "./situation.ts";
import type { Item } from "./targets.ts";

/** One change on its way in. */
export interface Going extends Item {
  readonly situation: Situation;
  readonly journal: Journal;
  readonly before: KubeObject | undefined;
}

/** The checkpoint of this change, and the intent of the next. */
export const next = (
  txn: Situation["txn"],
  journal: Journal,
  { index, change, place }: Item,
  created: string | undefined,
): Ask =>
  checkpoint(
    txn,
    journal,
    {
      position: { direction: "forward", cursor: index + 1 },
      ...(created === undefined ? {} : { created: [index, created] }),
    },
    {
      type: "Normal",
      reason: "ItemCommitted",
      item: index,
      message: `${index + 1}/${txn.spec.changes.length} ${change.type} ${show(place)}`,
    },
  );

/**
 * A target that cannot be read says nothing of what became of the change. But where an earlier change has just brought the
 * rights, and a Create was refused for want of them, it was not made.
 */
export const unreadable =
  ({ index, place, change, situation: { txn } }: Going): Ask["learn"] =>
  (known, answer, now) => {
    const attempt = known.attempts.get(index);
    const isUnmade = attempt?.at === "refused" && attempt.code === 403 && attempt.unanswered === undefined;
    if (change.type === "Create" && isUnmade && dependsOnEarlier(txn, index))
      return { ...known, live: set(known.live, index, { object: undefined, at: now }) };
    return {
      ...known,
      refusals: set(known.refusals, index, {
        reason: "CommitFailed",
        message: `${show(place)} cannot be read: ${E.isLeft(answer) ? sentence(answer.left) : ""}`,
        fate: "undecided",
      }),
    };
  };
