import { type ApiCall, run, type Step } from "../state/effect.ts";
import type { ChangeContext } from "./change-context.ts";
import { set } from "../state/observations.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import { waiting } from "../state/status-progress.ts";
import { grant, lackingPermissions, reviewsOf } from "../preflight/permissions.ts";
import { POLL_INTERVAL } from "../state/reconcile-context.ts";
import { ENABLING_TIME } from "../state/resolved-changes.ts";

/** Asks again in the turn of the change, and remembers since when. */
const asking = (going: ChangeContext): readonly ApiCall[] =>
  reviewsOf(going).map((ask) => ({
    ...ask,
    onAnswer: (known, answer, now, sent) => ({
      ...ask.onAnswer(known, answer, now, sent),
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
export const awaitPermissions = (going: ChangeContext): Step | string | undefined => {
  const { situation, journal, index, place } = going;
  const { known, now, txn } = situation;
  const asked = known.rightsAsked.get(index);
  if (asked === undefined) return run(...asking(going));
  const verbs = lackingPermissions(going, known);
  if (verbs.length === 0) return undefined;
  const missing = `ServiceAccount ${txn.spec.serviceAccountName} may not change ${formatRef(place)}, or not roll it back: ${grant(going, verbs)}`;
  if (now >= (known.triedSince.get(index) ?? now) + ENABLING_TIME) return missing;
  return now < asked + POLL_INTERVAL
    ? waiting(situation, journal, asked + POLL_INTERVAL, `trying again: ${missing}`)
    : run(...asking(going));
};
