// Repeats checks of the preflight before a change if an earlier change may have granted their permissions.
import { type ApiCall, run } from "../state/effect.ts";
import { forwardIn, type Observations, withPreflight } from "../state/observations.ts";
import { isLossUnknown, readOtherVersions } from "../state/other-versions.ts";
import { lostGrants, regranting } from "../preflight/regranting.ts";
import { versionProblems } from "../preflight/preflight.ts";
import { ENABLING_TIME } from "../state/resolved-changes.ts";
import { waiting } from "../state/status-progress.ts";
import { dependsOnEarlier } from "../state/target-resolution.ts";
import { formatRef } from "../kubernetes/kube-object.ts";
import type { ChangeContext } from "./change-context.ts";
import { failed, passed, pending, type TurnCheck } from "./turn-check.ts";
import { POLL_INTERVAL } from "../state/waits.ts";

/** The dry runs that the preflight asked for on a target, and for which it may have had no permission. */
const asked = ({ context: { txn }, before, ...item }: ChangeContext, known: Observations): readonly ApiCall[] =>
  before === undefined
    ? []
    : [...regranting(txn, known, item, before), ...readOtherVersions(txn, item, known, before)].map((request) => ({
        ...request,
        folds: [...request.folds, { type: "late-check-made" }],
      }));

/**
 * Checks of the preflight that are made again in the turn of a change, where an earlier one may have brought the permissions that
 * they take: whether the rollback could grant again what the change takes away, and what would be lost in the version that it
 * names.
 *
 * @returns failed if the change must not be applied: a rollback could not restore its target.
 */
export const awaitLateChecks = (changeContext: ChangeContext): TurnCheck => {
  const { context, journal, index, before, place } = changeContext;
  const { txn, known, now } = context;
  if (before === undefined || !dependsOnEarlier(txn, index)) return passed;
  const again = asked(changeContext, withPreflight(known, index, { regrant: undefined, otherVersions: undefined }));
  if (again.length === 0) return passed;
  const { lateCheck } = forwardIn(known, index);
  if (lateCheck === undefined) return pending(run(...again));
  const more = asked(changeContext, known);
  if (more.length > 0) return pending(run(...more));
  const [loss] = versionProblems(changeContext, known, before);
  if (loss !== undefined) return failed(loss);
  const [lost] = [
    ...lostGrants(txn, changeContext, known, before),
    ...(isLossUnknown(changeContext, known, before)
      ? [`ServiceAccount ${txn.spec.serviceAccountName} may not update ${formatRef(place)} in every version of it`]
      : []),
  ];
  // What an earlier change has granted takes a moment to be effective.
  if (lost === undefined) return passed;
  if (now >= lateCheck.since + ENABLING_TIME) return failed(lost);
  const until = lateCheck.at + POLL_INTERVAL;
  return pending(now < until ? waiting(context, journal, until, `trying again: ${lost}`) : run(...again));
};
