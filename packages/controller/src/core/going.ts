import * as E from "fp-ts/lib/Either.js";
import type { Ask } from "./effect.ts";
import { sentence } from "./fault.ts";
import type { Journal } from "./journal.ts";
import { checkpoint } from "./journaling.ts";
import { set } from "./known.ts";
import { type KubeObject, show } from "./object.ts";
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

/** A target that cannot be read says nothing of what became of the change. */
export const unreadable =
  ({ index, place }: Item): Ask["learn"] =>
  (known, answer) => ({
    ...known,
    refusals: set(known.refusals, index, {
      reason: "CommitFailed",
      message: `${show(place)} cannot be read: ${E.isLeft(answer) ? sentence(answer.left) : ""}`,
      fate: "undecided",
    }),
  });
