import * as E from "fp-ts/lib/Either.js";
import { sparing } from "./budget.ts";
import type { Ask } from "./effect.ts";
import { deniedVerb, sentence } from "./fault.ts";
import type { Journal } from "./journal.ts";
import { checkpoint } from "./journaling.ts";
import { type Known, type Refusal, set } from "./known.ts";
import { type KubeObject, show } from "./object.ts";
import { dependsOnEarlier } from "./places.ts";
import type { Situation } from "./situation.ts";
import { type Item, readTarget } from "./targets.ts";
import { isServed } from "./unserved.ts";

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
  sparing(
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
    ),
  );

/** A Create was refused for want of the rights, or of the kind, that an earlier change has just brought: it was not made. */
const isPremature = ({ change, index, situation: { txn } }: Going, known: Known): boolean => {
  const attempt = known.attempts.get(index);
  const isUnmade = attempt?.at === "refused" && [403, 404].includes(attempt.code) && attempt.unanswered === undefined;
  return change.type === "Create" && isUnmade && dependsOnEarlier(txn, index);
};

/** Looks what became of the change. */
export const look = (going: Going): Ask => {
  const { situation, place } = going;
  const mayBeUnserved = !isServed(situation.known, place.resource) && isPremature(going, situation.known);
  return { ...readTarget(going, unreadable(going)), mayBeUnserved };
};

/** A target that cannot be read says nothing of what became of the change, unless that was not made for the same reason. */
const unreadable =
  (going: Going): Ask["learn"] =>
  (known, answer, now) => {
    const { index, place } = going;
    if (isPremature(going, known)) return { ...known, live: set(known.live, index, { object: undefined, at: now }) };
    const refused = (fate: Refusal["fate"], message: string): Known => ({
      ...known,
      refusals: set(known.refusals, index, { reason: "CommitFailed", message, fate }),
    });
    if (E.isRight(answer)) return known;
    const attempt = known.attempts.get(index);
    // The ServiceAccount has lost its permissions: it may write no more than it may read.
    const isDenied = deniedVerb(answer.left) !== undefined && attempt?.at === "refused" && attempt.code === 403;
    return isDenied && attempt.unanswered === undefined
      ? refused("unmade", refusalOf(going, attempt.message))
      : refused("undecided", `${show(place)} cannot be read: ${sentence(answer.left)}`);
  };

/** For people: the API server, or something in front of it, will not have the change. */
export const refusalOf = ({ change, place }: Item, message: string): string =>
  `the API server refused to ${change.type.toLowerCase()} ${show(place)}: ${message}`;
