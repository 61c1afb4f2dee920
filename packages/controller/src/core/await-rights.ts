import { type Ask, run, type Step } from "./effect.ts";
import type { Going } from "./going.ts";
import { set } from "./known.ts";
import { show } from "./object.ts";
import { waiting } from "./progress.ts";
import { grant, lacking, reviewsOf } from "./rights.ts";
import { LOOK_AGAIN } from "./situation.ts";
import { ENABLING_TIME } from "./targets.ts";

/** Asks again in the turn of the change, and remembers since when. */
const asking = (going: Going): readonly Ask[] =>
  reviewsOf(going).map((ask) => ({
    ...ask,
    learn: (known, answer, now, sent) => ({
      ...ask.learn(known, answer, now, sent),
      rightsAsked: set(known.rightsAsked, going.index, now),
      triedSince: known.rightsAsked.has(going.index) ? known.triedSince : set(known.triedSince, going.index, now),
    }),
  }));

/**
 * Waits for rights that the ServiceAccount did not have when everything was prepared, and that an earlier change may have
 * brought.
 *
 * @returns undefined once it has all that the change and its rollback need; until then its target must not be locked. A
 *          sentence where they have not come in time.
 */
export const awaitRights = (going: Going): Step | string | undefined => {
  const { situation, journal, index, place } = going;
  const { known, now, txn } = situation;
  const asked = known.rightsAsked.get(index);
  if (asked === undefined) return run(...asking(going));
  const verbs = lacking(going, known);
  if (verbs.length === 0) return undefined;
  const missing = `ServiceAccount ${txn.spec.serviceAccountName} may not change ${show(place)}, or not put it back: ${grant(going, verbs)}`;
  if (now >= (known.triedSince.get(index) ?? now) + ENABLING_TIME) return missing;
  return now < asked + LOOK_AGAIN
    ? waiting(situation, journal, asked + LOOK_AGAIN, `trying again: ${missing}`)
    : run(...asking(going));
};
